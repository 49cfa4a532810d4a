import { describe, expect, test } from '@jest/globals';
import { LOCAL_SECRET } from '../../../../events/signing.ts';
import { WEBHOOK_PATH } from '../../../../lambda/events/webhook-path.ts';
import { BODY, gzipped, hash, NOW, SECRET, type Sent, said, sign, withHeader } from './senders.ts';

const value = JSON.parse(BODY) as Record<string, unknown>;
const compact = JSON.stringify(value);
const ascii = (text: string) =>
  text.replaceAll(/[\u0080-\uFFFF]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
const hex = sign(BODY).toString('hex');
const base64 = sign(BODY).toString('base64');

/** Written by these libraries themselves: what they make of BODY, once read. */
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

const swapped16 = (text: string) => Buffer.from(text, 'utf16le').swap16();

/** Each sender is wrong on purpose, and in one way alone. */
const SENDERS: readonly (Sent & {
  readonly sender: string;
  readonly kinds: readonly string[];
  readonly says?: RegExp;
})[] = [
  {
    sender: 'JSON.stringify',
    signature: sign(compact),
    kinds: ['json-reserialised'],
    says: /JSON\.stringify/,
  },
  { sender: 'json.dumps', signature: sign(PYTHON), kinds: ['json-reserialised'], says: /json\.dumps/ },
  {
    sender: 'json.dumps, sort_keys',
    signature: sign(PYTHON_SORTED),
    kinds: ['json-reserialised'],
    says: /json\.dumps.*sorted/,
  },
  { sender: 'json_encode', signature: sign(PHP), kinds: ['json-reserialised'], says: /PHP's json_encode/ },
  {
    sender: 'json.Marshal of a map',
    signature: sign(GO),
    kinds: ['json-reserialised'],
    says: /Go's json\.Marshal/,
  },
  {
    sender: 'JSON.stringify, indent 2',
    signature: sign(JSON.stringify(value, null, 2).replace('"rating": 1,', '"rating": 1.0,')),
    kinds: ['json-reserialised'],
    says: /two spaces/,
  },
  {
    sender: 'JSON.stringify, indent 4',
    signature: sign(JSON.stringify(value, null, 4).replace('"rating": 1,', '"rating": 1.0,')),
    kinds: ['json-reserialised'],
    says: /four spaces/,
  },
  {
    sender: 'ASCII escapes',
    signature: sign(ascii(compact).replace('"rating":1,', '"rating":1.0,')),
    kinds: ['json-reserialised'],
    says: /separators/,
  },
  { sender: 'without the last line break', signature: sign(BODY.trimEnd()), kinds: ['newline-not-signed'] },
  { sender: 'with one line break more', signature: sign(`${BODY}\n`), kinds: ['newline-signed'] },
  { sender: 'trimmed', body: ` ${BODY} `, signature: sign(BODY.trim()), kinds: ['trimmed'] },
  { sender: 'CR LF signed, LF sent', signature: sign(BODY.replaceAll('\n', '\r\n')), kinds: ['line-breaks'] },
  {
    sender: 'LF signed, CR LF sent',
    body: BODY.replaceAll('\n', '\r\n'),
    signature: sign(BODY),
    kinds: ['line-breaks'],
  },
  {
    sender: 'line breaks eaten by curl -d',
    body: BODY.replaceAll('\n', ''),
    signature: sign(BODY),
    kinds: ['signature-other'],
  },
  {
    sender: 'byte order mark sent',
    body: `\uFEFF${BODY}`,
    signature: sign(BODY),
    kinds: ['byte-order-mark'],
  },
  { sender: 'byte order mark signed', signature: sign(`\uFEFF${BODY}`), kinds: ['byte-order-mark'] },
  {
    sender: 'Latin-1 read',
    signature: sign(Buffer.from(Buffer.from(BODY).toString('latin1'))),
    kinds: ['latin-1'],
  },
  { sender: 'Latin-1 signed', signature: sign(Buffer.from(BODY, 'latin1')), kinds: ['latin-1'] },
  { sender: 'ASCII signed', signature: sign(BODY.replaceAll(/[^\0-\x7f]/g, '?')), kinds: ['ascii'] },
  { sender: 'UTF-16 signed', signature: sign(Buffer.from(BODY, 'utf16le')), kinds: ['utf-16'] },
  { sender: 'UTF-16 BE signed', signature: sign(swapped16(BODY)), kinds: ['utf-16'] },
  {
    sender: 'UTF-16 with its byte order mark signed',
    signature: sign(Buffer.from(`\uFEFF${BODY}`, 'utf16le')),
    kinds: ['utf-16'],
  },
  { sender: 'NFC signed', signature: sign(BODY.normalize('NFC')), kinds: ['normalised'] },
  { sender: 'nothing signed', signature: sign(''), kinds: ['signed-nothing'] },
  { sender: 'data alone', signature: sign(JSON.stringify(value.data)), kinds: ['signed-data-only'] },
  {
    sender: 'data as written',
    signature: sign(BODY.slice(BODY.indexOf('"data": ') + 8, BODY.lastIndexOf('}')).trimEnd()),
    kinds: ['signed-data-only'],
  },
  { sender: 'digest signed', signature: sign(hash(BODY).toString('hex')), kinds: ['signed-a-digest'] },
  {
    sender: 'timestamp of the payload',
    signature: sign(`2026-01-31T09:00:00Z.${BODY}`),
    kinds: ['signed-with-timestamp'],
  },
  {
    sender: 'timestamp of a header',
    headers: withHeader('X-Webhook-Signature', sign(`1769850000.${BODY}`).toString('hex'), [
      'X-Timestamp',
      '1769850000',
    ]),
    kinds: ['signed-with-timestamp'],
  },
  {
    sender: 'as Stripe',
    signature: `t=1769850000,v1=${sign(`1769850000.${BODY}`).toString('hex')}`,
    kinds: ['signed-with-timestamp', 'signature-v1'],
  },
  { sender: 'v1=', signature: `v1=${hex}`, kinds: ['signature-v1'] },
  { sender: 'path and body', signature: sign(`${WEBHOOK_PATH}${BODY}`), kinds: ['signed-with-address'] },
  {
    sender: 'method, path and body',
    signature: sign(`POST\n${WEBHOOK_PATH}\n${BODY}`),
    kinds: ['signed-with-address'],
  },
  {
    sender: 'URL and body',
    signature: sign(`http://localhost:8080${WEBHOOK_PATH}${BODY}`),
    kinds: ['signed-with-address'],
  },
  {
    sender: 'hex of base64',
    signature: Buffer.from(base64).toString('hex'),
    kinds: ['signature-encoded-twice'],
    says: /hex of the base64/,
  },
  {
    sender: 'base64 of hex',
    signature: Buffer.from(hex).toString('base64'),
    kinds: ['signature-encoded-twice'],
    says: /base64 of the hex/,
  },
  { sender: 'sha256:', signature: `sha256:${hex}`, kinds: ['signature-prefix'] },
  { sender: 'SHA256=', signature: `SHA256=${hex}`, kinds: ['signature-prefix'] },
  { sender: 'hmac-sha256=', signature: `hmac-sha256=${base64}`, kinds: ['signature-prefix'] },
  { sender: 'quotes', signature: `"${hex}"`, kinds: ['signature-quoted'] },
  { sender: 'quotes and sha256=', signature: `"sha256=${hex}"`, kinds: ['signature-quoted'] },
  { sender: 'white space after sha256=', signature: `sha256= ${hex}`, kinds: ['signature-white-space'] },
  { sender: "Python's b'…'", signature: `b'${base64}'`, kinds: ['signature-quoted'] },
  { sender: 'openssl', signature: `SHA2-256(stdin)= ${hex}`, kinds: ['signature-openssl'] },
  { sender: 'openssl -r', signature: `${hex} *stdin`, kinds: ['signature-openssl'] },
  {
    sender: 'BitConverter',
    signature: hex.toUpperCase().replaceAll(/(..)(?!$)/g, '$1-'),
    kinds: ['signature-separators'],
  },
  { sender: 'URL escapes', signature: encodeURIComponent(base64), kinds: ['signature-url-escapes'] },
  { sender: 'Bearer', signature: `Bearer ${hex}`, kinds: ['signature-scheme'] },
  { sender: 'padding twice', signature: `${base64}=`, kinds: ['signature-spelling'] },
  { sender: 'cut', signature: hex.slice(0, 40), kinds: ['signature-cut'] },
  { sender: 'undefined', signature: 'undefined', kinds: ['signature-no-value'] },
  { sender: '[object Object]', signature: '[object Object]', kinds: ['signature-no-value'] },
  { sender: 'some word', signature: 'let me in', kinds: ['signature-malformed'] },
  { sender: 'the secret', signature: SECRET, kinds: ['secret-sent'] },
  { sender: 'the secret in base64', signature: btoa(SECRET), kinds: ['secret-sent'] },
  ...[`Bearer ${SECRET}`, `Basic ${btoa(`partner:${SECRET}`)}`, `Basic ${btoa(SECRET)}`].map((value) => ({
    sender: `Authorization: ${value}`,
    headers: withHeader('Authorization', value),
    kinds: ['signature-elsewhere', 'secret-sent'],
    says: /There is no X-Webhook-Signature; the secret itself is in Authorization\./,
  })),
  { sender: 'str(dict)', signature: sign(PYTHON_TEXT), kinds: ['signed-python'], says: /str\(…\)/ },
  { sender: 'SHA-1', signature: sign(BODY, SECRET, 'sha1'), kinds: ['other-hash'], says: /SHA1/ },
  { sender: 'SHA-512', signature: sign(BODY, SECRET, 'sha512'), kinds: ['other-hash'], says: /SHA512/ },
  {
    sender: 'SHA-384, base64',
    signature: sign(BODY, SECRET, 'sha384').toString('base64'),
    kinds: ['other-hash'],
  },
  {
    sender: 'sha1=',
    signature: `sha1=${sign(BODY, SECRET, 'sha1').toString('hex')}`,
    kinds: ['other-hash', 'signature-prefix'],
  },
  { sender: 'SHA-256 of the body', signature: hash(BODY), kinds: ['plain-hash'], says: /without the secret/ },
  { sender: 'SHA-256 of secret and body', signature: hash(SECRET + BODY), kinds: ['plain-hash'] },
  { sender: 'SHA-256 of body and secret', signature: hash(BODY + SECRET), kinds: ['plain-hash'] },
  { sender: 'key and body swapped', signature: sign(SECRET, BODY), kinds: ['key-and-body-swapped'] },
  { sender: 'key from hex', signature: sign(BODY, Buffer.from(SECRET, 'hex')), kinds: ['key-hex-decoded'] },
  {
    sender: 'key from base64',
    signature: sign(BODY, Buffer.from(SECRET, 'base64')),
    kinds: ['key-base64-decoded'],
  },
  { sender: 'key and a line break', signature: sign(BODY, `${SECRET}\n`), kinds: ['key-white-space'] },
  { sender: 'key in quotes', signature: sign(BODY, `"${SECRET}"`), kinds: ['key-quoted'] },
  { sender: 'key trimmed', secret: `${SECRET}\n`, signature: sign(BODY), kinds: ['key-trimmed'] },
  {
    sender: 'key in Latin-1',
    secret: 'clé-très-secrète',
    signature: sign(BODY, Buffer.from('clé-très-secrète', 'latin1')),
    kinds: ['key-latin-1'],
  },
  { sender: 'key in UTF-16', signature: sign(BODY, Buffer.from(SECRET, 'utf16le')), kinds: ['key-utf-16'] },
  { sender: 'key in small letters', signature: sign(BODY, SECRET.toLowerCase()), kinds: ['key-case'] },
  { sender: 'no key', signature: sign(BODY, ''), kinds: ['key-missing'] },
  { sender: 'key undefined', signature: sign(BODY, 'undefined'), kinds: ['key-missing'] },
  { sender: 'key of the local stack', signature: sign(BODY, LOCAL_SECRET), kinds: ['key-local'] },
  { sender: 'another key', signature: sign(BODY, 'another one'), kinds: ['signature-other'] },
  {
    sender: 'two mistakes: JSON and key',
    signature: sign(compact, `${SECRET}\n`),
    kinds: ['json-reserialised', 'key-white-space'],
  },
  {
    sender: 'two mistakes: JSON and hash',
    signature: sign(PYTHON, SECRET, 'sha1'),
    kinds: ['json-reserialised', 'other-hash'],
  },
  {
    sender: 'no header',
    headers: [
      ['Host', 'x'],
      ['Content-Type', 'application/json'],
    ],
    kinds: ['signature-missing'],
  },
  { sender: 'empty header', signature: '', kinds: ['signature-empty'] },
  {
    sender: 'header twice',
    headers: withHeader('X-Webhook-Signature', hex, ['X-WEBHOOK-SIGNATURE', hex]),
    kinds: ['signature-twice'],
    says: /same value/,
  },
  { sender: 'two values in one header', signature: `${hex},${hex}`, kinds: ['signature-several'] },
  {
    sender: 'X-Signature',
    headers: withHeader('X-Signature', hex),
    kinds: ['signature-elsewhere'],
    says: /is in X-Signature/,
  },
  {
    sender: 'X-Hub-Signature-256',
    headers: withHeader('X-Hub-Signature-256', `sha256=${hex}`),
    kinds: ['signature-elsewhere'],
    says: /X-Hub-Signature-256/,
  },
  {
    sender: 'Authorization',
    headers: withHeader('Authorization', `HMAC ${hex}`),
    kinds: ['signature-elsewhere', 'signature-scheme'],
    says: /Authorization/,
  },
  {
    sender: 'a header of its own',
    headers: withHeader('X-Acme-Proof', hex),
    kinds: ['signature-elsewhere'],
    says: /another header/,
  },
  {
    sender: 'a query',
    headers: [
      ['Host', 'x'],
      ['Content-Type', 'application/json'],
    ],
    query: `s=${hex}`,
    kinds: ['signature-elsewhere', 'query'],
    says: /query string/,
  },
  {
    sender: 'gzip after signing',
    body: gzipped(BODY),
    headers: withHeader('X-Webhook-Signature', hex, ['Content-Encoding', 'gzip']),
    kinds: ['compressed', 'content-encoding'],
  },
  {
    sender: 'gzip before signing',
    body: gzipped(BODY),
    headers: withHeader('X-Webhook-Signature', sign(gzipped(BODY)).toString('hex'), [
      'Content-Encoding',
      'gzip',
    ]),
    kinds: ['compressed', 'content-encoding'],
    says: /over the compressed bytes/,
  },
  {
    sender: 'gzip after signing, not said by a header',
    body: gzipped(BODY),
    signature: hex,
    kinds: ['compressed'],
    says: /after it was signed/,
  },
  {
    sender: 'requests.post(json=text)',
    body: ascii(JSON.stringify(BODY)),
    signature: hex,
    kinds: ['json-twice'],
    says: /over the JSON, and the body is that JSON written once more/,
  },
  {
    sender: 'UTF-16 sent',
    body: Buffer.from(BODY, 'utf16le'),
    signature: hex,
    kinds: ['body-utf-16'],
    says: /over the text in UTF-8/,
  },
  { sender: 'UTF-16 BE sent', body: swapped16(BODY), signature: hex, kinds: ['body-utf-16'] },
  {
    sender: 'UTF-16 with its byte order mark sent',
    body: Buffer.from(`\uFEFF${BODY}`, 'utf16le'),
    signature: hex,
    kinds: ['body-utf-16'],
  },
  {
    sender: 'form',
    body: `payload=${encodeURIComponent(BODY)}`,
    headers: [
      ['Host', 'x'],
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['X-Webhook-Signature', hex],
    ],
    kinds: ['form-encoded', 'content-type-form'],
  },
  { sender: 'not UTF-8', body: Buffer.from(BODY, 'latin1'), kinds: ['body-not-utf-8'] },
];

describe('a wrong sender is told what it does', () => {
  test.each(SENDERS)('$sender', async ({ sender: _, kinds, says = /./, ...sent }) => {
    const { status, findings } = await said(sent);
    expect({ status, kinds: findings.map(({ kind }) => kind) }).toEqual({ status: 401, kinds });
    expect(findings.map(({ what }) => what).join(' ')).toMatch(says);
  });
});

describe('a right sender is told that nothing is wrong', () => {
  const bytes = sign(BODY);
  test.each([
    hex,
    hex.toUpperCase(),
    base64,
    base64.replace(/=$/, ''),
    bytes.toString('base64url'),
    `${bytes.toString('base64url')}=`,
    ...[hex, base64, bytes.toString('base64url')].map((spelling) => `sha256=${spelling}`),
  ])('%s', async (signature) => {
    expect(await said({ signature })).toMatchObject({
      status: 200,
      word: 'queued',
      event: 'shop.updated',
      findings: [],
    });
  });

  test.each([compact, BODY.replaceAll('\n', '\r\n'), `\n\n${BODY}\n\n`, PYTHON, PHP, GO])(
    'over the bytes %j',
    async (body) => {
      expect(await said({ body })).toMatchObject({ status: 200, findings: [] });
    },
  );
});

test('with a wrong signature it is told what else would be wrong, once the signature is right', async () => {
  const body = BODY.replace('shop_id', 'shopId').replace('00Z', '00');
  const { status, findings } = await said({ body, signature: sign(body, 'another one') });
  expect({ status, kinds: findings.map(({ kind }) => kind) }).toEqual({
    status: 401,
    kinds: ['signature-other', 'timestamp-without-zone', 'field-misnamed'],
  });
  expect(findings.map(({ isNext = false }) => isNext)).toEqual([false, true, true]);
});

test('a hundred headers that may be signatures take hardly longer than one', async () => {
  const body = JSON.stringify({
    event: 'shop.updated',
    data: { shop_id: 'x'.repeat(250_000) },
    timestamp: NOW,
  });
  const timed = async (count: number) => {
    const proofs = Array.from(
      { length: count },
      (_, index) => [`X-Proof-${index}`, sign(`${index}`).toString('hex')] as const,
    );
    const start = performance.now();
    const { findings } = await said({ body, headers: [...withHeader('X-Proof', hex), ...proofs] });
    expect(findings[0]?.kind).toBe('signature-missing');
    return performance.now() - start;
  };
  const one = await timed(0);
  expect(await timed(100)).toBeLessThan(10 * one);
});

test('a guess takes little time, even of a large body with a wrong key', async () => {
  const body = JSON.stringify({
    event: 'shop.updated',
    data: { shop_id: 'x'.repeat(4_000_000) },
    timestamp: NOW,
  });
  const start = performance.now();
  expect(await said({ body, signature: sign(body, 'another one') })).toMatchObject({ status: 401 });
  expect(performance.now() - start).toBeLessThan(10_000);
});
