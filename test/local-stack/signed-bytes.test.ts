import { afterEach, expect, test } from '@jest/globals';
import type { LocalStack } from '../../local/local-stack.ts';
import { gatewayAssembly } from '../support/gateway-assembly.ts';
import { Partner } from '../support/partner.ts';
import { Queues } from '../support/queues.ts';
import { startTestStack } from '../support/test-stack.ts';

/** In milliseconds: the first to ask for a gateway of the other kind has its stack synthesised. */
const PATIENCE = 120_000;

/** Neither UTF-8 nor JSON; said to be JSON. */
const BYTES = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);

let stack: LocalStack;
afterEach(() => stack?.close());

test(
  'behind a REST API even JSON that is not UTF-8 is what was signed, and is kept byte for byte',
  async () => {
    stack = await startTestStack({ assembly: await gatewayAssembly('rest') });
    const { status, body } = await new Partner(stack.outputs.WebhookUrl).post(BYTES);
    const kept = await new Queues(stack.operator).take(
      stack.outputs.QuarantineQueueUrl,
      ({ MessageAttributes }) => MessageAttributes?.requestId?.StringValue === body.requestId,
    );
    expect({ status, kept: JSON.parse(kept.Body ?? '').bodyBase64 }).toEqual({
      status: 400,
      kept: BYTES.toString('base64'),
    });
  },
  PATIENCE,
);

test('behind an HTTP API, which makes text of it, it is not what was signed', async () => {
  stack = await startTestStack();
  expect((await new Partner(stack.outputs.WebhookUrl).post(BYTES)).status).toBe(401);
});
