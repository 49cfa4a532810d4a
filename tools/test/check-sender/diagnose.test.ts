import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { readSamples, sampleBody } from '../../../events/samples.ts';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import { bodyOf, signingVectors } from '../../../test/support/signing-vectors.ts';
import { type Diagnosis, diagnose } from '../../check-sender/diagnose.ts';
import { FIRST_WAIT_SECONDS } from '../../check-sender/finding.ts';
import { repeatFindings, repeatReport } from '../../check-sender/repeats.ts';
import type { AttemptEnding, SentAttempt, SentDelivery } from '../../check-sender/sent-deliveries.ts';
import { serviceAnswer } from '../../check-sender/service-answer.ts';
import type { SentRequest } from '../../check-sender/signed-messages.ts';

/**
 * A secret of hex digits that are also base64, with letters in both cases: each way to decode the secret gives another
 * key.
 */
const SECRET = 'A0b1C2d3E4f5A6b7';

const NOW = new Date('2026-01-31T09:00:00Z');

/**
 * A body whose parts can all be written differently: white space, slashes, characters beyond ASCII and
 * beyond Latin-1, special characters of HTML.
 */
const BODY = `{
 "timestamp": "2026-01-31T09:00:00Z",
 "event":"shop.updated",
 "data": {"shop_id": "shop/1", "name": "Café <A&B> 'ü' 😀 e\u0301 ﬁ", "rating": 1.0, "updated_fields":[ "name" ]}
}\n`;

const sign = (body: string | Uint8Array, secret: string | Uint8Array = SECRET, hash = 'sha256') =>
  createHmac(hash, secret).update(body).digest();

interface Sent {
  readonly body?: string | Uint8Array;
  readonly signature?: string | Uint8Array;
  /** Headers to send instead of the usual ones, which include the signature. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly httpVersion?: string;
  readonly secret?: string;
}

async function diagnosisOf(sent: Sent): Promise<Diagnosis> {
  const { body = BODY, signature = sign(body), secret = SECRET } = sent;
  const value = typeof signature === 'string' ? signature : Buffer.from(signature).toString('hex');
  const request: SentRequest = {
    method: sent.method ?? 'POST',
    path: sent.path ?? WEBHOOK_PATH,
    query: sent.query ?? '',
    httpVersion: sent.httpVersion ?? '1.1',
    headers: sent.headers ?? [
      ['Host', 'localhost:8080'],
      ['Content-Type', 'application/json'],
      ['X-Webhook-Signature', value],
    ],
    sourceIp: '127.0.0.1',
    port: 8080,
    receivedAt: NOW,
    body: Buffer.from(body),
  };
  return diagnose(request, await serviceAnswer(request, secret), secret);
}

/** The usual headers, but with another header instead of the signature. */
const withHeader = (name: string, value: string, ...more: [string, string][]): [string, string][] => [
  ['Host', 'localhost:8080'],
  ['Content-Type', 'application/json'],
  [name, value],
  ...more,
];

/** A test case: expected kinds of findings, the request, words in the findings, and the expected status. */
type Case = readonly [kinds: string, sent: Sent, says?: RegExp, status?: number];

async function expectFindings(kinds: string, sent: Sent, says: RegExp, status: number) {
  const { status: answered, findings } = await diagnosisOf(sent);
  const found = findings.map(({ kind }) => kind).join(' ');
  expect({ status: answered, kinds: found }).toEqual({ status, kinds });
  expect(findings.map(({ what, remedy }) => `${what} ${remedy}`).join(' ')).toMatch(says);
}

const value = JSON.parse(BODY) as Record<string, unknown>;
const compact = JSON.stringify(value);
const indented = (indent: number) =>
  JSON.stringify(value, null, indent).replace('"rating": 1,', '"rating": 1.0,');
const ascii = (text: string) =>
  text.replaceAll(/[\u0080-\uFFFF]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
const hex = sign(BODY).toString('hex');
const base64 = sign(BODY).toString('base64');
const swapped16 = (text: string) => Buffer.from(text, 'utf16le').swap16();
const unsigned = withHeader('X-Request-Id', '1');
const zipped = ['Content-Encoding', 'gzip'] as [string, string];

/** The parsed BODY as these libraries write it. */
const PYTHON =
  '{"timestamp": "2026-01-31T09:00:00Z", "event": "shop.updated", "data": {"shop_id": "shop/1", "name": "Caf\\u00e9 <A&B> \'\\u00fc\' \\ud83d\\ude00 e\\u0301 \\ufb01", "rating": 1.0, "updated_fields": ["name"]}}';
const PYTHON_TEXT =
  "{'timestamp': '2026-01-31T09:00:00Z', 'event': 'shop.updated', 'data': {'shop_id': 'shop/1', 'name': \"Café <A&B> 'ü' 😀 e\u0301 ﬁ\", 'rating': 1.0, 'updated_fields': ['name']}}";
const PYTHON_SORTED =
  '{"data": {"name": "Caf\\u00e9 <A&B> \'\\u00fc\' \\ud83d\\ude00 e\\u0301 \\ufb01", "rating": 1.0, "shop_id": "shop/1", "updated_fields": ["name"]}, "event": "shop.updated", "timestamp": "2026-01-31T09:00:00Z"}';
const PHP =
  '{"timestamp":"2026-01-31T09:00:00Z","event":"shop.updated","data":{"shop_id":"shop\\/1","name":"Caf\\u00e9 <A&B> \'\\u00fc\' \\ud83d\\ude00 e\\u0301 \\ufb01","rating":1.0,"updated_fields":["name"]}}';
const GO =
  '{"data":{"name":"Café \\u003cA\\u0026B\\u003e \'ü\' 😀 e\u0301 ﬁ","rating":1.0,"shop_id":"shop/1","updated_fields":["name"]},"event":"shop.updated","timestamp":"2026-01-31T09:00:00Z"}';

/** BODY as people and formatters write it in a file. */
const FILE = `{
  "timestamp": "2026-01-31T09:00:00Z",
  "event": "shop.updated",
  "data": { "shop_id": "shop/1", "name": "Café <A&B> 'ü' 😀 e\u0301 ﬁ", "rating": 1.0, "updated_fields": ["name"] }
}\n`;
const PADDED = FILE.replaceAll('\n', '').replaceAll(/ {2}/g, ' ').replace('1.0', '1').replace(/\}$/, ' }');
const HTML = BODY.replaceAll('&', '&amp;')
  .replaceAll('<', '&lt;')
  .replaceAll('>', '&gt;')
  .replaceAll('"', '&quot;')
  .replaceAll("'", '&#039;');

/** Requests with a wrong signature, each with exactly one mistake. The test vectors cover more. */
const WRONG_SIGNATURES: readonly Case[] = [
  ['json-reserialised', { signature: sign(compact) }, /JSON\.stringify/],
  ['json-reserialised', { signature: sign(PYTHON) }, /json\.dumps/],
  ['json-reserialised', { signature: sign(PYTHON_SORTED) }, /dumps.*sorted/],
  ['json-reserialised', { signature: sign(PHP) }, /PHP's json_encode/],
  ['json-reserialised', { signature: sign(GO) }, /Go's json\.Marshal/],
  ['json-reserialised', { signature: sign(indented(2)) }, /two spaces/],
  [
    'json-reserialised',
    { signature: sign(ascii(compact).replace('"rating":1,', '"rating":1.0,')) },
    /separators/,
  ],
  ['signed-python', { signature: sign(PYTHON_TEXT) }, /str\(…\)/],
  ['newline-not-signed', { signature: sign(BODY.trimEnd()) }],
  ['trimmed', { body: ` ${BODY} `, signature: sign(BODY.trim()) }],
  ['line-breaks', { body: BODY.replaceAll('\n', '\r\n'), signature: hex }],
  ['signature-other', { body: BODY.replaceAll('\n', ''), signature: hex }],
  ...['\n', '\r\n'].map((lineBreak): Case => {
    const file = FILE.replaceAll('\n', lineBreak);
    return ['line-breaks', { body: FILE.replaceAll('\n', ''), signature: sign(file) }, /curl -d @file/];
  }),
  ['reformatted', { body: FILE, signature: sign(FILE.replaceAll('  ', '\t')) }],
  ['json-reserialised', { body: compact, signature: sign(PADDED) }, /spaces inside braces/],
  ['json-reserialised', { body: indented(2), signature: sign(FILE) }, /inner values on one line/],
  ['html-escaped', { signature: sign(HTML) }, /with HTML entities, but it was sent without/],
  ['html-escaped', { body: HTML, signature: hex }, /without HTML entities, but it was sent with/],
  ...['body.json', '@/tmp/event.json\n', './shop-updated.json'].map(
    (path): Case => ['signed-path', { signature: sign(path) }],
  ),
  ['byte-order-mark', { signature: sign(`\uFEFF${BODY}`) }],
  ['latin-1', { signature: sign(Buffer.from(Buffer.from(BODY).toString('latin1'))) }],
  ['ascii', { signature: sign(BODY.replaceAll(/[^\0-\x7f]/g, '?')) }],
  ['utf-16', { signature: sign(Buffer.from(BODY, 'utf16le')) }],
  ['utf-16', { signature: sign(swapped16(BODY)) }],
  ['signed-nothing', { signature: sign('') }],
  ['signed-data-only', { signature: sign(JSON.stringify(value.data)) }],
  [
    'signed-data-only',
    { signature: sign(BODY.slice(BODY.indexOf('"data": ') + 8, BODY.lastIndexOf('}')).trimEnd()) },
  ],
  ['signed-with-timestamp', { signature: sign(`2026-01-31T09:00:00Z.${BODY}`) }],
  [
    'signed-with-timestamp',
    {
      headers: withHeader('X-Webhook-Signature', sign(`1769850000.${BODY}`).toString('hex'), [
        'X-Timestamp',
        '1769850000',
      ]),
    },
  ],
  [
    'signed-with-timestamp signature-v1',
    { signature: `t=1769850000,v1=${sign(`1769850000.${BODY}`).toString('hex')}` },
  ],
  ['signed-with-address', { signature: sign(`${WEBHOOK_PATH}${BODY}`) }],
  ['signed-with-address', { signature: sign(`POST\n${WEBHOOK_PATH}\n${BODY}`) }],
  ['signed-with-address', { signature: sign(`http://localhost:8080${WEBHOOK_PATH}${BODY}`) }],
  ['signature-quoted', { signature: `b'${base64}'` }],
  ['signature-openssl', { signature: `SHA2-256(stdin)= ${hex}` }],
  ['signature-separators', { signature: hex.toUpperCase().replaceAll(/(..)(?!$)/g, '$1-') }],
  ['signature-url-escapes', { signature: encodeURIComponent(base64) }],
  ['signature-scheme', { signature: `Bearer ${hex}` }],
  ['signature-spelling', { signature: `${base64}=` }],
  ['signature-no-value', { signature: '[object Object]' }],
  ['secret-sent', { signature: SECRET }],
  ['secret-sent', { signature: btoa(SECRET) }],
  ...[`Bearer ${SECRET}`, `Basic ${btoa(`partner:${SECRET}`)}`, `Basic ${btoa(SECRET)}`].map(
    (value): Case => [
      'signature-elsewhere secret-sent',
      { headers: withHeader('Authorization', value) },
      /X-Webhook-Signature is missing; the secret itself is in Authorization\./,
    ],
  ),
  [
    'other-hash signature-prefix',
    { signature: `sha1=${sign(BODY, SECRET, 'sha1').toString('hex')}` },
    /SHA1/,
  ],
  ['key-quoted', { signature: sign(BODY, `"${SECRET}"`) }],
  ['key-case', { signature: sign(BODY, SECRET.toLowerCase()) }],
  ['key-missing', { signature: sign(BODY, '') }],
  ...['$WEBHOOK_SECRET', `$${'{WEBHOOK_SECRET}'}`, '{{WEBHOOK_SECRET}}', '%WEBHOOK_SECRET%'].map(
    (name): Case => ['key-name', { signature: sign(BODY, name) }, /instead of its value/],
  ),
  ['key-white-space', { signature: sign(BODY, ` ${SECRET}`) }, /after a space/],
  ['key-twice', { signature: sign(BODY, `${SECRET}${SECRET}`) }],
  ['key-cut', { signature: sign(BODY, SECRET.slice(0, -1)) }, /without its last character/],
  ['key-local', { signature: sign(BODY, LOCAL_SECRET) }],
  ['json-reserialised key-white-space', { signature: sign(compact, `${SECRET}\n`) }],
  ['signature-several', { signature: `${hex}, ${hex}` }],
  ['signature-missing', { headers: unsigned }],
  [
    'signature-twice',
    { headers: withHeader('X-Webhook-Signature', hex, ['X-WEBHOOK-SIGNATURE', hex]) },
    /same value/,
  ],
  ['signature-elsewhere', { headers: withHeader('X-Signature', hex) }, /in X-Signature/],
  [
    'signature-elsewhere signature-scheme',
    { headers: withHeader('Authorization', `HMAC ${hex}`) },
    /Authorization/,
  ],
  ['signature-elsewhere', { headers: withHeader('X-Acme-Proof', hex) }, /another header/],
  ['signature-elsewhere query', { headers: unsigned, query: `s=${hex}` }, /query string/],
  [
    'compressed content-encoding',
    {
      body: gzipSync(BODY),
      headers: withHeader('X-Webhook-Signature', sign(gzipSync(BODY)).toString('hex'), zipped),
    },
    /covers the compressed bytes/,
  ],
  ['compressed', { body: gzipSync(BODY), signature: hex }, /was compressed \(gzip\) afterwards/],
  ...[deflateSync(BODY), deflateRawSync(BODY)].map(
    (body): Case => ['compressed', { body, signature: hex }, /was compressed \(deflate\)/],
  ),
  ['compressed', { body: deflateSync(BODY) }, /covers the compressed bytes/],
  [
    'json-twice',
    { body: ascii(JSON.stringify(BODY)), signature: hex },
    /over the JSON, but the body is this JSON serialised again/,
  ],
  ['body-utf-16', { body: Buffer.from(BODY, 'utf16le'), signature: hex }, /in UTF-8/],
  ['body-utf-16', { body: Buffer.from(`\uFEFF${BODY}`, 'utf16le'), signature: hex }],
  [
    'form-encoded content-type-form',
    {
      body: `payload=${encodeURIComponent(BODY)}`,
      headers: [
        ['Host', 'x'],
        ['Content-Type', 'application/x-www-form-urlencoded'],
        ['X-Webhook-Signature', hex],
      ],
    },
  ],
];

/**
 * The first finding for each mistake in the test vectors. With some bodies and secrets, several mistakes give
 * the same signature.
 */
const VECTOR_MISTAKES: Readonly<Record<string, string>> = {
  wrongSecret: 'signature-other',
  lineFeedInKey: 'key-white-space',
  trimmedKey: 'key-trimmed',
  hexKey: 'key-hex-decoded',
  base64Key: 'key-base64-decoded',
  latin1Key: 'key-latin-1',
  utf16Key: 'key-utf-16',
  normalisedKey: 'key-normalised',
  cutKey: 'key-cut',
  lineFeedAdded: 'newline-signed',
  trimmedBody: 'trimmed newline-not-signed line-breaks',
  reserialisedBody: 'json-reserialised newline-not-signed',
  lineEndsChanged: 'line-breaks',
  byteOrderMarkDropped: 'byte-order-mark',
  surrogatesEncoded: 'surrogates',
  asciiEscapes: 'json-reserialised',
  latin1Body: 'latin-1',
  normalisedBody: 'normalised',
  decodedBody: 'body-not-utf-8',
  cutAtNul: 'cut-at-nul',
  base64Body: 'signed-a-digest',
  'hexOfBase64 base64OfHex': 'signature-encoded-twice',
  truncated: 'signature-cut',
  'upperCasePrefix prefixTwice': 'signature-prefix',
  otherPrefix: 'signature-v1',
  prefixAlone: 'signature-malformed',
  spaceAfterPrefix: 'signature-white-space',
  quoted: 'signature-quoted',
  twoValues: 'signature-several',
  empty: 'signature-empty',
  'sha1 sha512 sha512Cut sha512Prefix': 'other-hash',
  'withoutKey hashOfKeyAndBody': 'plain-hash',
  swapped: 'key-and-body-swapped',
};

describe('a wrong signature', () => {
  test.each(WRONG_SIGNATURES)('%s', async (kinds, sent, says = /^/) => {
    await expectFindings(kinds, sent, says, 401);
  });

  test('does not hide other mistakes behind the signature', async () => {
    const body = BODY.replace('shop_id', 'shopId').replace('00Z', '00');
    const { status, findings } = await diagnosisOf({ body, signature: sign(body, 'another one') });
    expect(status).toBe(401);
    expect(findings.map(({ kind, isNext = false }) => ({ kind, isNext }))).toEqual([
      { kind: 'signature-other', isNext: false },
      { kind: 'timestamp-without-zone', isNext: true },
      { kind: 'field-misnamed', isNext: true },
    ]);
  });

  // If the time grew with the square of the length, this test would take minutes.
  test('takes seconds at most, even with a wrong key and a body that each library escapes differently', async () => {
    const data = { shop_id: 'é/<'.repeat(75_000), name: 'x'.repeat(2_000_000) };
    const body = JSON.stringify({ event: 'shop.updated', data, timestamp: NOW });
    expect(await diagnosisOf({ body, signature: sign(body, 'another one') })).toMatchObject({ status: 401 });
  }, 60_000);
});

describe.each(signingVectors.vectors)('the test vector $name', (vector) => {
  const { secret, accepted, refused, utf8 } = vector;
  const body = bodyOf(vector);

  test.each(Object.entries(accepted))('%s is right', async (_, signature) => {
    const { status, findings } = await diagnosisOf({ body, secret, signature });
    const kinds = findings.map(({ kind }) => kind);
    // An HTTP API passes the body to the receiver as text, so other bytes than UTF-8 lead to a 401.
    if (utf8 === false) expect({ status, kinds }).toEqual({ status: 401, kinds: ['body-not-utf-8'] });
    else expect(findings.every(({ kind }) => !/^signature/.test(kind)) && [200, 400]).toContain(status);
  });

  test.each(Object.entries(refused))('%s is named', async (mistake, signature) => {
    const { findings, status } = await diagnosisOf({ body, secret, signature });
    // The gateway changes the body just as this sender did before it signed, so the signature is right.
    expect(status).toBe(mistake === 'decodedBody' ? 400 : 401);
    const names = Object.entries(VECTOR_MISTAKES).find(([mistakes]) => mistakes.split(' ').includes(mistake));
    expect(names?.[1].split(' ')).toContain(findings[0]?.kind);
  });
});

const TIMESTAMP = '2026-01-31T09:00:00Z';
const event = (fields: Readonly<Record<string, unknown>>) =>
  JSON.stringify({ event: 'shop.updated', data: { shop_id: 'shop-1' }, timestamp: TIMESTAMP, ...fields });
const at = (timestamp: unknown) => event({ timestamp });
const named = (name: string) => event({ event: name, data: { id: 1 } });
/** UTF-8 text that was decoded as Latin-1. */
const latin1 = (text: string) => Buffer.from(text).toString('latin1');
const review = (fields: object) => event({ event: 'review.posted', data: { review_id: 'x', ...fields } });

/** Correctly signed requests with a wrong payload. They are answered 400 unless another status is given. */
const WRONG_PAYLOADS: readonly Case[] = [
  ['timestamp-without-zone', { body: at('2026-01-31T09:00:00') }],
  ['timestamp-with-offset', { body: at('2026-01-31T10:00:00+01:00') }],
  ['timestamp-number', { body: at('1769850000') }],
  ['timestamp-date-only', { body: at('2026-01-31') }],
  ['timestamp-without-zone', { body: at('20260131 0900') }],
  ['timestamp-leap-second', { body: at('2016-12-31T23:59:60Z') }],
  ['timestamp-no-moment', { body: at('2026-02-30T09:00:00Z') }],
  ['timestamp-no-moment', { body: at('2026-13-31T09:00+0000') }],
  ['timestamp-of-http', { body: at('Sat, 31 Jan 2026 09:00:00 GMT') }],
  ['timestamp-missing', { body: at(null) }],
  ['timestamp-other', { body: at('yesterday') }],
  ['field-missing', { body: at(undefined) }, /timestamp is missing\./],
  [
    'timestamp-future',
    { body: at('2026-01-31T10:00:00Z') },
    /1 h in the future.*counts this timestamp as 5 minutes after the receipt/,
    200,
  ],
  ['timestamp-past', { body: at('2026-01-28T09:00:00Z') }, /3 d in the past/, 200],
  ['field-misnamed', { body: event({ event: undefined, Event: 'x' }) }, /has a similar name/],
  ['field-empty', { body: event({ event: '' }) }],
  ['field-wrong', { body: event({ event: 7 }) }, /event must be a non-empty string; it is a number/],
  ...['Shop.Updated', 'shop_updated', 'shop.update', 'ShopUpdated', 'shop.udpated', 'shops.update'].map(
    (name): Case => ['event-misspelt', { body: event({ event: name }) }, /Did you mean shop\.updated/, 200],
  ),
  // Kinds of event that the partner may add before the receiver supports them.
  ...['invoice.paid', 'shop.created', 'girl.undeleted'].map(
    (name): Case => ['event-unknown', { body: named(name) }, /^/, 200],
  ),
  [
    'event-misspelt timestamp-without-zone field-misnamed',
    { body: event({ event: 'Shop.Updated', data: { shopId: 'shop-1' }, timestamp: '2026-01-31T09:00:00' }) },
    /data\.shop_id is missing/,
  ],
  [
    'field-misnamed field-misnamed field-misnamed',
    {
      body: event({
        event: undefined,
        type: 'shop.updated',
        data: { shopId: 'shop-1' },
        timestamp: undefined,
        created_at: TIMESTAMP,
      }),
    },
    /type may be meant.*created_at may be meant.*data\.shop_id is missing/,
  ],
  ...[
    { event: 'shop.updated', data: { shop_id: 'shop-1', updatedFields: ['name'] } },
    { event: 'review.posted', data: { review_id: 'x', stars: 5 } },
    { event: 'girl.schedule_changed', data: { cast_id: 'x' } },
  ].map((fields): Case => ['field-unread', { body: event(fields) }, /^/, 200]),
  ...Object.entries({ rating: null, comment: { text: 'x' }, girl_id: ['x'], shop_id: true }).map(
    ([field, value]): Case => [
      'field-ignored',
      { body: review({ [field]: value }) },
      new RegExp(`data\\.${field} is (?:null|an object|an array|a boolean)\\. It is ignored`),
      200,
    ],
  ),
  ['data-unused', { body: event({ event: 'girl.schedule_changed', data: { day: 'x' } }) }, /^/, 200],
  [
    '',
    { body: event({ data: { shop_id: 'x', game: 1, id: 2, rank: 3, address: null, owner: {} } }) },
    /^/,
    200,
  ],
  ['', { body: review({ comment: '' }) }, /^/, 200],
  ['', { body: review({ rating: 5, stars: 5 }) }, /^/, 200],
  ['field-misnamed', { body: event({ data: undefined, payload: {} }) }, /payload may be meant/],
  ['data-as-text', { body: event({ data: '{"shop_id":"x"}' }) }, /contains JSON/],
  ['field-wrong', { body: event({ data: [] }) }, /an array/],
  ['field-missing', { body: event({ data: {} }) }, /data\.shop_id/],
  ['field-empty', { body: event({ data: { shop_id: '' } }) }],
  ['json-array', { body: `[${event({})},${event({})}]` }, /array of 2/],
  ['json-twice', { body: JSON.stringify(event({})) }],
  ['json-no-object', { body: 'null' }],
  ['body-empty', { body: '' }],
  ['html-escaped', { body: event({}).replaceAll('"', '&quot;') }],
  ['form-encoded', { body: 'event=shop.updated&timestamp=1' }],
  ['body-xml', { body: '<?xml version="1.0"?><event/>' }],
  ['body-python', { body: "{'event': 'shop.updated', 'data': {}}" }],
  ['body-nan', { body: '{"event": "shop.updated", "data": {"x": NaN}}' }],
  ['body-bare-keys', { body: '{event: "shop.updated"}' }],
  ['body-trailing-comma', { body: '{"event": "shop.updated",}' }],
  ['body-several', { body: `${event({})}\n${event({})}` }],
  ['body-cut', { body: '{"event": "a => b", "data": ", }' }],
  ['body-no-value', { body: '[object Object]' }],
  [
    'field-wrong',
    { body: event({ data: { shop_id: 'shop-1', updated_fields: ['name', 1] } }) },
    /data\.updated_fields\.1 must be .*; it is a number/,
  ],
  ['body-utf-16', { body: event({}).replaceAll(/./g, '$&\0') }],
  ['body-utf-16', { body: event({}).replaceAll(/./g, '\0$&') }],
  ['body-not-json', { body: 'hello' }],
  ['key-twice', { body: event({}).replace('{', '{"event":"x",') }, /^/, 200],
  ['number-too-large', { body: event({}).replace('{', '{"sequence":12345678901234567890,') }, /^/, 200],
  ...['null', 'undefined', 'None', '[object Object]'].map(
    (id): Case => [
      'id-without-value',
      { body: event({ data: { shop_id: id } }) },
      /data\.shop_id is a text such as null/,
      200,
    ],
  ),
  ...['{{shop_id}}', `$${'{shop_id}'}`, '%SHOP_ID%', '<%= id %>'].map(
    (id): Case => ['placeholder', { body: event({ data: { shop_id: id } }) }, /^/, 200],
  ),
  ...['Caf&eacute;', 'A &amp; B', 'it&#39;s'].map(
    (comment): Case => ['html-entities', { body: review({ comment }) }, /^/, 200],
  ),
  ...[
    latin1('Café'),
    latin1('さくら'),
    latin1('☕').replace('\x98', '˜').replace('\x95', '•'),
    'Caf\uFFFD',
  ].map((comment): Case => ['mojibake', { body: review({ comment }) }, /^/, 200]),
  ...['»Spaß«', 'CAFÉ “É”', 'さくら & Co; 5 < 6', 'Null & Void', '100 %', 'AT&T;', 'für $5 {a}', 'true'].map(
    (comment): Case => ['', { body: review({ comment }) }, /^/, 200],
  ),
  ['bom', { body: `\uFEFF${event({})}` }, /^/, 200],
  [
    'field-wrong body-near-limit',
    { body: event({ data: { name: 'x'.repeat(4.5 * 1024 * 1024) } }) },
    /data\.shop_id/,
  ],
  ['body-too-large', { body: 'x'.repeat(6.1 * 1024 * 1024) }, /^/, 413],
];

describe('a correctly signed payload', () => {
  test.each(WRONG_PAYLOADS)('%s', async (kinds, sent, says = /^/, status = 400) => {
    await expectFindings(kinds, sent, says, status);
  });

  test.each(readSamples())('is right as the sample of $event', async (sample) => {
    const right = { status: 200, word: 'queued', event: sample.event, findings: [] };
    expect(await diagnosisOf({ body: sampleBody(sample, NOW) })).toMatchObject(right);
  });

  test.each([
    ['Shop.Updated', 'wrong'],
    ['invoice.paid', 'risky'],
  ])('of the unknown kind %s is parked: %j', async (name, grade) => {
    const parked = { word: 'parked', findings: [{ grade }] };
    expect(await diagnosisOf({ body: event({ event: name }) })).toMatchObject(parked);
  });
});

const PAYLOAD = event({});
const signature = sign(PAYLOAD).toString('hex');
const host = ['Host', 'x'] as const;
const signed = ['X-Webhook-Signature', signature] as const;
const json = ['Content-Type', 'application/json'] as const;
const typed = (type: string) => [host, ['Content-Type', type], signed] as const;
const signedWith = (name: string, value: string) =>
  withHeader('X-Webhook-Signature', signature, [name, value]);

/** Requests with another mistake. They are answered 200 unless another status is given. */
const WRONG_REQUESTS: readonly Case[] = [
  ['method', { method: 'GET' }, /redirect|GET/, 404],
  ['path', { path: `${WEBHOOK_PATH}/` }, /ends with a slash/, 404],
  ['path', { path: `/${WEBHOOK_PATH}` }, /two slashes/, 404],
  ['path', { path: '/API/v1/webhooks/partner' }, /capital/, 404],
  ['path', { path: '/v1/webhooks/partner' }, /beginning/, 404],
  ['path', { path: '/' }, /missing/, 404],
  ['path', { path: `/prod${WEBHOOK_PATH}` }, /precedes/, 404],
  ['path', { path: '/api/v1/webhook/partner' }, /almost/, 404],
  ['path', { path: '/somewhere/else' }, /wrong/, 404],
  ['query', { query: 'a=1' }],
  ['content-type-missing', { headers: [host, signed] }],
  ['content-type-other', { headers: typed('text/plain') }],
  ['content-type-multipart', { headers: typed('multipart/form-data; boundary=x') }],
  ['', { headers: typed('application/json; charset=UTF-8') }],
  ['content-type-charset', { headers: typed('application/json; charset=iso-8859-1') }],
  ['content-type-twice', { headers: [host, json, json, signed] }],
  ['content-encoding', { headers: signedWith('Content-Encoding', 'gzip') }, /is compressed/],
  ['content-encoding-other', { headers: signedWith('Content-Encoding', 'utf-8') }, /charset/],
  ['', { headers: signedWith('Content-Encoding', 'identity') }],
  ['expect-other', { headers: signedWith('Expect', 'foo') }],
  ['head-too-large', { headers: signedWith('Cookie', 'c'.repeat(11_000)) }],
  ['secret-sent', { headers: signedWith('X-Api-Key', SECRET) }],
  ['secret-sent query', { query: `key=${SECRET}` }],
];

test.each(WRONG_REQUESTS)(
  'a right payload in a wrong request: %s',
  async (kinds, sent, says = /^/, status = 200) => {
    await expectFindings(kinds, { body: PAYLOAD, ...sent }, says, status);
  },
);

/** Seconds until each request is answered. */
const ANSWERED_AFTER = 20;

/** A failed request, and the seconds until the next one. */
interface Failure {
  readonly wait: number;
  /** How the request ends. @default 500 */
  readonly how?: AttemptEnding;
  readonly retryAfterSeconds?: number;
}

const failures = (...waits: number[]): Failure[] => waits.map((wait) => ({ wait }));

function delivery(failed: readonly Failure[]): SentDelivery {
  const attempts: SentAttempt[] = [];
  let at = 0;
  for (const { wait, how = 500, retryAfterSeconds = 0 } of [...failed, { wait: 0, how: 200 }]) {
    const end = { how, at: at + ANSWERED_AFTER * 1_000, retryAfterSeconds };
    attempts.push({
      at,
      earliest: at,
      status: 200,
      end,
      isReused: true,
      eventId: 'x',
      signature: 'x',
      isSameBytes: true,
      isSameSignature: true,
    });
    at = end.at + wait * 1_000;
  }
  return { number: 1, eventId: 'x', event: undefined, attempts, corrects: 0 };
}

/** Grade and kind of the findings for each repeated request, without the finding that the request is repeated. */
const judged = (repeated: SentDelivery) =>
  repeated.attempts
    .slice(1)
    .map((attempt) =>
      [...repeatFindings(repeated, attempt)]
        .filter(({ kind }) => kind !== 'repeat')
        .map(({ grade, kind }) => `${grade} ${kind}`),
    );

const EARLY = 'risky repeat-early';
const SOONER = 'wrong repeat-sooner';
const STORM = 'wrong repeat-storm';
const STEADY = 'risky repeat-steady';

describe('the waits of a sender', () => {
  const cuts = failures(1.7, 0.9, 0.7).map((failure) => ({ ...failure, how: 'cut' as const }));
  const storm = failures(0, 0).map((failure) => ({ ...failure, how: 'cut' as const }));
  const clientRepeat: Failure[] = [{ wait: 10 }, { wait: 0.01, how: 'cut' }, { wait: 20 }];
  const longer: Failure[] = [{ wait: 60, retryAfterSeconds: 60 }, { wait: 10 }, { wait: 20 }];
  const tooShort: Failure[] = [{ wait: 10 }, { wait: 20, retryAfterSeconds: 60 }, { wait: 20 }];
  const IGNORED = 'wrong retry-after-ignored';

  test.each([
    ['as asked for', failures(10, 20, 40), [[], [], []], 'growing'],
    ['moved by a quarter', failures(12.5, 15, 50), [[], [], []], 'growing'],
    // At one hour, waits need not grow any more.
    ['of an hour', failures(3_600, 2_700), [[], []], 'growing'],
    ['that shrink', failures(1.7, 0.9), [[EARLY], [SOONER]], 'shrinking'],
    ['that grew', failures(10, 20, 5, 80), [[], [], [SOONER], []], 'shrinking'],
    ['that do not grow', failures(10, 10), [[], [STEADY]], 'steady'],
    ['nearly equal', failures(12.5, 7.5), [[], [STEADY]], 'steady'],
    ['of a fast test', failures(1, 2, 4), [[EARLY], [], []], 'growing'],
    [
      'of a storm, too short to compare',
      failures(0.04, 0.02, 0.05, 1),
      [[EARLY], [STORM], [STORM], []],
      undefined,
    ],
    ['of a storm after cuts', storm, [[], [STORM]], undefined],
    ['after cuts', cuts, [[], [SOONER], [SOONER]], 'shrinking'],
    ['with a repeat of the HTTP client', clientRepeat, [[], [], []], 'growing'],
    ['that Retry-After asked for', longer, [[], [], []], 'growing'],
    ['shorter than Retry-After', tooShort, [[], [IGNORED], []], 'growing'],
  ])('%s', (_what, failed, findings, backOff) => {
    const repeated = delivery([...failed]);
    expect(judged(repeated)).toEqual(findings);
    expect(repeatReport(repeated)).toMatchObject({
      backOff,
      waits: failed.map(({ wait }) => Math.round(wait * 1_000)),
    });
  });

  test('follow the advice of docs/partner.md', () => {
    const text = readFileSync('docs/partner.md', 'utf8');
    expect(text).toContain(`After a failure wait ${FIRST_WAIT_SECONDS} s,`);
  });
});
