import { isUtf8 } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { signatureOf } from '../../events/signing.ts';
import { parsePayload } from '../../lambda/events/envelope.ts';
import { bodyOf, type SigningVector, signingVectors } from '../support/signing-vectors.ts';

const { spellings, mistakes, vectors } = signingVectors;

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

describe.each(vectors.map((vector) => [vector.name, vector] as const))('the vector %s', (_, vector) => {
  test('accepts the HMAC of its body with its secret in every spelling', () => {
    expect(vector.accepted).toEqual(
      spelled(createHmac('sha256', vector.secret).update(bodyOf(vector)).digest()),
    );
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
