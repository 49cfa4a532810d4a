import { describe, expect, test } from '@jest/globals';
import { readSamples, sampleBody } from '../../../../events/samples.ts';
import { NOW, SECRET, type Sent, said, sign, withHeader } from './senders.ts';

const TIMESTAMP = '2026-01-31T09:00:00Z';
const event = (fields: Readonly<Record<string, unknown>>) =>
  JSON.stringify({ event: 'shop.updated', data: { shop_id: 'shop-1' }, timestamp: TIMESTAMP, ...fields });

/** Signed rightly, and each wrong in one way. */
const PAYLOADS: readonly {
  readonly mistake: string;
  readonly body: string;
  readonly kinds: readonly string[];
  readonly status?: number;
  readonly says?: RegExp;
}[] = [
  {
    mistake: 'timestamp without zone',
    body: event({ timestamp: '2026-01-31T09:00:00' }),
    kinds: ['timestamp-without-zone'],
  },
  {
    mistake: 'timestamp with offset',
    body: event({ timestamp: '2026-01-31T10:00:00+01:00' }),
    kinds: ['timestamp-with-offset'],
  },
  {
    mistake: 'timestamp in Unix seconds',
    body: event({ timestamp: 1769850000 }),
    kinds: ['timestamp-number'],
  },
  {
    mistake: 'timestamp in Unix seconds, as text',
    body: event({ timestamp: '1769850000' }),
    kinds: ['timestamp-number'],
  },
  {
    mistake: 'timestamp as a date',
    body: event({ timestamp: '2026-01-31' }),
    kinds: ['timestamp-date-only'],
  },
  {
    mistake: 'timestamp with a blank',
    body: event({ timestamp: '2026-01-31 09:00:00' }),
    kinds: ['timestamp-blank'],
  },
  {
    mistake: 'timestamp without seconds',
    body: event({ timestamp: '2026-01-31T09:00Z' }),
    kinds: ['timestamp-without-seconds'],
  },
  {
    mistake: 'timestamp in small letters',
    body: event({ timestamp: '2026-01-31t09:00:00z' }),
    kinds: ['timestamp-small-letters'],
  },
  {
    mistake: 'timestamp of a leap second',
    body: event({ timestamp: '2016-12-31T23:59:60Z' }),
    kinds: ['timestamp-leap-second'],
  },
  {
    mistake: 'timestamp of 30 February',
    body: event({ timestamp: '2026-02-30T09:00:00Z' }),
    kinds: ['timestamp-no-moment'],
  },
  {
    mistake: 'timestamp of HTTP',
    body: event({ timestamp: 'Sat, 31 Jan 2026 09:00:00 GMT' }),
    kinds: ['timestamp-of-http'],
  },
  { mistake: 'timestamp null', body: event({ timestamp: null }), kinds: ['timestamp-missing'] },
  {
    mistake: 'timestamp of other words',
    body: event({ timestamp: 'yesterday' }),
    kinds: ['timestamp-other'],
  },
  {
    mistake: 'timestamp missing',
    body: event({ timestamp: undefined }),
    kinds: ['field-missing'],
    says: /timestamp is missing\./,
  },
  {
    mistake: 'created_at',
    body: event({ timestamp: undefined, created_at: TIMESTAMP }),
    kinds: ['field-misnamed'],
    says: /created_at is there/,
  },
  {
    mistake: 'timestamp in the future',
    status: 200,
    body: event({ timestamp: '2026-01-31T10:00:00Z' }),
    kinds: ['timestamp-future'],
    says: /60 minutes/,
  },
  {
    mistake: 'timestamp in the past',
    status: 200,
    body: event({ timestamp: '2026-01-28T09:00:00Z' }),
    kinds: ['timestamp-past'],
    says: /3 days/,
  },
  { mistake: 'event missing', body: event({ event: undefined }), kinds: ['field-missing'] },
  {
    mistake: 'type',
    body: event({ event: undefined, type: 'shop.updated' }),
    kinds: ['field-misnamed'],
    says: /type is there/,
  },
  {
    mistake: 'Event',
    body: event({ event: undefined, Event: 'shop.updated' }),
    kinds: ['field-misnamed'],
    says: /much like it/,
  },
  { mistake: 'event empty', body: event({ event: '' }), kinds: ['field-empty'] },
  {
    mistake: 'event a number',
    body: event({ event: 7 }),
    kinds: ['field-wrong'],
    says: /event must be a non-empty string; it is a number/,
  },
  {
    mistake: 'Shop.Updated',
    status: 200,
    body: event({ event: 'Shop.Updated' }),
    kinds: ['event-misspelt'],
    says: /shop\.updated may be meant/,
  },
  {
    mistake: 'shop_updated',
    status: 200,
    body: event({ event: 'shop_updated' }),
    kinds: ['event-misspelt'],
    says: /shop\.updated/,
  },
  {
    mistake: 'girl.schedule_change',
    status: 200,
    body: event({ event: 'girl.schedule_change' }),
    kinds: ['event-misspelt'],
    says: /girl\.schedule_changed/,
  },
  {
    mistake: 'an event that we do not know',
    status: 200,
    body: event({ event: 'invoice.paid' }),
    kinds: ['event-unknown'],
  },
  ...['shop.update', 'ShopUpdated', 'shop.udpated', 'shops.update'].map((name) => ({
    mistake: name,
    status: 200,
    body: event({ event: name }),
    kinds: ['event-misspelt'],
    says: /shop\.updated may be meant/,
  })),
  // Kinds that the partner may well add before we do.
  ...['shop.created', 'girl.updated', 'girl.undeleted', 'review.edited', 'review.voted'].map((name) => ({
    mistake: `${name}, which is another kind`,
    status: 200,
    body: event({ event: name, data: { id: 1 } }),
    kinds: ['event-unknown'],
  })),
  {
    mistake: 'a kind misspelt, no zone and shopId',
    body: event({ event: 'Shop.Updated', data: { shopId: 'shop-1' }, timestamp: '2026-01-31T09:00:00' }),
    kinds: ['event-misspelt', 'timestamp-without-zone', 'field-misnamed'],
    says: /data\.shop_id is missing/,
  },
  {
    mistake: 'a kind misspelt, time and shopId',
    body: event({ event: 'shop.update', data: { shopId: 'shop-1' }, timestamp: undefined, time: TIMESTAMP }),
    kinds: ['event-misspelt', 'field-misnamed', 'field-misnamed'],
    says: /time is there.*data\.shop_id is missing/,
  },
  {
    mistake: 'type, and shopId',
    body: event({ event: undefined, type: 'shop.updated', data: { shopId: 'shop-1' } }),
    kinds: ['field-misnamed', 'field-misnamed'],
    says: /type is there.*data\.shop_id is missing/,
  },
  ...Object.entries({
    updatedFields: { event: 'shop.updated', data: { shop_id: 'shop-1', updatedFields: ['name'] } },
    Name: { event: 'shop.updated', data: { shop_id: 'shop-1', Name: 'x' } },
    reviewId: { event: 'review.posted', data: { reviewId: 'x', rating: 5 } },
    stars: { event: 'review.posted', data: { review_id: 'x', stars: 5 } },
    cast_id: { event: 'girl.schedule_changed', data: { cast_id: 'x' } },
  }).map(([mistake, fields]) => ({ mistake, status: 200, body: event(fields), kinds: ['field-unread'] })),
  ...Object.entries({ rating: null, comment: { text: 'x' }, girl_id: ['x'], shop_id: true }).map(
    ([field, value]) => ({
      mistake: `${field} of a type that is ignored`,
      status: 200,
      body: event({ event: 'review.posted', data: { review_id: 'x', [field]: value } }),
      kinds: ['field-ignored'],
      says: new RegExp(`data\\.${field} is (?:null|an object|an array|true or false), which is not read`),
    }),
  ),
  {
    mistake: 'data of which nothing is read',
    status: 200,
    body: event({ event: 'girl.schedule_changed', data: { day: 'x' } }),
    kinds: ['data-unused'],
  },
  ...Object.entries({
    'fields of its own': {
      event: 'shop.updated',
      data: { shop_id: 'x', game: 1, id: 2, rank: 3, address: null, owner: {} },
    },
    'an empty comment': { event: 'review.posted', data: { review_id: 'x', comment: '' } },
    'an alias beside the field': { event: 'review.posted', data: { review_id: 'x', rating: 5, stars: 5 } },
  }).map(([mistake, fields]) => ({
    mistake: `none, with ${mistake}`,
    status: 200,
    body: event(fields),
    kinds: [],
    says: /^$/,
  })),
  { mistake: 'data missing', body: event({ data: undefined }), kinds: ['field-missing'] },
  {
    mistake: 'payload',
    body: event({ data: undefined, payload: {} }),
    kinds: ['field-misnamed'],
    says: /payload is there/,
  },
  {
    mistake: 'data as JSON text',
    body: event({ data: '{"shop_id":"shop-1"}' }),
    kinds: ['data-as-text'],
    says: /holds JSON/,
  },
  { mistake: 'data as an array', body: event({ data: [] }), kinds: ['field-wrong'], says: /an array/ },
  { mistake: 'shop_id missing', body: event({ data: {} }), kinds: ['field-missing'], says: /data\.shop_id/ },
  {
    mistake: 'shopId',
    body: event({ data: { shopId: 'shop-1' } }),
    kinds: ['field-misnamed'],
    says: /data\.shop_id.*much like it/,
  },
  { mistake: 'shop_id empty', body: event({ data: { shop_id: '' } }), kinds: ['field-empty'] },
  { mistake: 'shop_id a number', body: event({ data: { shop_id: 1 } }), kinds: ['field-wrong'] },
  {
    mistake: 'three mistakes',
    body: event({ data: {}, timestamp: 1, event: 'shop.updated' }),
    kinds: ['timestamp-number', 'field-missing'],
  },
  {
    mistake: 'several events in one',
    body: `[${event({})},${event({})}]`,
    kinds: ['json-array'],
    says: /array of 2/,
  },
  { mistake: 'JSON in JSON', body: JSON.stringify(event({})), kinds: ['json-twice'] },
  { mistake: 'null', body: 'null', kinds: ['json-no-object'] },
  { mistake: 'empty', body: '', kinds: ['body-empty'] },
  { mistake: 'a form', body: 'event=shop.updated&timestamp=1', kinds: ['form-encoded'] },
  { mistake: 'XML', body: '<?xml version="1.0"?><event/>', kinds: ['body-xml'] },
  { mistake: "Python's str", body: "{'event': 'shop.updated', 'data': {}}", kinds: ['body-python'] },
  { mistake: 'NaN', body: '{"event": "shop.updated", "data": {"x": NaN}}', kinds: ['body-nan'] },
  { mistake: 'bare keys', body: '{event: "shop.updated"}', kinds: ['body-bare-keys'] },
  { mistake: 'a comma too many', body: '{"event": "shop.updated",}', kinds: ['body-trailing-comma'] },
  { mistake: 'two objects', body: `${event({})}\n${event({})}`, kinds: ['body-several'] },
  { mistake: 'cut', body: event({}).slice(0, -8), kinds: ['body-cut'] },
  { mistake: '[object Object]', body: '[object Object]', kinds: ['body-no-value'] },
  { mistake: 'UTF-16', body: event({}).replaceAll(/./g, '$&\0'), kinds: ['body-utf-16'] },
  { mistake: 'UTF-16, big endian', body: event({}).replaceAll(/./g, '\0$&'), kinds: ['body-utf-16'] },
  { mistake: 'a word', body: 'hello', kinds: ['body-not-json'] },
  {
    mistake: 'a key twice',
    status: 200,
    body: event({}).replace('{', '{"event":"user.updated",'),
    kinds: ['key-twice'],
  },
  {
    mistake: 'a large number',
    status: 200,
    body: event({}).replace('{', '{"sequence":12345678901234567890,'),
    kinds: ['number-too-large'],
  },
  { mistake: 'a byte order mark', status: 200, body: `\uFEFF${event({})}`, kinds: ['bom'] },
];

describe('a payload that is signed rightly', () => {
  test.each(PAYLOADS)('$mistake', async ({ body, kinds, status = 400, says = /./ }) => {
    const diagnosis = await said({ body });
    expect({ status: diagnosis.status, kinds: diagnosis.findings.map(({ kind }) => kind) }).toEqual({
      status,
      kinds,
    });
    expect(diagnosis.findings.map(({ what }) => what).join(' ')).toMatch(says);
  });

  test.each(readSamples().map((sample) => ({ event: sample.event, body: sampleBody(sample, NOW) })))(
    '$event is right as the sample has it',
    async ({ event, body }) => {
      expect(await said({ body })).toMatchObject({ status: 200, word: 'queued', event, findings: [] });
    },
  );

  test('is wrong where its kind is misspelt, and right where it is of a kind that we do not know', async () => {
    const grades = await Promise.all(
      ['Shop.Updated', 'invoice.paid'].map((name) => said({ body: event({ event: name }) })),
    );
    expect(grades.map(({ word, findings }) => [word, findings[0]?.grade])).toEqual([
      ['parked', 'wrong'],
      ['parked', 'risky'],
    ]);
  });

  test('is looked at for wrong fields alone where it is large', async () => {
    const body = event({ data: { name: 'x'.repeat(4.5 * 1024 * 1024) } });
    const { findings } = await said({ body });
    expect(findings.map(({ kind }) => kind)).toEqual(['field-wrong', 'body-near-limit']);
    expect(findings[0]?.what).toContain('data.shop_id');
  });

  test('is 413 where the event for Lambda would be too large, and that is all that is said', async () => {
    const { status, findings } = await said({
      body: event({ data: { name: 'x'.repeat(6.1 * 1024 * 1024) } }),
    });
    expect({ status, kinds: findings.map(({ kind }) => kind) }).toEqual({
      status: 413,
      kinds: ['body-too-large'],
    });
  });
});

const BODY = event({});
const signature = sign(BODY).toString('hex');
const host = ['Host', 'x'] as const;
const signed = ['X-Webhook-Signature', signature] as const;
const json = ['Content-Type', 'application/json'] as const;
const typed = (type: string) => [host, ['Content-Type', type], signed] as const;

/** Each is right but for the way that it is sent. */
const WAYS: readonly (Sent & {
  readonly way: string;
  readonly kinds: readonly string[];
  readonly status?: number;
  readonly says?: RegExp;
})[] = [
  { way: 'GET', method: 'GET', kinds: ['method'], status: 404, says: /redirect|GET/ },
  { way: 'PUT', method: 'PUT', kinds: ['method'], status: 404 },
  {
    way: 'a slash at the end',
    path: '/api/v1/webhooks/partner/',
    kinds: ['path'],
    status: 404,
    says: /slash at its end/,
  },
  {
    way: 'two slashes',
    path: '//api/v1/webhooks/partner',
    kinds: ['path'],
    status: 404,
    says: /two slashes/,
  },
  { way: 'capitals', path: '/API/v1/webhooks/partner', kinds: ['path'], status: 404, says: /capital/ },
  { way: 'no /api', path: '/v1/webhooks/partner', kinds: ['path'], status: 404, says: /beginning/ },
  { way: 'no path', path: '/', kinds: ['path'], status: 404, says: /missing/ },
  {
    way: 'a stage before it',
    path: '/prod/api/v1/webhooks/partner',
    kinds: ['path'],
    status: 404,
    says: /before/,
  },
  { way: 'nearly', path: '/api/v1/webhook/partner', kinds: ['path'], status: 404, says: /nearly/ },
  { way: 'elsewhere', path: '/somewhere/else', kinds: ['path'], status: 404, says: /another/ },
  { way: 'a query string', query: 'a=1', kinds: ['query'] },
  { way: 'no content type', headers: [host, signed], kinds: ['content-type-missing'] },
  { way: 'text/plain', headers: typed('text/plain'), kinds: ['content-type-other'] },
  {
    way: 'a form by its type',
    headers: typed('application/x-www-form-urlencoded'),
    kinds: ['content-type-form'],
  },
  {
    way: 'multipart by its type',
    headers: typed('multipart/form-data; boundary=x'),
    kinds: ['content-type-multipart'],
  },
  { way: 'UTF-8 named', headers: typed('application/json; charset=UTF-8'), kinds: [] },
  {
    way: 'Latin-1 named',
    headers: typed('application/json; charset=iso-8859-1'),
    kinds: ['content-type-charset'],
  },
  { way: 'two types', headers: [host, json, json, signed], kinds: ['content-type-twice'] },
  { way: 'HTTP/1.0', httpVersion: '1.0', kinds: ['http-version'] },
  { way: 'no Host', headers: [json, signed], kinds: ['host'] },
  {
    way: 'in chunks',
    headers: withHeader('X-Webhook-Signature', signature, ['Transfer-Encoding', 'chunked']),
    kinds: ['chunked'],
  },
  {
    way: 'Expect',
    headers: withHeader('X-Webhook-Signature', signature, ['Expect', '100-continue']),
    kinds: ['expect'],
  },
  {
    way: 'another Expect',
    headers: withHeader('X-Webhook-Signature', signature, ['Expect', 'foo']),
    kinds: ['expect-other'],
  },
  {
    way: 'Content-Encoding of nothing',
    headers: withHeader('X-Webhook-Signature', signature, ['Content-Encoding', 'gzip']),
    kinds: ['content-encoding'],
  },
  {
    way: 'large headers',
    headers: withHeader('X-Webhook-Signature', signature, ['Cookie', 'c'.repeat(11_000)]),
    kinds: ['head-too-large'],
  },
  {
    way: 'the secret in a header',
    headers: withHeader('X-Webhook-Signature', signature, ['X-Api-Key', SECRET]),
    kinds: ['secret-sent'],
  },
  { way: 'the secret in the query string', query: `key=${SECRET}`, kinds: ['secret-sent', 'query'] },
];

describe('a right payload', () => {
  test.each(WAYS)('sent by $way', async ({ way: _, kinds, status = 200, says = /^/, ...sent }) => {
    const diagnosis = await said({ body: BODY, ...sent });
    expect({ status: diagnosis.status, kinds: diagnosis.findings.map(({ kind }) => kind) }).toEqual({
      status,
      kinds,
    });
    expect(diagnosis.findings.map(({ what, remedy }) => `${what} ${remedy}`).join(' ')).toMatch(says);
  });
});
