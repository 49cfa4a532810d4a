import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LOCAL_SECRET } from '../../events/signing.ts';
import type { LocalStack } from '../../local/local-stack.ts';
import { Partner } from '../support/partner.ts';
import { Queues } from '../support/queues.ts';
import { bodyOf, signingVectors } from '../support/signing-vectors.ts';
import { gatewayAssembly, startTestStack } from '../support/test-stack.ts';

/** In milliseconds: the first to ask for a gateway of the other kind has its stack synthesised. */
const PATIENCE = 120_000;

/** Neither UTF-8 nor JSON; said to be JSON. */
const BYTES = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);

let stack: LocalStack;

describe('behind a REST API', () => {
  beforeAll(async () => {
    stack = await startTestStack({ assembly: await gatewayAssembly('rest') });
  }, PATIENCE);
  afterAll(() => stack?.close());

  test('even JSON that is not UTF-8 is what was signed, and is kept byte for byte', async () => {
    const { status, body } = await new Partner(stack.outputs.WebhookUrl).post(BYTES);
    const kept = await new Queues(stack.operator).take(
      stack.outputs.QuarantineQueueUrl,
      ({ MessageAttributes }) => MessageAttributes?.requestId?.StringValue === body.requestId,
    );
    expect({ status, kept: JSON.parse(kept.Body ?? '').bodyBase64 }).toEqual({
      status: 400,
      kept: BYTES.toString('base64'),
    });
  });
});

describe('behind an HTTP API', () => {
  /** Of one secret: a rotation in between would prove nothing more of the bytes. */
  const vectors = signingVectors.vectors.filter(({ secret }) => secret === LOCAL_SECRET);

  beforeAll(async () => {
    stack = await startTestStack({ secret: LOCAL_SECRET });
  });
  afterAll(() => stack?.close());

  test('JSON that is not UTF-8 is made text, and so is not what was signed', async () => {
    const notUtf8 = vectors.filter(({ utf8 }) => utf8 === false).map(bodyOf);
    expect(notUtf8.length).toBeGreaterThan(0);
    for (const body of [BYTES, ...notUtf8]) {
      const { status } = await new Partner(stack.outputs.WebhookUrl).post(body, { secret: LOCAL_SECRET });
      expect(status).toBe(401);
    }
  });

  test('the vectors are accepted in every spelling, and refused with every mistake', async () => {
    const partner = new Partner(stack.outputs.WebhookUrl);
    const verdicts = vectors.flatMap((vector) => {
      const body = bodyOf(vector);
      // An HTTP API hands over the bytes of what is not text.
      const headers = {
        'content-type': vector.utf8 === false ? 'application/octet-stream' : 'application/json',
      };
      return (['accepted', 'refused'] as const).flatMap((expected) =>
        Object.entries(vector[expected]).map(async ([kind, signature]) => {
          const { status } = await partner.post(body, { signature, headers });
          return { vector: vector.name, kind, status, expected };
        }),
      );
    });
    // What is signed is accepted as a delivery whether or not it is an event: with 400 it is kept, too.
    const statuses = { accepted: [200, 400], refused: [401] };
    const wrong = (await Promise.all(verdicts)).filter(
      ({ status, expected }) => !statuses[expected].includes(status),
    );
    expect(wrong).toEqual([]);
  });
});
