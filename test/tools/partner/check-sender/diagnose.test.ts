import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { readSamples, sampleBody } from '../../../../events/samples.ts';
import { LOCAL_SECRET } from '../../../../events/signing.ts';
import { WEBHOOK_PATH } from '../../../../lambda/events/webhook-path.ts';
import { type Diagnosis, diagnose } from '../../../../tools/partner/check-sender/diagnose.ts';
import { FIRST_WAIT_SECONDS } from '../../../../tools/partner/check-sender/finding.ts';
import { repeatFindings, repeatReport } from '../../../../tools/partner/check-sender/repeats.ts';
import type {
  AttemptEnding,
  SentAttempt,
  SentDelivery,
} from '../../../../tools/partner/check-sender/sent-deliveries.ts';
import { serviceAnswer } from '../../../../tools/partner/check-sender/service-answer.ts';
import type { SentRequest } from '../../../../tools/partner/check-sender/signed-messages.ts';
import { bodyOf, signingVectors } from '../../../support/signing-vectors.ts';

/** Hex digits that are also base64, with letters in both cases, so that each way to read it gives another key. */
const SECRET = 'A0b1C2d3E4f5A6b7';

const NOW = new Date('2026-01-31T09:00:00Z');

/**
 * Every part differs between notations: white space, slashes, characters beyond ASCII and beyond Latin-1, HTML's
 * special characters.
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
  /** Replaces the usual headers, including the signature. */
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

/** The usual headers, with another one instead of the signature. */
const withHeader = (name: string, value: string, ...more: [string, string][]): [string, string][] => [
  ['Host', 'localhost:8080'],
  ['Content-Type', 'application/json'],
  [name, value],
  ...more,
];

/** A request, and the checker's expected findings. */
interface Case extends Sent {
  readonly kinds: readonly string[];
  readonly status?: number | undefined;
  readonly says?: RegExp | undefined;
}

async function expectFindings({ kinds, status, says = /^/, sent }: Case & { sent: Sent }) {
  const { status: answered, findings } = await diagnosisOf(sent);
  expect({ status: answered, kinds: findings.map(({ kind }) => kind) }).toEqual({ status, kinds });
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

/** Output of these libraries themselves for the parsed BODY. */
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

/** As people and formatters write it. */
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

/** Each sender makes exactly one mistake on purpose. The test vectors have more. */
const WRONG_SIGNATURES: readonly Case[] = [
  { kinds: ['json-reserialised'], signature: sign(compact), says: /JSON\.stringify/ },
  { kinds: ['json-reserialised'], signature: sign(PYTHON), says: /json\.dumps/ },
  { kinds: ['json-reserialised'], signature: sign(PYTHON_SORTED), says: /dumps.*sorted/ },
  { kinds: ['json-reserialised'], signature: sign(PHP), says: /PHP's json_encode/ },
  { kinds: ['json-reserialised'], signature: sign(GO), says: /Go's json\.Marshal/ },
  { kinds: ['json-reserialised'], signature: sign(indented(2)), says: /two spaces/ },
  {
    kinds: ['json-reserialised'],
    signature: sign(ascii(compact).replace('"rating":1,', '"rating":1.0,')),
    says: /separators/,
  },
  { kinds: ['signed-python'], signature: sign(PYTHON_TEXT), says: /str\(…\)/ },
  { kinds: ['newline-not-signed'], signature: sign(BODY.trimEnd()) },
  { kinds: ['trimmed'], body: ` ${BODY} `, signature: sign(BODY.trim()) },
  { kinds: ['line-breaks'], body: BODY.replaceAll('\n', '\r\n'), signature: hex },
  { kinds: ['signature-other'], body: BODY.replaceAll('\n', ''), signature: hex },
  ...['\n', '\r\n'].map((lineBreak): Case => {
    const file = FILE.replaceAll('\n', lineBreak);
    return {
      kinds: ['line-breaks'],
      body: FILE.replaceAll('\n', ''),
      signature: sign(file),
      says: /curl -d @file/,
    };
  }),
  { kinds: ['reformatted'], body: FILE, signature: sign(FILE.replaceAll('  ', '\t')) },
  { kinds: ['json-reserialised'], body: compact, signature: sign(PADDED), says: /spaces inside braces/ },
  {
    kinds: ['json-reserialised'],
    body: indented(2),
    signature: sign(FILE),
    says: /inner values on one line/,
  },
  { kinds: ['html-escaped'], signature: sign(HTML), says: /with HTML entities, but it was sent without/ },
  {
    kinds: ['html-escaped'],
    body: HTML,
    signature: hex,
    says: /without HTML entities, but it was sent with/,
  },
  ...['body.json', '@/tmp/event.json\n', './shop-updated.json'].map(
    (path): Case => ({ kinds: ['signed-path'], signature: sign(path) }),
  ),
  { kinds: ['byte-order-mark'], body: `\uFEFF${BODY}`, signature: hex },
  { kinds: ['byte-order-mark'], signature: sign(`\uFEFF${BODY}`) },
  { kinds: ['latin-1'], signature: sign(Buffer.from(Buffer.from(BODY).toString('latin1'))) },
  { kinds: ['ascii'], signature: sign(BODY.replaceAll(/[^\0-\x7f]/g, '?')) },
  { kinds: ['utf-16'], signature: sign(Buffer.from(BODY, 'utf16le')) },
  { kinds: ['utf-16'], signature: sign(swapped16(BODY)) },
  { kinds: ['signed-nothing'], signature: sign('') },
  { kinds: ['signed-data-only'], signature: sign(JSON.stringify(value.data)) },
  {
    kinds: ['signed-data-only'],
    signature: sign(BODY.slice(BODY.indexOf('"data": ') + 8, BODY.lastIndexOf('}')).trimEnd()),
  },
  { kinds: ['signed-with-timestamp'], signature: sign(`2026-01-31T09:00:00Z.${BODY}`) },
  {
    kinds: ['signed-with-timestamp'],
    headers: withHeader('X-Webhook-Signature', sign(`1769850000.${BODY}`).toString('hex'), [
      'X-Timestamp',
      '1769850000',
    ]),
  },
  {
    kinds: ['signed-with-timestamp', 'signature-v1'],
    signature: `t=1769850000,v1=${sign(`1769850000.${BODY}`).toString('hex')}`,
  },
  { kinds: ['signed-with-address'], signature: sign(`${WEBHOOK_PATH}${BODY}`) },
  { kinds: ['signed-with-address'], signature: sign(`POST\n${WEBHOOK_PATH}\n${BODY}`) },
  { kinds: ['signed-with-address'], signature: sign(`http://localhost:8080${WEBHOOK_PATH}${BODY}`) },
  { kinds: ['signature-prefix'], signature: `sha256:${hex}` },
  { kinds: ['signature-prefix'], signature: `hmac-sha256=${base64}` },
  { kinds: ['signature-quoted'], signature: `"sha256=${hex}"` },
  { kinds: ['signature-quoted'], signature: `b'${base64}'` },
  { kinds: ['signature-openssl'], signature: `SHA2-256(stdin)= ${hex}` },
  { kinds: ['signature-separators'], signature: hex.toUpperCase().replaceAll(/(..)(?!$)/g, '$1-') },
  { kinds: ['signature-url-escapes'], signature: encodeURIComponent(base64) },
  { kinds: ['signature-scheme'], signature: `Bearer ${hex}` },
  { kinds: ['signature-spelling'], signature: `${base64}=` },
  { kinds: ['signature-no-value'], signature: '[object Object]' },
  { kinds: ['signature-malformed'], signature: 'let me in' },
  { kinds: ['secret-sent'], signature: SECRET },
  { kinds: ['secret-sent'], signature: btoa(SECRET) },
  ...[`Bearer ${SECRET}`, `Basic ${btoa(`partner:${SECRET}`)}`, `Basic ${btoa(SECRET)}`].map(
    (value): Case => ({
      headers: withHeader('Authorization', value),
      kinds: ['signature-elsewhere', 'secret-sent'],
      says: /X-Webhook-Signature is missing; the secret itself is in Authorization\./,
    }),
  ),
  { kinds: ['other-hash'], signature: sign(BODY, SECRET, 'sha384').toString('base64') },
  {
    kinds: ['other-hash', 'signature-prefix'],
    signature: `sha1=${sign(BODY, SECRET, 'sha1').toString('hex')}`,
    says: /SHA1/,
  },
  { kinds: ['key-quoted'], signature: sign(BODY, `"${SECRET}"`) },
  { kinds: ['key-case'], signature: sign(BODY, SECRET.toLowerCase()) },
  { kinds: ['key-missing'], signature: sign(BODY, '') },
  ...['$WEBHOOK_SECRET', `$${'{WEBHOOK_SECRET}'}`, '{{WEBHOOK_SECRET}}', '%WEBHOOK_SECRET%'].map(
    (name): Case => ({ kinds: ['key-name'], signature: sign(BODY, name), says: /instead of its value/ }),
  ),
  { kinds: ['key-white-space'], signature: sign(BODY, ` ${SECRET}`), says: /after a space/ },
  { kinds: ['key-twice'], signature: sign(BODY, `${SECRET}${SECRET}`) },
  { kinds: ['key-cut'], signature: sign(BODY, SECRET.slice(0, -1)), says: /without its last character/ },
  { kinds: ['key-local'], signature: sign(BODY, LOCAL_SECRET) },
  { kinds: ['json-reserialised', 'key-white-space'], signature: sign(compact, `${SECRET}\n`) },
  { kinds: ['signature-missing'], headers: unsigned },
  {
    kinds: ['signature-twice'],
    headers: withHeader('X-Webhook-Signature', hex, ['X-WEBHOOK-SIGNATURE', hex]),
    says: /same value/,
  },
  { kinds: ['signature-elsewhere'], headers: withHeader('X-Signature', hex), says: /in X-Signature/ },
  {
    kinds: ['signature-elsewhere', 'signature-scheme'],
    headers: withHeader('Authorization', `HMAC ${hex}`),
    says: /Authorization/,
  },
  { kinds: ['signature-elsewhere'], headers: withHeader('X-Acme-Proof', hex), says: /another header/ },
  { kinds: ['signature-elsewhere', 'query'], headers: unsigned, query: `s=${hex}`, says: /query string/ },
  {
    kinds: ['compressed', 'content-encoding'],
    body: gzipSync(BODY),
    headers: withHeader('X-Webhook-Signature', sign(gzipSync(BODY)).toString('hex'), zipped),
    says: /covers the compressed bytes/,
  },
  { kinds: ['compressed'], body: gzipSync(BODY), signature: hex, says: /was compressed \(gzip\) afterwards/ },
  ...[deflateSync(BODY), deflateRawSync(BODY)].map(
    (body): Case => ({ kinds: ['compressed'], body, signature: hex, says: /was compressed \(deflate\)/ }),
  ),
  { kinds: ['compressed'], body: deflateSync(BODY), says: /covers the compressed bytes/ },
  {
    kinds: ['json-twice'],
    body: ascii(JSON.stringify(BODY)),
    signature: hex,
    says: /over the JSON, but the body is this JSON serialised again/,
  },
  { kinds: ['body-utf-16'], body: Buffer.from(BODY, 'utf16le'), signature: hex, says: /in UTF-8/ },
  { kinds: ['body-utf-16'], body: Buffer.from(`\uFEFF${BODY}`, 'utf16le'), signature: hex },
  {
    kinds: ['form-encoded', 'content-type-form'],
    body: `payload=${encodeURIComponent(BODY)}`,
    headers: [
      ['Host', 'x'],
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['X-Webhook-Signature', hex],
    ],
  },
  { kinds: ['body-not-utf-8'], body: Buffer.from(BODY, 'latin1') },
];

/**
 * The first finding for a mistake of the test vectors. With some bodies and secrets, several mistakes have the same
 * result.
 */
const VECTOR_MISTAKES: Readonly<Record<string, readonly string[]>> = {
  wrongSecret: ['signature-other'],
  lineFeedInKey: ['key-white-space'],
  trimmedKey: ['key-trimmed'],
  hexKey: ['key-hex-decoded'],
  base64Key: ['key-base64-decoded'],
  latin1Key: ['key-latin-1'],
  utf16Key: ['key-utf-16'],
  normalisedKey: ['key-normalised'],
  cutKey: ['key-cut'],
  lineFeedAdded: ['newline-signed'],
  trimmedBody: ['trimmed', 'newline-not-signed', 'line-breaks'],
  reserialisedBody: ['json-reserialised', 'newline-not-signed'],
  lineEndsChanged: ['line-breaks'],
  byteOrderMarkDropped: ['byte-order-mark'],
  surrogatesEncoded: ['surrogates'],
  asciiEscapes: ['json-reserialised'],
  latin1Body: ['latin-1'],
  normalisedBody: ['normalised'],
  decodedBody: ['body-not-utf-8'],
  cutAtNul: ['cut-at-nul'],
  base64Body: ['signed-a-digest'],
  hexOfBase64: ['signature-encoded-twice'],
  base64OfHex: ['signature-encoded-twice'],
  truncated: ['signature-cut'],
  upperCasePrefix: ['signature-prefix'],
  otherPrefix: ['signature-v1'],
  prefixTwice: ['signature-prefix'],
  prefixAlone: ['signature-malformed'],
  spaceAfterPrefix: ['signature-white-space'],
  quoted: ['signature-quoted'],
  twoValues: ['signature-several'],
  empty: ['signature-empty'],
  sha1: ['other-hash'],
  sha512: ['other-hash'],
  sha512Cut: ['other-hash'],
  sha512Prefix: ['other-hash'],
  withoutKey: ['plain-hash'],
  hashOfKeyAndBody: ['plain-hash'],
  swapped: ['key-and-body-swapped'],
};

describe('a wrong signature', () => {
  test.each(WRONG_SIGNATURES)('$kinds', async ({ kinds, says, ...sent }) => {
    await expectFindings({ sent, kinds, status: 401, says });
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

  test('takes little time, even with a wrong key and a body that each library escapes differently', async () => {
    const data = { shop_id: 'é/<'.repeat(75_000), name: 'x'.repeat(2_000_000) };
    const body = JSON.stringify({ event: 'shop.updated', data, timestamp: NOW });
    const start = performance.now();
    expect(await diagnosisOf({ body, signature: sign(body, 'another one') })).toMatchObject({ status: 401 });
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

describe('a right signature', () => {
  const base64url = sign(BODY).toString('base64url');
  test.each([hex.toUpperCase(), base64.replace(/=$/, ''), `${base64url}=`, `sha256=${base64url}`])(
    'is right as %s',
    async (signature) => {
      const right = { status: 200, word: 'queued', event: 'shop.updated', findings: [] };
      expect(await diagnosisOf({ signature })).toMatchObject(right);
    },
  );

  test.each([BODY.replaceAll('\n', '\r\n'), `\n\n${BODY}\n\n`, PHP])(
    'is right over the bytes %j',
    async (body) => {
      expect(await diagnosisOf({ body })).toMatchObject({ status: 200, findings: [] });
    },
  );
});

describe.each(signingVectors.vectors)('the test vector $name', (vector) => {
  const { secret, accepted, refused, utf8 } = vector;
  const body = bodyOf(vector);

  test.each(Object.entries(accepted))('%s is right', async (_, signature) => {
    const { status, findings } = await diagnosisOf({ body, secret, signature });
    const kinds = findings.map(({ kind }) => kind);
    // An HTTP API passes text on as text, so bytes that are not UTF-8 result in 401.
    if (utf8 === false) expect({ status, kinds }).toEqual({ status: 401, kinds: ['body-not-utf-8'] });
    else expect([200, 400]).toContain(status);
  });

  test.each(Object.entries(refused))('%s is named', async (mistake, signature) => {
    const { findings, status } = await diagnosisOf({ body, secret, signature });
    // Such a gateway changes the body in the same way as this sender did before it signed.
    expect(status).toBe(mistake === 'decodedBody' ? 400 : 401);
    expect(VECTOR_MISTAKES[mistake]).toContain(findings[0]?.kind);
  });
});

const TIMESTAMP = '2026-01-31T09:00:00Z';
const event = (fields: Readonly<Record<string, unknown>>) =>
  JSON.stringify({ event: 'shop.updated', data: { shop_id: 'shop-1' }, timestamp: TIMESTAMP, ...fields });
const at = (timestamp: unknown) => event({ timestamp });
const named = (name: string) => event({ event: name, data: { id: 1 } });
/** Decoded with the wrong charset. */
const latin1 = (text: string) => Buffer.from(text).toString('latin1');
const review = (fields: object) => event({ event: 'review.posted', data: { review_id: 'x', ...fields } });

/** Signed correctly, and answered 400 unless another status is given. */
const WRONG_PAYLOADS: readonly Case[] = [
  { kinds: ['timestamp-without-zone'], body: at('2026-01-31T09:00:00') },
  { kinds: ['timestamp-with-offset'], body: at('2026-01-31T10:00:00+01:00') },
  { kinds: ['timestamp-number'], body: at('1769850000') },
  { kinds: ['timestamp-date-only'], body: at('2026-01-31') },
  { kinds: ['timestamp-blank'], body: at('2026-01-31 09:00:00') },
  { kinds: ['timestamp-without-zone'], body: at('2026-01-31T09:00') },
  { kinds: ['timestamp-leap-second'], body: at('2016-12-31T23:59:60Z') },
  { kinds: ['timestamp-no-moment'], body: at('2026-02-30T09:00:00Z') },
  { kinds: ['timestamp-no-moment'], body: at('2026-13-31T09:00+0000') },
  { kinds: ['timestamp-of-http'], body: at('Sat, 31 Jan 2026 09:00:00 GMT') },
  { kinds: ['timestamp-missing'], body: at(null) },
  { kinds: ['timestamp-other'], body: at('yesterday') },
  { kinds: ['field-missing'], body: at(undefined), says: /timestamp is missing\./ },
  {
    kinds: ['timestamp-future'],
    body: at('2026-01-31T10:00:00Z'),
    status: 200,
    says: /60 minutes.*counts this timestamp as 5 minutes after the receipt/,
  },
  { kinds: ['timestamp-past'], body: at('2026-01-28T09:00:00Z'), status: 200, says: /3 days/ },
  { kinds: ['field-misnamed'], body: event({ event: undefined, Event: 'x' }), says: /has a similar name/ },
  { kinds: ['field-empty'], body: event({ event: '' }) },
  {
    kinds: ['field-wrong'],
    body: event({ event: 7 }),
    says: /event must be a non-empty string; it is a number/,
  },
  ...['Shop.Updated', 'shop_updated', 'shop.update', 'ShopUpdated', 'shop.udpated', 'shops.update'].map(
    (name): Case => ({
      body: event({ event: name }),
      kinds: ['event-misspelt'],
      status: 200,
      says: /Did you mean shop\.updated/,
    }),
  ),
  // Kinds that the partner may add before the receiver knows them.
  ...['invoice.paid', 'shop.created', 'girl.undeleted'].map(
    (name): Case => ({
      body: named(name),
      kinds: ['event-unknown'],
      status: 200,
    }),
  ),
  {
    kinds: ['event-misspelt', 'timestamp-without-zone', 'field-misnamed'],
    body: event({ event: 'Shop.Updated', data: { shopId: 'shop-1' }, timestamp: '2026-01-31T09:00:00' }),
    says: /data\.shop_id is missing/,
  },
  {
    kinds: ['field-misnamed', 'field-misnamed', 'field-misnamed'],
    body: event({
      event: undefined,
      type: 'shop.updated',
      data: { shopId: 'shop-1' },
      timestamp: undefined,
      created_at: TIMESTAMP,
    }),
    says: /type may be meant.*created_at may be meant.*data\.shop_id is missing/,
  },
  ...[
    { event: 'shop.updated', data: { shop_id: 'shop-1', updatedFields: ['name'] } },
    { event: 'review.posted', data: { review_id: 'x', stars: 5 } },
    { event: 'girl.schedule_changed', data: { cast_id: 'x' } },
  ].map(
    (fields): Case => ({
      body: event(fields),
      kinds: ['field-unread'],
      status: 200,
    }),
  ),
  ...Object.entries({ rating: null, comment: { text: 'x' }, girl_id: ['x'], shop_id: true }).map(
    ([field, value]): Case => ({
      body: review({ [field]: value }),
      kinds: ['field-ignored'],
      status: 200,
      says: new RegExp(`data\\.${field} is (?:null|an object|an array|a boolean)\\. It is ignored`),
    }),
  ),
  {
    kinds: ['data-unused'],
    body: event({ event: 'girl.schedule_changed', data: { day: 'x' } }),
    status: 200,
  },
  {
    kinds: [],
    body: event({ data: { shop_id: 'x', game: 1, id: 2, rank: 3, address: null, owner: {} } }),
    status: 200,
  },
  { kinds: [], body: review({ comment: '' }), status: 200 },
  { kinds: [], body: review({ rating: 5, stars: 5 }), status: 200 },
  { kinds: ['field-misnamed'], body: event({ data: undefined, payload: {} }), says: /payload may be meant/ },
  { kinds: ['data-as-text'], body: event({ data: '{"shop_id":"x"}' }), says: /contains JSON/ },
  { kinds: ['field-wrong'], body: event({ data: [] }), says: /an array/ },
  { kinds: ['field-missing'], body: event({ data: {} }), says: /data\.shop_id/ },
  { kinds: ['field-empty'], body: event({ data: { shop_id: '' } }) },
  { kinds: ['json-array'], body: `[${event({})},${event({})}]`, says: /array of 2/ },
  { kinds: ['json-twice'], body: JSON.stringify(event({})) },
  { kinds: ['json-no-object'], body: 'null' },
  { kinds: ['body-empty'], body: '' },
  { kinds: ['html-escaped'], body: event({}).replaceAll('"', '&quot;') },
  { kinds: ['form-encoded'], body: 'event=shop.updated&timestamp=1' },
  { kinds: ['body-xml'], body: '<?xml version="1.0"?><event/>' },
  { kinds: ['body-python'], body: "{'event': 'shop.updated', 'data': {}}" },
  { kinds: ['body-nan'], body: '{"event": "shop.updated", "data": {"x": NaN}}' },
  { kinds: ['body-bare-keys'], body: '{event: "shop.updated"}' },
  { kinds: ['body-trailing-comma'], body: '{"event": "shop.updated",}' },
  { kinds: ['body-several'], body: `${event({})}\n${event({})}` },
  { kinds: ['body-cut'], body: '{"event": "a => b", "data": ", }' },
  { kinds: ['body-no-value'], body: '[object Object]' },
  {
    kinds: ['field-wrong'],
    body: event({ data: { shop_id: 'shop-1', updated_fields: ['name', 1] } }),
    says: /data\.updated_fields\.1 must be .*; it is a number/,
  },
  { kinds: ['body-utf-16'], body: event({}).replaceAll(/./g, '$&\0') },
  { kinds: ['body-utf-16'], body: event({}).replaceAll(/./g, '\0$&') },
  { kinds: ['body-not-json'], body: 'hello' },
  { kinds: ['key-twice'], body: event({}).replace('{', '{"event":"x",'), status: 200 },
  {
    kinds: ['number-too-large'],
    body: event({}).replace('{', '{"sequence":12345678901234567890,'),
    status: 200,
  },
  ...['null', 'undefined', 'None', '[object Object]'].map(
    (id): Case => ({
      kinds: ['id-without-value'],
      body: event({ data: { shop_id: id } }),
      status: 200,
      says: /data\.shop_id is a text such as null/,
    }),
  ),
  ...['{{shop_id}}', `$${'{shop_id}'}`, '%SHOP_ID%', '<%= id %>'].map(
    (id): Case => ({ kinds: ['placeholder'], body: event({ data: { shop_id: id } }), status: 200 }),
  ),
  ...['Caf&eacute;', 'A &amp; B', 'it&#39;s'].map(
    (comment): Case => ({ kinds: ['html-entities'], body: review({ comment }), status: 200 }),
  ),
  ...[
    latin1('Café'),
    latin1('さくら'),
    latin1('☕').replace('\x98', '˜').replace('\x95', '•'),
    'Caf\uFFFD',
  ].map((comment): Case => ({ kinds: ['mojibake'], body: review({ comment }), status: 200 })),
  ...['»Spaß«', 'CAFÉ “É”', 'さくら & Co; 5 < 6', 'Null & Void', '100 %', 'AT&T;', 'für $5 {a}', 'true'].map(
    (comment): Case => ({ kinds: [], body: review({ comment }), status: 200 }),
  ),
  { kinds: ['bom'], body: `\uFEFF${event({})}`, status: 200 },
  {
    kinds: ['field-wrong', 'body-near-limit'],
    body: event({ data: { name: 'x'.repeat(4.5 * 1024 * 1024) } }),
    says: /data\.shop_id/,
  },
  { kinds: ['body-too-large'], body: 'x'.repeat(6.1 * 1024 * 1024), status: 413 },
];

describe('a correctly signed payload', () => {
  test.each(WRONG_PAYLOADS)('$kinds', async ({ kinds, says, status = 400, ...sent }) => {
    await expectFindings({ sent, kinds, status, says });
  });

  test.each(readSamples())('is right as the sample of $event', async (sample) => {
    const right = { status: 200, word: 'queued', event: sample.event, findings: [] };
    expect(await diagnosisOf({ body: sampleBody(sample, NOW) })).toMatchObject(right);
  });

  test.each([
    { name: 'Shop.Updated', grade: 'wrong' },
    { name: 'invoice.paid', grade: 'risky' },
  ])('of the unknown kind $name is parked: $grade', async ({ name, grade }) => {
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

/** Answered 200 unless another status is given. */
const WRONG_REQUESTS: readonly Case[] = [
  { kinds: ['method'], method: 'GET', status: 404, says: /redirect|GET/ },
  { kinds: ['path'], path: `${WEBHOOK_PATH}/`, status: 404, says: /ends with a slash/ },
  { kinds: ['path'], path: `/${WEBHOOK_PATH}`, status: 404, says: /two slashes/ },
  { kinds: ['path'], path: '/API/v1/webhooks/partner', status: 404, says: /capital/ },
  { kinds: ['path'], path: '/v1/webhooks/partner', status: 404, says: /beginning/ },
  { kinds: ['path'], path: '/', status: 404, says: /missing/ },
  { kinds: ['path'], path: `/prod${WEBHOOK_PATH}`, status: 404, says: /precedes/ },
  { kinds: ['path'], path: '/api/v1/webhook/partner', status: 404, says: /almost/ },
  { kinds: ['path'], path: '/somewhere/else', status: 404, says: /wrong/ },
  { kinds: ['query'], query: 'a=1' },
  { kinds: ['content-type-missing'], headers: [host, signed] },
  { kinds: ['content-type-other'], headers: typed('text/plain') },
  { kinds: ['content-type-multipart'], headers: typed('multipart/form-data; boundary=x') },
  { kinds: [], headers: typed('application/json; charset=UTF-8') },
  { kinds: ['content-type-charset'], headers: typed('application/json; charset=iso-8859-1') },
  { kinds: ['content-type-twice'], headers: [host, json, json, signed] },
  { kinds: ['content-encoding'], headers: signedWith('Content-Encoding', 'gzip'), says: /is compressed/ },
  { kinds: ['content-encoding-other'], headers: signedWith('Content-Encoding', 'utf-8'), says: /charset/ },
  { kinds: [], headers: signedWith('Content-Encoding', 'identity') },
  { kinds: ['expect-other'], headers: signedWith('Expect', 'foo') },
  { kinds: ['head-too-large'], headers: signedWith('Cookie', 'c'.repeat(11_000)) },
  { kinds: ['secret-sent'], headers: signedWith('X-Api-Key', SECRET) },
  { kinds: ['secret-sent', 'query'], query: `key=${SECRET}` },
];

test.each(WRONG_REQUESTS)(
  'a right payload in a wrong request: $kinds',
  async ({ kinds, says, status = 200, ...sent }) => {
    await expectFindings({ sent: { body: PAYLOAD, ...sent }, kinds, status, says });
  },
);

/** Seconds that each request takes. */
const ANSWERED_AFTER = 20;

/** A failed request, and the seconds until the next one. */
interface Failure {
  readonly wait: number;
  /** @default 500 */
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

/** Grades and kinds of the findings for each repeat, without the note that it is a repeat. */
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
    { what: 'as asked for', failed: failures(10, 20, 40), findings: [[], [], []], backOff: 'growing' },
    {
      what: 'moved by a quarter',
      failed: failures(12.5, 15, 50),
      findings: [[], [], []],
      backOff: 'growing',
    },
    // Waits of an hour need not grow.
    { what: 'of an hour', failed: failures(3_600, 2_700), findings: [[], []], backOff: 'growing' },
    { what: 'that shrink', failed: failures(1.7, 0.9), findings: [[EARLY], [SOONER]], backOff: 'shrinking' },
    {
      what: 'that grew',
      failed: failures(10, 20, 5, 80),
      findings: [[], [], [SOONER], []],
      backOff: 'shrinking',
    },
    { what: 'that do not grow', failed: failures(10, 10), findings: [[], [STEADY]], backOff: 'steady' },
    { what: 'nearly equal', failed: failures(12.5, 7.5), findings: [[], [STEADY]], backOff: 'steady' },
    { what: 'of a fast test', failed: failures(1, 2, 4), findings: [[EARLY], [], []], backOff: 'growing' },
    {
      what: 'of a storm, too short to compare',
      failed: failures(0.04, 0.02, 0.05, 1),
      findings: [[EARLY], [STORM], [STORM], []],
      backOff: undefined,
    },
    { what: 'of a storm after cuts', failed: storm, findings: [[], [STORM]], backOff: undefined },
    { what: 'after cuts', failed: cuts, findings: [[], [SOONER], [SOONER]], backOff: 'shrinking' },
    {
      what: 'with a repeat of the HTTP client',
      failed: clientRepeat,
      findings: [[], [], []],
      backOff: 'growing',
    },
    { what: 'that Retry-After asked for', failed: longer, findings: [[], [], []], backOff: 'growing' },
    { what: 'shorter than Retry-After', failed: tooShort, findings: [[], [IGNORED], []], backOff: 'growing' },
  ])('$what', ({ failed, findings, backOff }) => {
    const repeated = delivery([...failed]);
    expect(judged(repeated)).toEqual(findings);
    expect(repeatReport(repeated)).toMatchObject({
      backOff,
      waits: failed.map(({ wait }) => Math.round(wait * 1_000)),
    });
  });

  test('follow the advice of docs/partner.md', () => {
    expect(readFileSync('docs/partner.md', 'utf8')).toContain(
      `After a failure wait ${FIRST_WAIT_SECONDS} s,`,
    );
    const repeated = delivery(failures(1));
    expect([...repeatFindings(repeated, repeated.attempts[1] as SentAttempt)]).toContainEqual(
      expect.objectContaining({
        remedy: expect.stringContaining(`Wait ${FIRST_WAIT_SECONDS} s before the first repeat`),
      }),
    );
  });
});
