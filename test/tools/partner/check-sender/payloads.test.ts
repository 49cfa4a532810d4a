import { describe, expect, test } from '@jest/globals';
import { readSamples, sampleBody } from '../../../../events/samples.ts';
import { NOW, SECRET, type Sent, said, sign, withHeader } from './senders.ts';

const TIMESTAMP = '2026-01-31T09:00:00Z';
const event = (fields: Readonly<Record<string, unknown>>) =>
  JSON.stringify({ event: 'shop.updated', data: { shop_id: 'shop-1' }, timestamp: TIMESTAMP, ...fields });

interface Expected {
  readonly status?: number;
  /** In a finding's text. */
  readonly says?: RegExp;
}

type Payload = readonly [mistake: string, body: string, kinds: readonly string[], expected?: Expected];

/** Signed correctly, and each wrong in one way: what the checker finds. */
const PAYLOADS: readonly Payload[] = [
  ['timestamp without zone', event({ timestamp: '2026-01-31T09:00:00' }), ['timestamp-without-zone']],
  ['timestamp with offset', event({ timestamp: '2026-01-31T10:00:00+01:00' }), ['timestamp-with-offset']],
  ['timestamp in Unix seconds', event({ timestamp: 1769850000 }), ['timestamp-number']],
  ['timestamp in Unix seconds, as text', event({ timestamp: '1769850000' }), ['timestamp-number']],
  ['timestamp as a date', event({ timestamp: '2026-01-31' }), ['timestamp-date-only']],
  ['timestamp with a blank', event({ timestamp: '2026-01-31 09:00:00' }), ['timestamp-blank']],
  ['timestamp without seconds', event({ timestamp: '2026-01-31T09:00Z' }), ['timestamp-without-seconds']],
  ['timestamp in small letters', event({ timestamp: '2026-01-31t09:00:00z' }), ['timestamp-small-letters']],
  ['timestamp of a leap second', event({ timestamp: '2016-12-31T23:59:60Z' }), ['timestamp-leap-second']],
  ['timestamp of 30 February', event({ timestamp: '2026-02-30T09:00:00Z' }), ['timestamp-no-moment']],
  ['timestamp of HTTP', event({ timestamp: 'Sat, 31 Jan 2026 09:00:00 GMT' }), ['timestamp-of-http']],
  ['timestamp null', event({ timestamp: null }), ['timestamp-missing']],
  ['timestamp of other words', event({ timestamp: 'yesterday' }), ['timestamp-other']],
  [
    'timestamp missing',
    event({ timestamp: undefined }),
    ['field-missing'],
    { says: /timestamp is missing\./ },
  ],
  [
    'created_at',
    event({ timestamp: undefined, created_at: TIMESTAMP }),
    ['field-misnamed'],
    { says: /created_at is there/ },
  ],
  [
    'timestamp in the future',
    event({ timestamp: '2026-01-31T10:00:00Z' }),
    ['timestamp-future'],
    { status: 200, says: /60 minutes/ },
  ],
  [
    'timestamp in the past',
    event({ timestamp: '2026-01-28T09:00:00Z' }),
    ['timestamp-past'],
    { status: 200, says: /3 days/ },
  ],
  ['event missing', event({ event: undefined }), ['field-missing']],
  ['type', event({ event: undefined, type: 'shop.updated' }), ['field-misnamed'], { says: /type is there/ }],
  ['Event', event({ event: undefined, Event: 'shop.updated' }), ['field-misnamed'], { says: /much like it/ }],
  ['event empty', event({ event: '' }), ['field-empty']],
  [
    'event a number',
    event({ event: 7 }),
    ['field-wrong'],
    { says: /event must be a non-empty string; it is a number/ },
  ],
  [
    'Shop.Updated',
    event({ event: 'Shop.Updated' }),
    ['event-misspelt'],
    { status: 200, says: /shop\.updated may be meant/ },
  ],
  [
    'shop_updated',
    event({ event: 'shop_updated' }),
    ['event-misspelt'],
    { status: 200, says: /shop\.updated/ },
  ],
  [
    'girl.schedule_change',
    event({ event: 'girl.schedule_change' }),
    ['event-misspelt'],
    { status: 200, says: /girl\.schedule_changed/ },
  ],
  ['an event that we do not know', event({ event: 'invoice.paid' }), ['event-unknown'], { status: 200 }],
  ...['shop.update', 'ShopUpdated', 'shop.udpated', 'shops.update'].map(
    (name): Payload => [
      name,
      event({ event: name }),
      ['event-misspelt'],
      { status: 200, says: /shop\.updated may be meant/ },
    ],
  ),
  // Kinds that the partner may well add before we do.
  ...['shop.created', 'girl.updated', 'girl.undeleted', 'review.edited', 'review.voted'].map(
    (name): Payload => [
      `${name}, which is another kind`,
      event({ event: name, data: { id: 1 } }),
      ['event-unknown'],
      { status: 200 },
    ],
  ),
  [
    'a kind misspelt, no zone and shopId',
    event({ event: 'Shop.Updated', data: { shopId: 'shop-1' }, timestamp: '2026-01-31T09:00:00' }),
    ['event-misspelt', 'timestamp-without-zone', 'field-misnamed'],
    { says: /data\.shop_id is missing/ },
  ],
  [
    'a kind misspelt, time and shopId',
    event({ event: 'shop.update', data: { shopId: 'shop-1' }, timestamp: undefined, time: TIMESTAMP }),
    ['event-misspelt', 'field-misnamed', 'field-misnamed'],
    { says: /time is there.*data\.shop_id is missing/ },
  ],
  [
    'type, and shopId',
    event({ event: undefined, type: 'shop.updated', data: { shopId: 'shop-1' } }),
    ['field-misnamed', 'field-misnamed'],
    { says: /type is there.*data\.shop_id is missing/ },
  ],
  ...Object.entries({
    updatedFields: { event: 'shop.updated', data: { shop_id: 'shop-1', updatedFields: ['name'] } },
    Name: { event: 'shop.updated', data: { shop_id: 'shop-1', Name: 'x' } },
    reviewId: { event: 'review.posted', data: { reviewId: 'x', rating: 5 } },
    stars: { event: 'review.posted', data: { review_id: 'x', stars: 5 } },
    cast_id: { event: 'girl.schedule_changed', data: { cast_id: 'x' } },
  }).map(([mistake, fields]): Payload => [mistake, event(fields), ['field-unread'], { status: 200 }]),
  ...Object.entries({ rating: null, comment: { text: 'x' }, girl_id: ['x'], shop_id: true }).map(
    ([field, value]): Payload => [
      `${field} of a type that is ignored`,
      event({ event: 'review.posted', data: { review_id: 'x', [field]: value } }),
      ['field-ignored'],
      {
        status: 200,
        says: new RegExp(`data\\.${field} is (?:null|an object|an array|true or false), which is not read`),
      },
    ],
  ),
  [
    'data of which nothing is read',
    event({ event: 'girl.schedule_changed', data: { day: 'x' } }),
    ['data-unused'],
    { status: 200 },
  ],
  ...Object.entries({
    'fields of its own': {
      event: 'shop.updated',
      data: { shop_id: 'x', game: 1, id: 2, rank: 3, address: null, owner: {} },
    },
    'an empty comment': { event: 'review.posted', data: { review_id: 'x', comment: '' } },
    'an alias beside the field': { event: 'review.posted', data: { review_id: 'x', rating: 5, stars: 5 } },
  }).map(
    ([mistake, fields]): Payload => [`none, with ${mistake}`, event(fields), [], { status: 200, says: /^$/ }],
  ),
  ['data missing', event({ data: undefined }), ['field-missing']],
  ['payload', event({ data: undefined, payload: {} }), ['field-misnamed'], { says: /payload is there/ }],
  ['data as JSON text', event({ data: '{"shop_id":"shop-1"}' }), ['data-as-text'], { says: /holds JSON/ }],
  ['data as an array', event({ data: [] }), ['field-wrong'], { says: /an array/ }],
  ['shop_id missing', event({ data: {} }), ['field-missing'], { says: /data\.shop_id/ }],
  [
    'shopId',
    event({ data: { shopId: 'shop-1' } }),
    ['field-misnamed'],
    { says: /data\.shop_id.*much like it/ },
  ],
  ['shop_id empty', event({ data: { shop_id: '' } }), ['field-empty']],
  ['shop_id a number', event({ data: { shop_id: 1 } }), ['field-wrong']],
  [
    'three mistakes',
    event({ data: {}, timestamp: 1, event: 'shop.updated' }),
    ['timestamp-number', 'field-missing'],
  ],
  ['several events in one', `[${event({})},${event({})}]`, ['json-array'], { says: /array of 2/ }],
  ['JSON in JSON', JSON.stringify(event({})), ['json-twice']],
  ['null', 'null', ['json-no-object']],
  ['empty', '', ['body-empty']],
  ['a form', 'event=shop.updated&timestamp=1', ['form-encoded']],
  ['XML', '<?xml version="1.0"?><event/>', ['body-xml']],
  ["Python's str", "{'event': 'shop.updated', 'data': {}}", ['body-python']],
  ['NaN', '{"event": "shop.updated", "data": {"x": NaN}}', ['body-nan']],
  ['bare keys', '{event: "shop.updated"}', ['body-bare-keys']],
  ['a comma too many', '{"event": "shop.updated",}', ['body-trailing-comma']],
  ['two objects', `${event({})}\n${event({})}`, ['body-several']],
  ['cut', event({}).slice(0, -8), ['body-cut']],
  ['[object Object]', '[object Object]', ['body-no-value']],
  ['UTF-16', event({}).replaceAll(/./g, '$&\0'), ['body-utf-16']],
  ['UTF-16, big endian', event({}).replaceAll(/./g, '\0$&'), ['body-utf-16']],
  ['a word', 'hello', ['body-not-json']],
  ['a key twice', event({}).replace('{', '{"event":"user.updated",'), ['key-twice'], { status: 200 }],
  [
    'a large number',
    event({}).replace('{', '{"sequence":12345678901234567890,'),
    ['number-too-large'],
    { status: 200 },
  ],
  ['a byte order mark', `\uFEFF${event({})}`, ['bom'], { status: 200 }],
];

describe('a payload that is signed rightly', () => {
  test.each(PAYLOADS)('%s', async (_, body, kinds, { status = 400, says = /./ } = {}) => {
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
const WAYS: readonly (readonly [way: string, sent: Sent, kinds: readonly string[], expected?: Expected])[] = [
  ['GET', { method: 'GET' }, ['method'], { status: 404, says: /redirect|GET/ }],
  ['PUT', { method: 'PUT' }, ['method'], { status: 404 }],
  [
    'a slash at the end',
    { path: '/api/v1/webhooks/partner/' },
    ['path'],
    { status: 404, says: /slash at its end/ },
  ],
  ['two slashes', { path: '//api/v1/webhooks/partner' }, ['path'], { status: 404, says: /two slashes/ }],
  ['capitals', { path: '/API/v1/webhooks/partner' }, ['path'], { status: 404, says: /capital/ }],
  ['no /api', { path: '/v1/webhooks/partner' }, ['path'], { status: 404, says: /beginning/ }],
  ['no path', { path: '/' }, ['path'], { status: 404, says: /missing/ }],
  ['a stage before it', { path: '/prod/api/v1/webhooks/partner' }, ['path'], { status: 404, says: /before/ }],
  ['nearly', { path: '/api/v1/webhook/partner' }, ['path'], { status: 404, says: /nearly/ }],
  ['elsewhere', { path: '/somewhere/else' }, ['path'], { status: 404, says: /another/ }],
  ['a query string', { query: 'a=1' }, ['query']],
  ['no content type', { headers: [host, signed] }, ['content-type-missing']],
  ['text/plain', { headers: typed('text/plain') }, ['content-type-other']],
  ['a form by its type', { headers: typed('application/x-www-form-urlencoded') }, ['content-type-form']],
  [
    'multipart by its type',
    { headers: typed('multipart/form-data; boundary=x') },
    ['content-type-multipart'],
  ],
  ['UTF-8 named', { headers: typed('application/json; charset=UTF-8') }, []],
  ['Latin-1 named', { headers: typed('application/json; charset=iso-8859-1') }, ['content-type-charset']],
  ['two types', { headers: [host, json, json, signed] }, ['content-type-twice']],
  ['HTTP/1.0', { httpVersion: '1.0' }, ['http-version']],
  ['no Host', { headers: [json, signed] }, ['host']],
  [
    'in chunks',
    { headers: withHeader('X-Webhook-Signature', signature, ['Transfer-Encoding', 'chunked']) },
    ['chunked'],
  ],
  [
    'Expect',
    { headers: withHeader('X-Webhook-Signature', signature, ['Expect', '100-continue']) },
    ['expect'],
  ],
  [
    'another Expect',
    { headers: withHeader('X-Webhook-Signature', signature, ['Expect', 'foo']) },
    ['expect-other'],
  ],
  [
    'Content-Encoding of nothing',
    { headers: withHeader('X-Webhook-Signature', signature, ['Content-Encoding', 'gzip']) },
    ['content-encoding'],
  ],
  [
    'large headers',
    { headers: withHeader('X-Webhook-Signature', signature, ['Cookie', 'c'.repeat(11_000)]) },
    ['head-too-large'],
  ],
  [
    'the secret in a header',
    { headers: withHeader('X-Webhook-Signature', signature, ['X-Api-Key', SECRET]) },
    ['secret-sent'],
  ],
  ['the secret in the query string', { query: `key=${SECRET}` }, ['secret-sent', 'query']],
];

describe('a right payload', () => {
  test.each(WAYS)('sent by %s', async (_, sent, kinds, { status = 200, says = /^/ } = {}) => {
    const diagnosis = await said({ body: BODY, ...sent });
    expect({ status: diagnosis.status, kinds: diagnosis.findings.map(({ kind }) => kind) }).toEqual({
      status,
      kinds,
    });
    expect(diagnosis.findings.map(({ what, remedy }) => `${what} ${remedy}`).join(' ')).toMatch(says);
  });
});
