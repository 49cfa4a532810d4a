import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { bodyOf, signingVectors } from '../../../test/support/signing-vectors.ts';
import { explainSignature } from '../../check-sender/explain-signature.ts';

/** Hex digits that are also base64, with letters in both cases: each way to decode the secret gives another key. */
const SECRET = 'A0b1C2d3E4f5A6b7';

/** A body whose parts can all be written differently: white space, slashes, digits, characters beyond ASCII. */
const BODY = `{
 "timestamp": "2026-01-31T09:00:00Z",
 "event":"shop.updated",
 "data": {"shop_id": "shop/1", "name": "Café <A&B> 😀 e\u0301", "rating": 1.0}
}\n`;

type Bytes = string | Uint8Array;

const sign = (body: Bytes, key: Bytes = SECRET, hash = 'sha256') =>
  createHmac(hash, key).update(body).digest();

const hex = sign(BODY).toString('hex');
const base64 = sign(BODY).toString('base64');
const compact = JSON.stringify(JSON.parse(BODY));
/** The body as other languages write it. */
const PYTHON =
  '{"timestamp": "2026-01-31T09:00:00Z", "event": "shop.updated", "data": {"shop_id": "shop/1", "name": "Caf\\u00e9 <A&B> \\ud83d\\ude00 e\\u0301", "rating": 1.0}}';
const PHP =
  '{"timestamp":"2026-01-31T09:00:00Z","event":"shop.updated","data":{"shop_id":"shop\\/1","name":"Caf\\u00e9 <A&B> \\ud83d\\ude00 e\\u0301","rating":1.0}}';
const GO =
  '{"data":{"name":"Café \\u003cA\\u0026B\\u003e 😀 e\u0301","rating":1.0,"shop_id":"shop/1"},"event":"shop.updated","timestamp":"2026-01-31T09:00:00Z"}';
interface Sent {
  readonly body?: Bytes;
  /** Value of the header, or the digest. */
  readonly signature?: Bytes;
  readonly headers?: readonly (readonly [string, string])[];
  readonly query?: string;
  readonly secrets?: readonly string[];
}

function explained({ body = BODY, signature = sign(BODY), headers, query = '', secrets = [SECRET] }: Sent) {
  const value = typeof signature === 'string' ? signature : Buffer.from(signature).toString('hex');
  const sent = headers ?? [['X-Webhook-Signature', value] as const];
  return explainSignature({ headers: sent, query, body: Buffer.from(body) }, secrets);
}

const kinds = (sent: Sent) =>
  explained(sent)
    .map(({ kind }) => kind)
    .join(' ');

test.each(
  signingVectors.vectors.flatMap((vector) =>
    Object.entries(vector.accepted).map(([name, value]) => ({ name, value, vector })),
  ),
)('a right signature has no explanation: $name', ({ value, vector }) => {
  expect(explained({ body: bodyOf(vector), signature: value, secrets: [vector.secret] })).toEqual([]);
});

/** Vectors whose mistake is too rare to search for, or unknown. */
const UNEXPLAINED = [
  'wrongSecret',
  'prefixAlone',
  'surrogatesEncoded',
  'cutAtNul',
  'base64Body',
  'sha512Cut',
  'swapped',
  'normalisedBody',
  'latin1Key',
  'utf16Key',
  'normalisedKey',
  'cutKey',
];

test.each(
  signingVectors.vectors.flatMap((vector) =>
    Object.entries(vector.refused).map(([name, value]) => ({ name, value, vector })),
  ),
)('a refused vector has an explanation: $name', ({ name, value, vector }) => {
  const found = explained({ body: bodyOf(vector), signature: value, secrets: [vector.secret] });
  expect(found.length).toBeGreaterThan(0);
  if (!UNEXPLAINED.includes(name)) {
    expect(found.map(({ kind }) => kind)).not.toContain('signature-other');
  }
});

describe('the likely mistake is named', () => {
  test.each<[string, Sent]>([
    ...[compact, JSON.stringify(JSON.parse(BODY), null, 2), PYTHON, PHP, GO].map((text): [string, Sent] => [
      'json-reserialised',
      { signature: sign(text) },
    ]),
    ['line-feed', { signature: sign(BODY.trimEnd()) }],
    ['line-feed', { signature: sign(`${BODY}\n`) }],
    ['trimmed', { body: ` ${BODY} `, signature: sign(BODY.trim()) }],
    ['line-breaks', { body: BODY.replaceAll('\n', '\r\n'), signature: hex }],
    ['byte-order-mark', { signature: sign(`\uFEFF${BODY}`) }],
    ['charset', { signature: sign(Buffer.from(BODY, 'latin1')) }],
    ['charset', { signature: sign(Buffer.from(BODY, 'utf16le')) }],
    ['charset', { body: Buffer.from(BODY, 'utf16le'), signature: hex }],
    ['signed-nothing', { signature: sign('') }],
    ['key-white-space', { signature: sign(BODY, `${SECRET}\n`) }],
    ['key-white-space', { signature: sign(BODY, ` ${SECRET}`) }],
    ['key-trimmed', { signature: sign(BODY, SECRET), secrets: [`${SECRET}\n`] }],
    ['key-quoted', { signature: sign(BODY, `"${SECRET}"`) }],
    ['key-decoded', { signature: sign(BODY, Buffer.from('ab12ab12', 'hex')), secrets: ['ab12ab12'] }],
    ['key-decoded', { signature: sign(BODY, Buffer.from(SECRET, 'base64')) }],
    ['key-previous', { signature: sign(BODY, 'old one'), secrets: [SECRET, 'old one'] }],
    ['key-missing', { signature: sign(BODY, '') }],
    ['key-name', { signature: sign(BODY, '$WEBHOOK_SECRET') }],
    ['key-local', { signature: sign(BODY, LOCAL_SECRET) }],
    ['json-reserialised key-white-space', { signature: sign(compact, `${SECRET}\n`) }],
    ['other-hash signature-prefix', { signature: `sha1=${sign(BODY, SECRET, 'sha1').toString('hex')}` }],
    ['signature-quoted', { signature: `b'${base64}'` }],
    ['signature-scheme', { signature: `Bearer ${hex}` }],
    ['signature-spelling', { signature: `${base64}=` }],
    ['signature-malformed', { signature: 'not a signature' }],
    ['signature-no-value', { signature: '[object Object]' }],
    ['signature-no-value', { signature: '' }],
    ['signature-other', { signature: sign(BODY, 'another') }],
    ['secret-sent', { signature: SECRET }],
    [
      'signature-twice',
      {
        headers: [
          ['X-Webhook-Signature', hex],
          ['x-webhook-signature', hex],
        ],
      },
    ],
    ['signature-missing', { headers: [['X-Request-Id', '1']] }],
    ['signature-elsewhere', { headers: [['X-Hub-Signature-256', `sha256=${hex}`]] }],
    ['signature-elsewhere', { headers: [], query: `s=${hex}` }],
    ['signature-elsewhere secret-sent', { headers: [['Authorization', `Bearer ${SECRET}`]] }],
  ])('%s', (expected, sent) => {
    expect(kinds(sent)).toBe(expected);
  });

  test('never with a value of the request', () => {
    const texts = [
      { signature: sign(compact, `${SECRET}\n`) },
      { headers: [['X-Secret-Name', hex] as const] },
      { signature: 'something private' },
    ].flatMap((sent) => JSON.stringify(explained(sent)));
    for (const text of texts) expect(text).not.toMatch(/A0b1|X-Secret-Name|private/);
  });
});

test('a large body is explained without all its forms', () => {
  const body = JSON.stringify({ data: { text: 'é/<'.repeat(1_000_000) } });
  expect(kinds({ body, signature: sign(body, 'another') })).toBe('signature-other');
  expect(kinds({ body, signature: sign(`${body}\n`) })).toBe('line-feed');
});
