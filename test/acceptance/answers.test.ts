import { createHash } from 'node:crypto';
import { DeleteSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DeleteQueueCommand, type Message } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from '../../local/local-stack.ts';
import { eventually } from '../support/eventually.ts';
import { Partner, signBody } from '../support/partner.ts';
import { Queues } from '../support/queues.ts';
import { Tables } from '../support/tables.ts';
import { startTestStack } from '../support/test-stack.ts';

let stack: LocalStack;
let partner: Partner;
let queues: Queues;
beforeAll(async () => {
  stack = await startTestStack();
  partner = new Partner(stack.outputs.WebhookUrl);
  queues = new Queues(stack.operator);
});
afterAll(() => stack.close());

const timestamp = '2026-01-31T09:00:00Z';
const shopUpdated = { event: 'shop.updated', data: { shop_id: 'shop-1' }, timestamp };
const sha256 = (body: string | Uint8Array) => createHash('sha256').update(body).digest('hex');
const hasEventId = (eventId: string) => (message: Message) =>
  message.MessageAttributes?.eventId?.StringValue === eventId;

describe('200', () => {
  test('with the event’s id, where a signed event is queued', async () => {
    const answer = await partner.post(shopUpdated);
    expect(answer).toEqual({
      status: 200,
      contentType: 'application/json',
      body: { status: 'queued', eventId: sha256(JSON.stringify(shopUpdated)), requestId: expect.any(String) },
    });
  });

  test.each([
    ['hex', (body: object) => signBody(body)],
    ['upper-case hex', (body: object) => signBody(body).toUpperCase()],
    ['prefixed hex', (body: object) => `sha256=${signBody(body)}`],
    ['base64', (body: object) => signBody(body, undefined, 'base64')],
  ])('for a signature in %s', async (_, sign) => {
    expect((await partner.post(shopUpdated, { signature: sign(shopUpdated) })).status).toBe(200);
  });

  test.each([
    'application/json; charset=utf-8',
    'text/plain',
    'application/octet-stream',
    'application/x-www-form-urlencoded',
  ])('whatever the Content-Type: %s', async (contentType) => {
    expect((await partner.post(shopUpdated, { headers: { 'content-type': contentType } })).status).toBe(200);
  });

  test.each([
    ['webhookId', { ...shopUpdated, webhookId: 'w-1' }],
    ['unknown fields', { ...shopUpdated, more: { than: ['was', 'agreed'] } }],
    ['a raw emoji', { ...shopUpdated, data: { shop_id: 'shop-😀' } }],
    [
      'characters that SQS forbids',
      `{"event":"shop.updated","data":{"shop_id":"a\ufffe\uffff"},"timestamp":"${timestamp}"}`,
    ],
    [
      '__proto__ as a key',
      `{"__proto__":{},"event":"shop.updated","data":{"shop_id":"p","__proto__":{}},"timestamp":"${timestamp}"}`,
    ],
    [
      'constructor as a key',
      `{"constructor":1,"event":"shop.updated","data":{"shop_id":"c","constructor":1},"timestamp":"${timestamp}"}`,
    ],
    ['a shop id of 10,000 characters', { ...shopUpdated, data: { shop_id: 'x'.repeat(10_000) } }],
    ['a shop id of control characters', { ...shopUpdated, data: { shop_id: '\u0000\u0007' } }],
  ])('for an event with %s', async (_, body) => {
    expect((await partner.post(body)).body).toMatchObject({ status: 'queued' });
  });

  test('and parked, where the event kind is unknown; the event is on the unrouted queue as it was sent', async () => {
    const body = JSON.stringify({
      event: 'example.unknown',
      data: { shop_id: 'shop-1', name: '日本\ud83d\ude00' },
      timestamp,
    });
    const answer = await partner.post(body);
    expect(answer).toMatchObject({ status: 200, body: { status: 'parked', eventId: sha256(body) } });
    const message = await queues.take(stack.outputs.UnroutedQueueUrl, hasEventId(sha256(body)));
    expect(message.Body).toBe(body);
    expect(message.MessageAttributes).toMatchObject({
      event: { StringValue: 'example.unknown' },
      receivedAt: { StringValue: expect.stringMatching(/^\d{4}-.*Z$/) },
      requestId: { StringValue: answer.body.requestId },
    });
  });
});

describe('401', () => {
  const right = signBody(shopUpdated);
  test.each([
    ['no signature', undefined],
    ['an empty one', ''],
    ['one of the wrong length', right.slice(2)],
    ['one that is neither hex nor base64', '!'.repeat(64)],
    ['two values', `${right}, ${right}`],
    ['one of the right length that is wrong', right.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))],
    ['one made with another secret', signBody(shopUpdated, 'another')],
    ['one of another body', signBody({ ...shopUpdated, event: 'user.updated' })],
  ])('for %s, without saying why', async (_, signature) => {
    const answer = await partner.post(shopUpdated, { signature });
    expect(answer).toEqual({
      status: 401,
      contentType: 'application/problem+json',
      body: {
        type: 'urn:partner-webhooks:problem:invalid-signature',
        title: 'Invalid signature',
        status: 401,
        detail: 'X-Webhook-Signature is not the HMAC-SHA256 of the request body under the shared secret.',
        requestId: expect.any(String),
      },
    });
  });

  test('has no effect, and nothing is kept', async () => {
    const marked = { ...shopUpdated, data: { shop_id: 'never' } };
    await partner.post(marked, { signature: signBody(marked, 'another') });
    await partner.post({ ...shopUpdated, data: { shop_id: 'then' } });
    const tables = new Tables(stack.operator);
    const shops = await eventually(async () => {
      const ids = (await tables.scan(stack.outputs.ShopCacheTable)).map(({ shop_id }) => shop_id);
      return ids.includes('then') ? ids : undefined;
    });
    expect(shops).not.toContain('never');
    expect(await queues.count(stack.outputs.QuarantineQueueUrl)).toBe(0);
  });
});

describe('400', () => {
  test.each<[string, string | Uint8Array, string[]]>([
    ['is empty', '', ['body']],
    ['is not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), ['body']],
    ['is not JSON', '{"event"', ['body']],
    ['is JSON but no object', '[1]', ['body']],
    ['has an event that is no string', JSON.stringify({ ...shopUpdated, event: 7 }), ['event']],
    ['has data that is no object', JSON.stringify({ ...shopUpdated, data: 'x' }), ['data']],
    ['lacks the timestamp', JSON.stringify({ event: 'shop.updated', data: { shop_id: 's' } }), ['timestamp']],
    [
      'has a timestamp in another zone',
      JSON.stringify({ ...shopUpdated, timestamp: '2026-01-31T09:00:00+09:00' }),
      ['timestamp'],
    ],
    ['lacks a required id', JSON.stringify({ ...shopUpdated, data: {} }), ['data.shop_id']],
  ])(
    'for a signed payload that %s, naming the fields; it is in quarantine byte for byte',
    async (_, body, fields) => {
      // Sent as bytes: API Gateway makes text of a JSON body, in which what is not UTF-8 would be lost.
      const answer = await partner.post(body, { headers: { 'content-type': 'application/octet-stream' } });
      expect(answer).toMatchObject({
        status: 400,
        contentType: 'application/problem+json',
        body: {
          status: 400,
          type: 'urn:partner-webhooks:problem:unusable-event',
          requestId: expect.any(String),
        },
      });
      expect((answer.body.errors as { field: string }[]).map(({ field }) => field)).toEqual(fields);

      const kept = await queues.take(stack.outputs.QuarantineQueueUrl, hasEventId(sha256(body)));
      const { problems, bodyBase64 } = JSON.parse(kept.Body ?? '');
      expect(Buffer.from(bodyBase64, 'base64')).toEqual(Buffer.from(body));
      expect(problems.map(({ field }: { field: string }) => field)).toEqual(fields);
      expect(kept.MessageAttributes?.reason?.StringValue).toContain(fields[0]);
    },
  );
});

describe('404 in API Gateway’s form', () => {
  test.each([
    ['GET', '/api/v1/webhooks/partner'],
    ['PUT', '/api/v1/webhooks/partner'],
    ['POST', '/api/v2/webhooks/partner'],
    ['POST', '/'],
  ])('for %s %s', async (method, path) => {
    const response = await fetch(new URL(path, stack.outputs.WebhookUrl), { method });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ message: 'Not Found' });
  });
});

describe('500', () => {
  const serverError = {
    status: 500,
    contentType: 'application/problem+json',
    body: {
      type: 'urn:partner-webhooks:problem:server-error',
      title: 'Server error',
      status: 500,
      detail: 'The event was not accepted. Send it again.',
      requestId: expect.any(String),
    },
  };

  test.each<[string, (broken: LocalStack) => Promise<unknown>, unknown]>([
    [
      'the secret cannot be read',
      (broken) =>
        new SecretsManagerClient(broken.operator).send(
          new DeleteSecretCommand({
            SecretId: broken.outputs.WebhookSecretArn,
            ForceDeleteWithoutRecovery: true,
          }),
        ),
      shopUpdated,
    ],
    [
      'the event’s queue does not take it',
      (broken) => deleteQueue(broken, 'ShopUpdatedQueueUrl'),
      shopUpdated,
    ],
    [
      'the unrouted queue does not take it',
      (broken) => deleteQueue(broken, 'UnroutedQueueUrl'),
      { ...shopUpdated, event: 'example.unknown' },
    ],
    ['an unusable event cannot be kept', (broken) => deleteQueue(broken, 'QuarantineQueueUrl'), 'unusable'],
  ])('where %s, and nothing of the error is shown', async (_, breakIt, body) => {
    const broken = await startTestStack({ onProblem: () => {} });
    try {
      await breakIt(broken);
      expect(await new Partner(broken.outputs.WebhookUrl).post(body)).toEqual(serverError);
    } finally {
      await broken.close();
    }
  });

  const deleteQueue = (broken: LocalStack, output: string) =>
    new Queues(broken.operator).client.send(new DeleteQueueCommand({ QueueUrl: broken.outputs[output] }));
});
