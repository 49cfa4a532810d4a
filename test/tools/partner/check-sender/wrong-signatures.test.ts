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

type Sender = readonly [sender: string, sent: Sent, kinds: readonly string[], says?: RegExp];

/** Each sender is wrong on purpose, and in one way only. */
const SENDERS: readonly Sender[] = [
  ['JSON.stringify', { signature: sign(compact) }, ['json-reserialised'], /JSON\.stringify/],
  ['json.dumps', { signature: sign(PYTHON) }, ['json-reserialised'], /json\.dumps/],
  ['json.dumps, sort_keys', { signature: sign(PYTHON_SORTED) }, ['json-reserialised'], /json\.dumps.*sorted/],
  ['json_encode', { signature: sign(PHP) }, ['json-reserialised'], /PHP's json_encode/],
  ['json.Marshal of a map', { signature: sign(GO) }, ['json-reserialised'], /Go's json\.Marshal/],
  [
    'JSON.stringify, indent 2',
    { signature: sign(JSON.stringify(value, null, 2).replace('"rating": 1,', '"rating": 1.0,')) },
    ['json-reserialised'],
    /two spaces/,
  ],
  [
    'JSON.stringify, indent 4',
    { signature: sign(JSON.stringify(value, null, 4).replace('"rating": 1,', '"rating": 1.0,')) },
    ['json-reserialised'],
    /four spaces/,
  ],
  [
    'ASCII escapes',
    { signature: sign(ascii(compact).replace('"rating":1,', '"rating":1.0,')) },
    ['json-reserialised'],
    /separators/,
  ],
  ['without the last line break', { signature: sign(BODY.trimEnd()) }, ['newline-not-signed']],
  ['with one line break more', { signature: sign(`${BODY}\n`) }, ['newline-signed']],
  ['trimmed', { body: ` ${BODY} `, signature: sign(BODY.trim()) }, ['trimmed']],
  ['CR LF signed, LF sent', { signature: sign(BODY.replaceAll('\n', '\r\n')) }, ['line-breaks']],
  ['LF signed, CR LF sent', { body: BODY.replaceAll('\n', '\r\n'), signature: sign(BODY) }, ['line-breaks']],
  [
    'line breaks eaten by curl -d',
    { body: BODY.replaceAll('\n', ''), signature: sign(BODY) },
    ['signature-other'],
  ],
  ['byte order mark sent', { body: `\uFEFF${BODY}`, signature: sign(BODY) }, ['byte-order-mark']],
  ['byte order mark signed', { signature: sign(`\uFEFF${BODY}`) }, ['byte-order-mark']],
  ['Latin-1 read', { signature: sign(Buffer.from(Buffer.from(BODY).toString('latin1'))) }, ['latin-1']],
  ['Latin-1 signed', { signature: sign(Buffer.from(BODY, 'latin1')) }, ['latin-1']],
  ['ASCII signed', { signature: sign(BODY.replaceAll(/[^\0-\x7f]/g, '?')) }, ['ascii']],
  ['UTF-16 signed', { signature: sign(Buffer.from(BODY, 'utf16le')) }, ['utf-16']],
  ['UTF-16 BE signed', { signature: sign(swapped16(BODY)) }, ['utf-16']],
  [
    'UTF-16 with its byte order mark signed',
    { signature: sign(Buffer.from(`\uFEFF${BODY}`, 'utf16le')) },
    ['utf-16'],
  ],
  ['NFC signed', { signature: sign(BODY.normalize('NFC')) }, ['normalised']],
  ['nothing signed', { signature: sign('') }, ['signed-nothing']],
  ['data alone', { signature: sign(JSON.stringify(value.data)) }, ['signed-data-only']],
  [
    'data as written',
    { signature: sign(BODY.slice(BODY.indexOf('"data": ') + 8, BODY.lastIndexOf('}')).trimEnd()) },
    ['signed-data-only'],
  ],
  ['digest signed', { signature: sign(hash(BODY).toString('hex')) }, ['signed-a-digest']],
  [
    'timestamp of the payload',
    { signature: sign(`2026-01-31T09:00:00Z.${BODY}`) },
    ['signed-with-timestamp'],
  ],
  [
    'timestamp of a header',
    {
      headers: withHeader('X-Webhook-Signature', sign(`1769850000.${BODY}`).toString('hex'), [
        'X-Timestamp',
        '1769850000',
      ]),
    },
    ['signed-with-timestamp'],
  ],
  [
    'as Stripe',
    { signature: `t=1769850000,v1=${sign(`1769850000.${BODY}`).toString('hex')}` },
    ['signed-with-timestamp', 'signature-v1'],
  ],
  ['v1=', { signature: `v1=${hex}` }, ['signature-v1']],
  ['path and body', { signature: sign(`${WEBHOOK_PATH}${BODY}`) }, ['signed-with-address']],
  ['method, path and body', { signature: sign(`POST\n${WEBHOOK_PATH}\n${BODY}`) }, ['signed-with-address']],
  [
    'URL and body',
    { signature: sign(`http://localhost:8080${WEBHOOK_PATH}${BODY}`) },
    ['signed-with-address'],
  ],
  [
    'hex of base64',
    { signature: Buffer.from(base64).toString('hex') },
    ['signature-encoded-twice'],
    /hex of the base64/,
  ],
  [
    'base64 of hex',
    { signature: Buffer.from(hex).toString('base64') },
    ['signature-encoded-twice'],
    /base64 of the hex/,
  ],
  ['sha256:', { signature: `sha256:${hex}` }, ['signature-prefix']],
  ['SHA256=', { signature: `SHA256=${hex}` }, ['signature-prefix']],
  ['hmac-sha256=', { signature: `hmac-sha256=${base64}` }, ['signature-prefix']],
  ['quotes', { signature: `"${hex}"` }, ['signature-quoted']],
  ['quotes and sha256=', { signature: `"sha256=${hex}"` }, ['signature-quoted']],
  ['white space after sha256=', { signature: `sha256= ${hex}` }, ['signature-white-space']],
  ["Python's b'…'", { signature: `b'${base64}'` }, ['signature-quoted']],
  ['openssl', { signature: `SHA2-256(stdin)= ${hex}` }, ['signature-openssl']],
  ['openssl -r', { signature: `${hex} *stdin` }, ['signature-openssl']],
  [
    'BitConverter',
    { signature: hex.toUpperCase().replaceAll(/(..)(?!$)/g, '$1-') },
    ['signature-separators'],
  ],
  ['URL escapes', { signature: encodeURIComponent(base64) }, ['signature-url-escapes']],
  ['Bearer', { signature: `Bearer ${hex}` }, ['signature-scheme']],
  ['padding twice', { signature: `${base64}=` }, ['signature-spelling']],
  ['cut', { signature: hex.slice(0, 40) }, ['signature-cut']],
  ['undefined', { signature: 'undefined' }, ['signature-no-value']],
  ['[object Object]', { signature: '[object Object]' }, ['signature-no-value']],
  ['some word', { signature: 'let me in' }, ['signature-malformed']],
  ['the secret', { signature: SECRET }, ['secret-sent']],
  ['the secret in base64', { signature: btoa(SECRET) }, ['secret-sent']],
  ...[`Bearer ${SECRET}`, `Basic ${btoa(`partner:${SECRET}`)}`, `Basic ${btoa(SECRET)}`].map(
    (value): Sender => [
      `Authorization: ${value}`,
      { headers: withHeader('Authorization', value) },
      ['signature-elsewhere', 'secret-sent'],
      /There is no X-Webhook-Signature; the secret itself is in Authorization\./,
    ],
  ),
  ['str(dict)', { signature: sign(PYTHON_TEXT) }, ['signed-python'], /str\(…\)/],
  ['SHA-1', { signature: sign(BODY, SECRET, 'sha1') }, ['other-hash'], /SHA1/],
  ['SHA-512', { signature: sign(BODY, SECRET, 'sha512') }, ['other-hash'], /SHA512/],
  ['SHA-384, base64', { signature: sign(BODY, SECRET, 'sha384').toString('base64') }, ['other-hash']],
  [
    'sha1=',
    { signature: `sha1=${sign(BODY, SECRET, 'sha1').toString('hex')}` },
    ['other-hash', 'signature-prefix'],
  ],
  ['SHA-256 of the body', { signature: hash(BODY) }, ['plain-hash'], /without the secret/],
  ['SHA-256 of secret and body', { signature: hash(SECRET + BODY) }, ['plain-hash']],
  ['SHA-256 of body and secret', { signature: hash(BODY + SECRET) }, ['plain-hash']],
  ['key and body swapped', { signature: sign(SECRET, BODY) }, ['key-and-body-swapped']],
  ['key from hex', { signature: sign(BODY, Buffer.from(SECRET, 'hex')) }, ['key-hex-decoded']],
  ['key from base64', { signature: sign(BODY, Buffer.from(SECRET, 'base64')) }, ['key-base64-decoded']],
  ['key and a line break', { signature: sign(BODY, `${SECRET}\n`) }, ['key-white-space']],
  ['key in quotes', { signature: sign(BODY, `"${SECRET}"`) }, ['key-quoted']],
  ['key trimmed', { secret: `${SECRET}\n`, signature: sign(BODY) }, ['key-trimmed']],
  [
    'key in Latin-1',
    { secret: 'clé-très-secrète', signature: sign(BODY, Buffer.from('clé-très-secrète', 'latin1')) },
    ['key-latin-1'],
  ],
  ['key in UTF-16', { signature: sign(BODY, Buffer.from(SECRET, 'utf16le')) }, ['key-utf-16']],
  ['key in small letters', { signature: sign(BODY, SECRET.toLowerCase()) }, ['key-case']],
  ['no key', { signature: sign(BODY, '') }, ['key-missing']],
  ['key undefined', { signature: sign(BODY, 'undefined') }, ['key-missing']],
  ['key of the local stack', { signature: sign(BODY, LOCAL_SECRET) }, ['key-local']],
  ['another key', { signature: sign(BODY, 'another one') }, ['signature-other']],
  [
    'two mistakes: JSON and key',
    { signature: sign(compact, `${SECRET}\n`) },
    ['json-reserialised', 'key-white-space'],
  ],
  [
    'two mistakes: JSON and hash',
    { signature: sign(PYTHON, SECRET, 'sha1') },
    ['json-reserialised', 'other-hash'],
  ],
  [
    'no header',
    {
      headers: [
        ['Host', 'x'],
        ['Content-Type', 'application/json'],
      ],
    },
    ['signature-missing'],
  ],
  ['empty header', { signature: '' }, ['signature-empty']],
  [
    'header twice',
    { headers: withHeader('X-Webhook-Signature', hex, ['X-WEBHOOK-SIGNATURE', hex]) },
    ['signature-twice'],
    /same value/,
  ],
  ['two values in one header', { signature: `${hex},${hex}` }, ['signature-several']],
  ['X-Signature', { headers: withHeader('X-Signature', hex) }, ['signature-elsewhere'], /is in X-Signature/],
  [
    'X-Hub-Signature-256',
    { headers: withHeader('X-Hub-Signature-256', `sha256=${hex}`) },
    ['signature-elsewhere'],
    /X-Hub-Signature-256/,
  ],
  [
    'Authorization',
    { headers: withHeader('Authorization', `HMAC ${hex}`) },
    ['signature-elsewhere', 'signature-scheme'],
    /Authorization/,
  ],
  [
    'a header of its own',
    { headers: withHeader('X-Acme-Proof', hex) },
    ['signature-elsewhere'],
    /another header/,
  ],
  [
    'a query',
    {
      headers: [
        ['Host', 'x'],
        ['Content-Type', 'application/json'],
      ],
      query: `s=${hex}`,
    },
    ['signature-elsewhere', 'query'],
    /query string/,
  ],
  [
    'gzip after signing',
    { body: gzipped(BODY), headers: withHeader('X-Webhook-Signature', hex, ['Content-Encoding', 'gzip']) },
    ['compressed', 'content-encoding'],
  ],
  [
    'gzip before signing',
    {
      body: gzipped(BODY),
      headers: withHeader('X-Webhook-Signature', sign(gzipped(BODY)).toString('hex'), [
        'Content-Encoding',
        'gzip',
      ]),
    },
    ['compressed', 'content-encoding'],
    /over the compressed bytes/,
  ],
  [
    'gzip after signing, not said by a header',
    { body: gzipped(BODY), signature: hex },
    ['compressed'],
    /after it was signed/,
  ],
  [
    'requests.post(json=text)',
    { body: ascii(JSON.stringify(BODY)), signature: hex },
    ['json-twice'],
    /over the JSON, and the body is that JSON written once more/,
  ],
  [
    'UTF-16 sent',
    { body: Buffer.from(BODY, 'utf16le'), signature: hex },
    ['body-utf-16'],
    /over the text in UTF-8/,
  ],
  ['UTF-16 BE sent', { body: swapped16(BODY), signature: hex }, ['body-utf-16']],
  [
    'UTF-16 with its byte order mark sent',
    { body: Buffer.from(`\uFEFF${BODY}`, 'utf16le'), signature: hex },
    ['body-utf-16'],
  ],
  [
    'form',
    {
      body: `payload=${encodeURIComponent(BODY)}`,
      headers: [
        ['Host', 'x'],
        ['Content-Type', 'application/x-www-form-urlencoded'],
        ['X-Webhook-Signature', hex],
      ],
    },
    ['form-encoded', 'content-type-form'],
  ],
  ['not UTF-8', { body: Buffer.from(BODY, 'latin1') }, ['body-not-utf-8']],
];

describe('a wrong sender is told what it does', () => {
  test.each(SENDERS)('%s', async (_, sent, kinds, says = /./) => {
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
