import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Deployment } from './deployment.ts';
import { eventIdOf, signWith } from './partner.ts';
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

describe('200', () => {
  test('with the event’s id, and a signed event is queued', async () => {
    const body = shopUpdated('queued');
    expect(await deployment.post(body)).toEqual({
      status: 200,
      contentType: 'application/json',
      body: { status: 'queued', eventId: eventIdOf(body), requestId: expect.any(String) },
    });
  });

  test.each([
    { form: 'in upper-case hex', sign: (body: object) => deployment.partner.sign(body).toUpperCase() },
    { form: 'prefixed', sign: (body: object) => `sha256=${deployment.partner.sign(body)}` },
    { form: 'in base64', sign: (body: object) => deployment.partner.sign(body, 'base64') },
  ])('for a signature $form', async ({ form, sign }) => {
    const body = shopUpdated(`signed-${form}`);
    expect((await deployment.post(body, { signature: sign(body) })).status).toBe(200);
  });

  test.each(['text/plain', 'application/octet-stream', 'application/x-www-form-urlencoded'])(
    'whatever the Content-Type: %s',
    async (contentType) => {
      const answer = await deployment.post(shopUpdated(contentType), {
        headers: { 'content-type': contentType },
      });
      expect(answer.status).toBe(200);
    },
  );

  test.each([
    { event: 'a webhookId and unknown fields', body: { ...shopUpdated('more'), webhookId: 'w-1', more: {} } },
    { event: 'a raw emoji', body: shopUpdated('😀') },
    {
      event: 'characters that SQS forbids',
      body: `{"event":"shop.updated","data":{"shop_id":"${ofThisRun('\ufffe\uffff')}"},"timestamp":"${timestamp}"}`,
    },
    {
      event: 'a timestamp with an offset of zero',
      body: { ...shopUpdated('zero'), timestamp: '2026-01-31T09:00:00.5+00:00' },
    },
  ])('for an event with $event', async ({ body }) => {
    expect((await deployment.post(body)).body).toMatchObject({ status: 'queued' });
  });

  test('and parked if the event kind is unknown; the unrouted queue holds the event as it was sent', async () => {
    const body = JSON.stringify(unknownKind('parked'));
    const answer = await deployment.post(body);
    expect(answer).toMatchObject({ status: 200, body: { status: 'parked', eventId: eventIdOf(body) } });
    const { Body, MessageAttributes } = await deployment.waitingMessage(
      deployment.outputs.UnroutedQueueUrl,
      answer,
    );
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
  const right = () => deployment.partner.sign(refused);
  test.each([
    { given: 'no signature', signature: () => undefined },
    { given: 'an empty one', signature: () => '' },
    { given: 'one that is neither hex nor base64', signature: () => '!'.repeat(64) },
    { given: 'two values', signature: () => `${right()}, ${right()}` },
    { given: 'one made with another secret', signature: () => signWith('another', refused) },
    {
      given: 'one of another body',
      signature: () => deployment.partner.sign({ ...refused, event: 'user.updated' }),
    },
  ])('for $given, without saying why', async ({ signature }) => {
    const answer = await deployment.post(refused, { signature: signature() });
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

  test('has no effect, and nothing is stored', async () => {
    const { ShopCacheTable, QuarantineQueueUrl, UnroutedQueueUrl } = deployment.outputs;
    const never = { ShopUpdated: shopUpdated('never'), Unknown: unknownKind('never'), Unusable: 'never' };
    const refusals = await Promise.all(
      Object.values(never).map((body) => deployment.post(body, { signature: signWith('another', body) })),
    );
    // When this later delivery is processed, the earlier ones have been processed, too.
    await deployment.post(shopUpdated('then'));
    await deployment.row(ShopCacheTable, { shop_id: ofThisRun('then') });
    await deployment.waitingMessage(UnroutedQueueUrl, await deployment.post(unknownKind('then')));
    await deployment.waitingMessage(QuarantineQueueUrl, await deployment.post(ofThisRun('then')));

    expect(await deployment.tables.get(ShopCacheTable, { shop_id: ofThisRun('never') })).toBeUndefined();
    for (const { body } of refusals) {
      for (const queueUrl of [QuarantineQueueUrl, UnroutedQueueUrl]) {
        expect(await deployment.messages.take(queueUrl, String(body.requestId))).toBeUndefined();
      }
    }
  });
});

describe('400', () => {
  const usable = shopUpdated('unusable');
  test.each([
    { what: 'is empty', body: '', fields: ['body'] },
    { what: 'is not UTF-8', body: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), fields: ['body'] },
    { what: 'is not JSON', body: '{"event"', fields: ['body'] },
    {
      what: 'has a timestamp in another zone',
      body: JSON.stringify({ ...usable, timestamp: '2026-01-31T09:00:00+09:00' }),
      fields: ['timestamp'],
    },
    { what: 'lacks a required id', body: JSON.stringify({ ...usable, data: {} }), fields: ['data.shop_id'] },
    { what: 'lacks everything', body: '{}', fields: ['event', 'data', 'timestamp'] },
  ])(
    'for a signed payload that $what, naming the fields; quarantine holds it byte for byte',
    async ({ body, fields }) => {
      // Sent as bytes: API Gateway converts a JSON body to text and would lose bytes that are not UTF-8.
      const answer = await deployment.post(body, { headers: { 'content-type': 'application/octet-stream' } });
      expect(answer).toMatchObject({
        status: 400,
        contentType: 'application/problem+json',
        body: {
          type: 'urn:partner-webhooks:problem:unusable-event',
          title: 'Unusable event',
          status: 400,
          requestId: expect.any(String),
        },
      });
      expect((answer.body.errors as { field: string }[]).map(({ field }) => field)).toEqual(fields);

      const waiting = await deployment.waitingMessage(deployment.outputs.QuarantineQueueUrl, answer);
      const { problems, bodyBase64 } = JSON.parse(waiting.Body ?? '');
      expect(Buffer.from(bodyBase64, 'base64')).toEqual(Buffer.from(body));
      expect(problems.map(({ field }: { field: string }) => field)).toEqual(fields);
      expect(waiting.MessageAttributes?.eventId?.StringValue).toBe(eventIdOf(body));
      expect(waiting.MessageAttributes?.reason?.StringValue).toContain(fields[0]);
    },
  );
});

describe('404 in API Gateway’s form', () => {
  test.each([
    { method: 'GET', path: '/api/v1/webhooks/partner' },
    { method: 'POST', path: '/api/v2/webhooks/partner' },
    { method: 'POST', path: '/api' },
  ])('for $method $path', async ({ method, path }) => {
    expect(await deployment.partner.request(method, path)).toMatchObject({
      status: 404,
      body: { message: 'Not Found' },
    });
  });

  test('for other paths, or 403 from a REST API outside its stage', async () => {
    const { status, body } = await deployment.partner.request('POST', '/');
    expect([
      { status: 404, body: { message: 'Not Found' } },
      { status: 403, body: { message: 'Forbidden' } },
    ]).toContainEqual({ status, body });
  });
});

const megabytes = (count: number) => 'x'.repeat(count * 1_000_000);

describe('a body above SQS’ limit of 1 MiB', () => {
  test.each([1.2, 4])('of %d MB is processed like a small one', async (size) => {
    const data = { girl_id: ofThisRun(`girl-${size}`), name: 'Hana', notes: megabytes(size) };
    const answer = await deployment.post({ event: 'girl.created', data, timestamp });
    expect(answer).toMatchObject({ status: 200, body: { status: 'queued' } });
    const row = await deployment.row(deployment.outputs.CastTable, { girl_id: data.girl_id });
    expect(row).toMatchObject({ status: 'active', name: 'Hana' });
  });

  test('of an unknown kind is parked with the address of its payload', async () => {
    const data = { shop_id: ofThisRun('shop'), notes: megabytes(1.2) };
    const body = JSON.stringify({ event: 'acceptance.unknown', data, timestamp });
    const answer = await deployment.post(body);
    expect(answer).toMatchObject({ status: 200, body: { status: 'parked', eventId: eventIdOf(body) } });
    const { Body, MessageAttributes } = await deployment.waitingMessage(
      deployment.outputs.UnroutedQueueUrl,
      answer,
    );
    const { payloadKey } = JSON.parse(Body ?? '');
    expect(payloadKey).toBe(`unrouted/${eventIdOf(body)}`);
    expect(MessageAttributes?.payloadKey?.StringValue).toBe(payloadKey);
    expect((await deployment.payload(payloadKey)) === body).toBe(true);
  });

  test('that is unusable is in quarantine with the address of its bytes', async () => {
    const body = `${ofThisRun('unusable')} ${megabytes(1.2)}`;
    const answer = await deployment.post(body);
    expect(answer.status).toBe(400);
    const { Body } = await deployment.waitingMessage(deployment.outputs.QuarantineQueueUrl, answer);
    const { payloadKey, problems } = JSON.parse(Body ?? '');
    expect({ payloadKey, problems }).toMatchObject({
      payloadKey: `quarantine/${eventIdOf(body)}`,
      problems: [{ field: 'body' }],
    });
    expect((await deployment.payload(payloadKey)) === body).toBe(true);
  });
});
