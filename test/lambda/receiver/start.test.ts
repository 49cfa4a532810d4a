import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { httpApiEvent } from '../../../events/gateway-events.ts';
import { signatureOf } from '../../../events/signing.ts';
import { AHEAD_LIMIT } from '../../../lambda/receiver/ahead.ts';
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
beforeAll(async () => {
  aws = await startTestAws(faults);
  Object.assign(process.env, functionEnvironment('receiver', aws));
});
beforeEach(() => rotate(TEST_SECRET));
afterEach(() => faults.clear());
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

test('both versions of the secret are read before the first request', async () => {
  await rotate('next');
  const answer = await start();
  breakSecrets('down');
  expect([await answer('next'), await answer(TEST_SECRET), await answer('wrong')]).toEqual([200, 200, 401]);
});

test('both are read side by side', async () => {
  await rotate('next');
  breakSecrets('slow', 300);
  const began = performance.now();
  await start();
  expect(performance.now() - began).toBeGreaterThanOrEqual(300);
  expect(performance.now() - began).toBeLessThan(600);
});

test('while AWS is down the function starts, the first request is 500, and the next one tries again', async () => {
  breakSecrets('down');
  faults.inject({ service: 'sqs', kind: 'down', callers: 'everyone' });
  const answer = await start();
  expect(await answer()).toBe(500);
  faults.clear();
  expect(await answer()).toBe(200);
});

test('what is slow holds up the start for a second at most, and the first request reads by itself', async () => {
  const slow = AHEAD_LIMIT + 400;
  breakSecrets('slow', slow);
  const began = performance.now();
  const answer = await start();
  expect(performance.now() - began).toBeLessThan(slow);
  expect(await answer()).toBe(200);
});
