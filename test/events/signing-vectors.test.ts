import { isUtf8 } from 'node:buffer';
import { createHash, createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { signatureOf } from '../../events/signing.ts';
import { parsePayload } from '../../lambda/events/envelope.ts';
import { bodyOf, type SigningVector, signingVectors } from '../support/signing-vectors.ts';

const { spellings, mistakes, vectors } = signingVectors;

const hmac = (key: Buffer, body: Buffer, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(body).digest();

const utf8 = (text: string) => Buffer.from(text, 'utf8');

function spelled(signature: Buffer): Record<string, string> {
  const base64 = signature.toString('base64');
  const base64url = base64.replaceAll('+', '-').replaceAll('/', '_');
  const bare = {
    hex: signature.toString('hex'),
    hexUpperCase: signature.toString('hex').toUpperCase(),
    base64,
    base64Unpadded: base64.replace('=', ''),
    base64url,
    base64urlUnpadded: base64url.replace('=', ''),
  };
  const prefixed = Object.entries(bare).map(([name, value]) => [`sha256=${name}`, `sha256=${value}`]);
  return { ...bare, ...Object.fromEntries(prefixed) };
}

/** CESU-8: some languages encode each UTF-16 unit separately. */
const surrogatesEncoded = (text: string) =>
  Buffer.concat(
    Array.from({ length: text.length }, (_, index) => {
      const unit = text.charCodeAt(index);
      const pair = unit >= 0xd800 && unit < 0xe000;
      return pair
        ? Buffer.from([0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)])
        : utf8(text.charAt(index));
    }),
  );

const asciiEscapes = (text: string) =>
  // The pattern has no flag u, so that each half of a surrogate pair gets its own escape.
  utf8(text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`));

/** Keys that result from each mistake. */
const wrongKeys: Record<string, (secret: string) => Buffer> = {
  wrongSecret: () => utf8('another-secret'),
  lineFeedInKey: (secret) => utf8(`${secret}\n`),
  trimmedKey: (secret) => utf8(secret.trim()),
  hexKey: (secret) => Buffer.from(secret, 'hex'),
  base64Key: (secret) => Buffer.from(secret, 'base64'),
  latin1Key: (secret) => Buffer.from(secret, 'latin1'),
  utf16Key: (secret) => Buffer.from(secret, 'utf16le'),
  normalisedKey: (secret) => utf8(secret.normalize('NFC')),
  cutKey: (secret) => utf8(secret).subarray(0, 64),
};

/** Bodies that result from each mistake. */
const wrongBodies: Record<string, (body: Buffer) => Buffer> = {
  lineFeedAdded: (body) => Buffer.concat([body, utf8('\n')]),
  trimmedBody: (body) => utf8(body.toString().trim()),
  reserialisedBody: (body) => utf8(JSON.stringify(JSON.parse(body.toString()))),
  lineEndsChanged: (body) => utf8(body.toString().replaceAll('\r\n', '\n')),
  byteOrderMarkDropped: (body) => body.subarray(utf8('\ufeff').length),
  surrogatesEncoded: (body) => surrogatesEncoded(body.toString()),
  asciiEscapes: (body) => asciiEscapes(body.toString()),
  latin1Body: (body) => Buffer.from(body.toString(), 'latin1'),
  normalisedBody: (body) => utf8(body.toString().normalize('NFC')),
  decodedBody: (body) => utf8(body.toString()),
  cutAtNul: (body) => body.subarray(0, body.indexOf(0)),
  base64Body: (body) => utf8(body.toString('base64')),
};

/** Signatures that result from each mistake. */
const wrongValues: Record<string, (signature: Buffer) => string> = {
  hexOfBase64: (signature) => utf8(signature.toString('base64')).toString('hex'),
  base64OfHex: (signature) => utf8(signature.toString('hex')).toString('base64'),
  truncated: (signature) => signature.subarray(0, 16).toString('hex'),
  upperCasePrefix: (signature) => `SHA256=${signature.toString('hex')}`,
  otherPrefix: (signature) => `v1=${signature.toString('hex')}`,
  prefixTwice: (signature) => `sha256=sha256=${signature.toString('hex')}`,
  prefixAlone: () => 'sha256=',
  spaceAfterPrefix: (signature) => `sha256= ${signature.toString('hex')}`,
  quoted: (signature) => `"${signature.toString('hex')}"`,
  twoValues: (signature) => `${signature.toString('hex')},${signature.toString('base64')}`,
  empty: () => '',
};

/** Computations used instead of HMAC-SHA256. */
const otherComputations: Record<string, (key: Buffer, body: Buffer) => string> = {
  sha1: (key, body) => hmac(key, body, 'sha1').toString('hex'),
  sha512: (key, body) => hmac(key, body, 'sha512').toString('hex'),
  sha512Cut: (key, body) => hmac(key, body, 'sha512').subarray(0, 32).toString('hex'),
  sha512Prefix: (key, body) => `sha512=${hmac(key, body, 'sha512').toString('hex')}`,
  withoutKey: (_, body) => createHash('sha256').update(body).digest('hex'),
  hashOfKeyAndBody: (key, body) => createHash('sha256').update(key).update(body).digest('hex'),
  swapped: (key, body) => hmac(body, key).toString('hex'),
};

function mistaken(mistake: string, { secret, ...vector }: SigningVector): string | undefined {
  const body = Buffer.from(vector.bodyBase64, 'base64');
  const key = utf8(secret);
  const wrongKey = wrongKeys[mistake]?.(secret);
  if (wrongKey !== undefined) return hmac(wrongKey, body).toString('hex');
  const wrongBody = wrongBodies[mistake]?.(body);
  if (wrongBody !== undefined) return hmac(key, wrongBody).toString('hex');
  return wrongValues[mistake]?.(hmac(key, body)) ?? otherComputations[mistake]?.(key, body);
}

describe.each(vectors.map((vector) => [vector.name, vector] as const))('the vector %s', (_, vector) => {
  test('accepts the HMAC of its body with its secret in every spelling', () => {
    expect(vector.accepted).toEqual(spelled(hmac(utf8(vector.secret), bodyOf(vector))));
  });

  test('refuses the signatures of its named mistakes', () => {
    const made = Object.keys(vector.refused).map((mistake) => [mistake, mistaken(mistake, vector)]);
    expect(vector.refused).toEqual(Object.fromEntries(made));
  });

  test('is signed like `npx hookctl send` and the samples of events/', () => {
    const { secret } = vector;
    const signed = (encoding: 'hex' | 'base64') => signatureOf({ body: bodyOf(vector), secret, encoding });
    expect([signed('hex'), signed('base64')]).toEqual([vector.accepted.hex, vector.accepted.base64]);
  });
});

test('only bodies that are not UTF-8 are marked, and all of them', () => {
  const named = (which: (vector: SigningVector) => boolean) => vectors.filter(which).map(({ name }) => name);
  const marked = named(({ utf8: mark }) => mark === false);
  expect(marked.length).toBeGreaterThan(0);
  expect(marked).toEqual(named((vector) => !isUtf8(bodyOf(vector))));
});

test('no vector that the service reads as an event is marked as not JSON', () => {
  const read = vectors.filter((vector) => parsePayload(bodyOf(vector)).kind === 'event');
  expect(read.map(({ name }) => name)).toContain('byte-order-mark');
  expect(read.filter(({ comment }) => comment.includes('not JSON')).map(({ name }) => name)).toEqual([]);
});

test('every spelling and mistake of the vectors is explained, and no others', () => {
  const named = (part: 'accepted' | 'refused') =>
    new Set(vectors.flatMap((vector) => Object.keys(vector[part])));
  expect({ spellings: named('accepted'), mistakes: named('refused') }).toEqual({
    spellings: new Set(Object.keys(spellings)),
    mistakes: new Set(Object.keys(mistakes)),
  });
});

test('the vectors of RFC 4231 equal its sections 4.2, 4.3 and 4.5', () => {
  const published = vectors.filter(({ name }) => name.startsWith('rfc-4231-'));
  expect(published.map(({ name, accepted }) => [name, accepted.hex])).toEqual([
    ['rfc-4231-1', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
    ['rfc-4231-2', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
    ['rfc-4231-4', '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b'],
  ]);
});
