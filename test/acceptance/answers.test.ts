import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Deployment } from './deployment.ts';
import { eventIdOf, signWith } from './partner.ts';
import { minutesAgo, ofThisRun } from './settings.ts';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await Deployment.connect();
});
afterAll(() => deployment?.cleanUp());

const timestamp = minutesAgo(2);

/** One shop for each: which row an event has written is then never in question. */
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
  test('with the event’s id, where a signed event is queued', async () => {
    const body = shopUpdated('queued');
    expect(await deployment.post(body)).toEqual({
      status: 200,
      contentType: 'application/json',
      body: { status: 'queued', eventId: eventIdOf(body), requestId: expect.any(String) },
    });
  });

  test.each([
    ['hex', (body: object) => deployment.partner.sign(body)],
    ['upper-case hex', (body: object) => deployment.partner.sign(body).toUpperCase()],
    ['prefixed hex', (body: object) => `sha256=${deployment.partner.sign(body)}`],
    ['base64', (body: object) => deployment.partner.sign(body, 'base64')],
    ['prefixed base64', (body: object) => `sha256=${deployment.partner.sign(body, 'base64')}`],
    ['base64url', (body: object) => toBase64url(deployment.partner.sign(body, 'base64'))],
  ])('for a signature in %s', async (encoding, sign) => {
    const body = shopUpdated(`signed-in-${encoding}`);
    expect((await deployment.post(body, { signature: sign(body) })).status).toBe(200);
  });

  test.each([
    'application/json; charset=utf-8',
    'text/plain',
    'application/octet-stream',
    'application/x-www-form-urlencoded',
  ])('whatever the Content-Type: %s', async (contentType) => {
    const answer = await deployment.post(shopUpdated(contentType), {
      headers: { 'content-type': contentType },
    });
    expect(answer.status).toBe(200);
  });

  test.each([
    ['webhookId', { ...shopUpdated('webhook-id'), webhookId: 'w-1' }],
    ['unknown fields', { ...shopUpdated('fields'), more: { than: ['was', 'agreed'] } }],
    ['a raw emoji', shopUpdated('😀')],
    [
      'characters that SQS forbids',
      `{"event":"shop.updated","data":{"shop_id":"${ofThisRun('\ufffe\uffff')}"},"timestamp":"${timestamp}"}`,
    ],
    [
      '__proto__ as a key',
      `{"__proto__":{},"event":"shop.updated","data":{"shop_id":"${ofThisRun('proto')}","__proto__":{}},"timestamp":"${timestamp}"}`,
    ],
    [
      'a timestamp with an offset of zero',
      { ...shopUpdated('zero'), timestamp: '2026-01-31T09:00:00.5+00:00' },
    ],
  ])('for an event with %s', async (_, body) => {
    expect((await deployment.post(body)).body).toMatchObject({ status: 'queued' });
  });

  test('and parked, where the event kind is unknown; the event is on the unrouted queue as it was sent', async () => {
    const body = JSON.stringify(unknownKind('parked'));
    const answer = await deployment.post(body);
    expect(answer).toMatchObject({ status: 200, body: { status: 'parked', eventId: eventIdOf(body) } });
    const { Body, MessageAttributes } = await deployment.kept(deployment.outputs.UnroutedQueueUrl, answer);
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
  test.each<[string, () => string | undefined]>([
    ['no signature', () => undefined],
    ['an empty one', () => ''],
    ['one of the wrong length', () => right().slice(2)],
    ['one that is neither hex nor base64', () => '!'.repeat(64)],
    ['two values', () => `${right()}, ${right()}`],
    [
      'one of the right length that is wrong',
      () => right().replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    ],
    ['one made with another secret', () => signWith('another', refused)],
    ['one of another body', () => deployment.partner.sign({ ...refused, event: 'user.updated' })],
  ])('for %s, without saying why', async (_, signature) => {
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

  test('has no effect, and nothing is kept', async () => {
    const { ShopCacheTable, QuarantineQueueUrl, UnroutedQueueUrl } = deployment.outputs;
    const never = { ShopUpdated: shopUpdated('never'), Unknown: unknownKind('never'), Unusable: 'never' };
    const refusals = await Promise.all(
      Object.values(never).map((body) => deployment.post(body, { signature: signWith('another', body) })),
    );
    // What is accepted after them has had its effect before they are looked for.
    await deployment.post(shopUpdated('then'));
    await deployment.row(ShopCacheTable, { shop_id: ofThisRun('then') });
    await deployment.kept(UnroutedQueueUrl, await deployment.post(unknownKind('then')));
    await deployment.kept(QuarantineQueueUrl, await deployment.post(ofThisRun('then')));

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
  test.each<[string, string | Uint8Array, string[]]>([
    ['is empty', '', ['body']],
    ['is not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), ['body']],
    ['is not JSON', '{"event"', ['body']],
    ['is JSON but no object', '[1]', ['body']],
    ['has an event that is no string', JSON.stringify({ ...usable, event: 7 }), ['event']],
    ['has data that is no object', JSON.stringify({ ...usable, data: 'x' }), ['data']],
    ['lacks the timestamp', JSON.stringify({ event: usable.event, data: usable.data }), ['timestamp']],
    [
      'has a timestamp in another zone',
      JSON.stringify({ ...usable, timestamp: '2026-01-31T09:00:00+09:00' }),
      ['timestamp'],
    ],
    ['lacks a required id', JSON.stringify({ ...usable, data: {} }), ['data.shop_id']],
    ['lacks everything', '{}', ['event', 'data', 'timestamp']],
  ])(
    'for a signed payload that %s, naming the fields; it is in quarantine byte for byte',
    async (_, body, fields) => {
      // Sent as bytes: API Gateway makes text of a JSON body, in which what is not UTF-8 would be lost.
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

      const kept = await deployment.kept(deployment.outputs.QuarantineQueueUrl, answer);
      const { problems, bodyBase64 } = JSON.parse(kept.Body ?? '');
      expect(Buffer.from(bodyBase64, 'base64')).toEqual(Buffer.from(body));
      expect(problems.map(({ field }: { field: string }) => field)).toEqual(fields);
      expect(kept.MessageAttributes?.eventId?.StringValue).toBe(eventIdOf(body));
      expect(kept.MessageAttributes?.reason?.StringValue).toContain(fields[0]);
    },
  );
});

describe('404 in API Gateway’s form', () => {
  test.each([
    ['GET', '/api/v1/webhooks/partner'],
    ['PUT', '/api/v1/webhooks/partner'],
    ['POST', '/api/v2/webhooks/partner'],
    ['POST', '/api'],
  ])('for %s %s', async (method, path) => {
    expect(await deployment.partner.request(method, path)).toMatchObject({
      status: 404,
      body: { message: 'Not Found' },
    });
  });

  test('for what has nothing of the path, or 403 from a REST API, whose stage is its first part', async () => {
    const { status, body } = await deployment.partner.request('POST', '/');
    expect([
      { status: 404, body: { message: 'Not Found' } },
      { status: 403, body: { message: 'Forbidden' } },
    ]).toContainEqual({ status, body });
  });
});

const toBase64url = (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
