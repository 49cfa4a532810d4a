import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { httpApiEvent } from '../../../events/gateway-events.ts';
import { signatureOf } from '../../../events/signing.ts';
import { WARM_UP_LIMIT } from '../../../lambda/receiver/warm-up.ts';
import { Faults } from '../../../local/aws/faults.ts';
import { functionEnvironment } from '../../support/function-environment.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import { TEST_SECRET } from '../../support/test-stack.ts';

/** Of the signed bodies. */
const event = { event: 'shop.updated', data: { shop_id: 's' }, timestamp: '2026-01-31T09:00:00Z' };
const before = { ...process.env };
const faults = new Faults();

let aws: TestAws;
let starts = 0;
let printed: string[];
beforeAll(async () => {
  aws = await startTestAws(faults);
  Object.assign(process.env, functionEnvironment('receiver', aws), {
    AWS_LAMBDA_FUNCTION_VERSION: '1',
    POWERTOOLS_METRICS_DISABLED: 'false',
  });
});
beforeEach(async () => {
  await rotate(TEST_SECRET);
  printed = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
});
afterEach(() => {
  jest.restoreAllMocks();
  faults.clear();
});
afterAll(async () => {
  process.env = before;
  await aws.close();
});

const rotate = (SecretString: string) =>
  new SecretsManagerClient(aws.operator).send(
    new PutSecretValueCommand({ SecretId: aws.outputs.WebhookSecretArn, SecretString }),
  );

/** Starts the function anew. @returns what answers a delivery that is signed with a secret, by its status */
async function start(): Promise<(secret?: string) => Promise<number | undefined>> {
  starts += 1;
  const { handler } = (await import(`../../../lambda/receiver/handler.ts?start=${starts}`)) as {
    handler(event: unknown, context: Context): Promise<APIGatewayProxyStructuredResultV2>;
  };
  return async (secret = TEST_SECRET) => (await handler(delivery(secret), {} as Context)).statusCode;
}

function delivery(secret: string) {
  const body = JSON.stringify(event);
  return httpApiEvent(
    {
      method: 'POST',
      path: '/api/v1/webhooks/partner',
      headers: [['x-webhook-signature', signatureOf({ body: Buffer.from(body), secret })]],
      body,
      isBase64Encoded: false,
      sourceIp: '192.0.2.1',
      receivedAt: new Date(),
      requestId: 'request-1',
    },
    { accountId: '0', apiId: 'api', domainName: 'localhost' },
  );
}

const breakSecrets = (kind: 'down' | 'slow', milliseconds?: number) =>
  faults.inject({
    service: 'secretsmanager',
    kind,
    callers: 'everyone',
    ...(milliseconds !== undefined && { milliseconds }),
  });

// First: what writes the line is loaded once.
test('what is counted is written before the answer, as Lambda freezes a function that has answered', async () => {
  const answer = await start();
  expect(await answer('wrong')).toBe(401);
  expect(printed).toEqual([expect.stringContaining('"Rejected":1')]);
});

test('both versions of the secret are read before the first request', async () => {
  await rotate('next');
  const answer = await start();
  breakSecrets('down');
  expect([await answer('next'), await answer(TEST_SECRET), await answer('wrong')]).toEqual([200, 200, 401]);
});

test('both are read side by side: there is no time for one after the other', async () => {
  await rotate('next');
  const end = breakSecrets('slow', 0.55 * WARM_UP_LIMIT);
  const answer = await start();
  end();
  breakSecrets('down');
  expect(await answer(TEST_SECRET)).toBe(200);
});

test('while AWS is down the function starts, the first request is 500, and the next one tries again', async () => {
  breakSecrets('down');
  faults.inject({ service: 'sqs', kind: 'down', callers: 'everyone' });
  const answer = await start();
  expect(await answer()).toBe(500);
  faults.clear();
  expect(await answer()).toBe(200);
});

test('what hangs holds up the start for a second, and the first request reads by itself', async () => {
  const hanging = 5 * WARM_UP_LIMIT;
  breakSecrets('slow', hanging);
  const began = performance.now();
  const answer = await start();
  // Without a limit it would take both attempts of a call: 4 s.
  expect(performance.now() - began).toBeLessThan(3 * WARM_UP_LIMIT);
  faults.clear();
  expect(await answer()).toBe(200);
});
