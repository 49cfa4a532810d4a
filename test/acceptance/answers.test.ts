import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventIdOf, signBody } from '../support/partner.ts';
import { Deployment } from './deployment.ts';
import { expectDescribedAnswer } from './descriptions.ts';
import { minutesAgo, ofThisRun } from './target.ts';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await Deployment.connect();
});
afterAll(() => deployment?.cleanUp());

const timestamp = minutesAgo(2);

/** Each test uses its own shop, so that it is clear which event has written an item. */
const shopUpdated = (name: string) => ({
  event: 'shop.updated',
  data: { shop_id: ofThisRun(name) },
  timestamp,
});
const unknownKind = (name: string) => ({
  event: 'acceptance.unknown',
  data: { shop_id: ofThisRun(name), name: '日本😀' },
  timestamp,
});
const megabytes = (count: number) => 'x'.repeat(count * 1_000_000);
const unrouted = () => deployment.outputs.UnroutedQueueUrl;
const quarantine = () => deployment.outputs.QuarantineQueueUrl;

describe('200', () => {
  test('with the event’s id, and a signed event is queued', async () => {
    const body = shopUpdated('queued');
    expect(await deployment.post(body)).toMatchObject({
      status: 200,
      contentType: 'application/json',
      body: { status: 'queued', eventId: eventIdOf(body), requestId: expect.any(String) },
    });
  });

  test.each([
    {
      what: 'signed in upper-case hex',
      sign: (body: unknown) => deployment.partner.sign(body).toUpperCase(),
    },
    { what: 'signed with a prefix', sign: (body: unknown) => `sha256=${deployment.partner.sign(body)}` },
    { what: 'signed in base64', sign: (body: unknown) => deployment.partner.sign(body, 'base64') },
    { what: 'text/plain', headers: { 'content-type': 'text/plain' } },
    { what: 'with unknown fields', more: { webhookId: 'w-1', more: {} } },
    { what: 'of a shop 😀\ufffe\uffff' },
    { what: 'with another form of time', more: { timestamp: '2026-01-31T09:00:00.5+00:00' } },
  ])('for an event $what', async ({ what, sign, headers, more }) => {
    const body = JSON.stringify({ ...shopUpdated(what), ...more });
    const answer = await deployment.post(body, {
      ...(sign && { signature: sign(body) }),
      ...(headers && { headers }),
    });
    expect(answer).toMatchObject({ status: 200, body: { status: 'queued' } });
  });

  test('and parked if the event kind is unknown; the unrouted queue holds the event as it was sent', async () => {
    const body = JSON.stringify(unknownKind('parked'));
    const answer = await deployment.post(body);
    expect(answer).toMatchObject({ status: 200, body: { status: 'parked', eventId: eventIdOf(body) } });
    const { Body, MessageAttributes } = await deployment.waitingMessage(unrouted(), answer);
    expect(Body).toBe(body);
    expect(MessageAttributes).toMatchObject({
      event: { StringValue: 'acceptance.unknown' },
      eventId: { StringValue: eventIdOf(body) },
      receivedAt: { StringValue: expect.stringMatching(/^\d{4}-.*Z$/) },
      requestId: { StringValue: answer.body.requestId },
    });
  });
});

describe('401', () => {
  const refused = shopUpdated('refused');
  const right = (body: object = refused) => deployment.partner.sign(body);
  test.each([
    { given: 'no signature', signature: () => undefined },
    { given: 'two values', signature: () => `${right()}, ${right()}` },
    { given: 'one made with another secret', signature: () => signBody(refused, 'another') },
    { given: 'one of another body', signature: () => right({ ...refused, event: 'user.updated' }) },
  ])('for $given, without saying why', async ({ signature }) => {
    expect(await deployment.post(refused, { signature: signature() })).toEqual({
      headers: expect.anything(),
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

  test('has no effect', async () => {
    const { ShopCacheTable } = deployment.outputs;
    const never = shopUpdated('never');
    await deployment.post(never, { signature: signBody(never, 'another') });
    // When this later delivery is processed, the earlier one has been processed, too.
    await deployment.post(shopUpdated('then'));
    await deployment.row(ShopCacheTable, { shop_id: ofThisRun('then') });
    expect(await deployment.tables.get(ShopCacheTable, { shop_id: ofThisRun('never') })).toBeUndefined();
  });
});

const usable = shopUpdated('unusable');
test.each([
  { what: 'is empty', body: '', fields: ['body'] },
  { what: 'is not UTF-8', body: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), fields: ['body'] },
  {
    what: 'has a timestamp in another zone',
    body: JSON.stringify({ ...usable, timestamp: '2026-01-31T09:00:00+09:00' }),
    fields: ['timestamp'],
  },
  { what: 'lacks a required id', body: JSON.stringify({ ...usable, data: {} }), fields: ['data.shop_id'] },
  { what: 'lacks everything', body: '{}', fields: ['event', 'data', 'timestamp'] },
])(
  '400 for a signed payload that $what, naming the fields; quarantine holds it byte for byte',
  async ({ body, fields }) => {
    // Sent as bytes: API Gateway converts a JSON body to text and would lose bytes that are not UTF-8.
    const answer = await deployment.post(body, { headers: { 'content-type': 'application/octet-stream' } });
    const { errors, ...problem } = answer.body;
    expect([answer.status, answer.contentType]).toEqual([400, 'application/problem+json']);
    expect(problem).toMatchObject({
      ...{ type: 'urn:partner-webhooks:problem:unusable-event', title: 'Unusable event', status: 400 },
      requestId: expect.any(String),
    });
    const fieldsOf = (problems: unknown) => (problems as { field: string }[]).map(({ field }) => field);
    expect(fieldsOf(errors)).toEqual(fields);

    const { Body, MessageAttributes } = await deployment.waitingMessage(quarantine(), answer);
    const { problems, bodyBase64 } = JSON.parse(Body ?? '');
    expect(Buffer.from(bodyBase64, 'base64')).toEqual(Buffer.from(body));
    expect(fieldsOf(problems)).toEqual(fields);
    expect(MessageAttributes?.eventId?.StringValue).toBe(eventIdOf(body));
    expect(MessageAttributes?.reason?.StringValue).toContain(fields[0]);
  },
);

test.each([
  ['GET', '/api/v1/webhooks/partner', [404]],
  ['POST', '/api/v2/webhooks/partner', [404]],
  // A REST API answers 403 outside its stage.
  ['POST', '/', [404, 403]],
])('%s %s is answered in API Gateway’s form: %j', async (method, path, statuses) => {
  const answer = await deployment.partner.request(method, path);
  expectDescribedAnswer(answer);
  const { status, body } = answer;
  expect(statuses).toContain(status);
  expect(body).toEqual({ message: status === 404 ? 'Not Found' : 'Forbidden' });
});

describe('a body above SQS’ limit of 1 MiB', () => {
  test('of 4 MB is processed like a small one', async () => {
    const data = { girl_id: ofThisRun('girl'), name: 'Hana', notes: megabytes(4) };
    const answer = await deployment.post({ event: 'girl.created', data, timestamp });
    expect(answer).toMatchObject({ status: 200, body: { status: 'queued' } });
    const row = await deployment.row(deployment.outputs.CastTable, { girl_id: data.girl_id });
    expect(row).toMatchObject({ status: 'active', name: 'Hana' });
  });

  test.each([
    {
      what: 'of an unknown kind is parked',
      body: () => JSON.stringify({ ...unknownKind('large'), notes: megabytes(1.2) }),
      status: 200,
      folder: 'unrouted',
      queue: unrouted,
    },
    {
      what: 'that is unusable is in quarantine',
      body: () => `${ofThisRun('unusable')} ${megabytes(1.2)}`,
      status: 400,
      folder: 'quarantine',
      queue: quarantine,
    },
  ])('$what with the address of its bytes', async ({ body, status, folder, queue }) => {
    const sent = body();
    const answer = await deployment.post(sent);
    expect(answer.status).toBe(status);
    const { Body, MessageAttributes } = await deployment.waitingMessage(queue(), answer);
    const { payloadKey } = JSON.parse(Body ?? '');
    expect(payloadKey).toBe(`${folder}/${eventIdOf(sent)}`);
    expect(MessageAttributes?.payloadKey?.StringValue).toBe(payloadKey);
    expect((await deployment.payload(payloadKey)) === sent).toBe(true);
  });
});
