import { isUtf8 } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { signatureOf } from '../../../events/signing.ts';
import { decodeSignature, verify } from '../../../lambda/receiver/signature.ts';
import { bodyOf, signingVectors } from '../../support/signing-vectors.ts';

const { vectors, spellings, mistakes } = signingVectors;

/** Checks a signature as the receiver does: the header's value must be one signature, and must match the secret. */
function accepts(value: string, body: Uint8Array, secret: string): boolean {
  const signature = decodeSignature(value);
  return signature !== undefined && verify(body, signature, [secret]);
}

describe('the test vectors for partners', () => {
  test.each(vectors.map((each) => [each.name, each] as const))('are right: %s', (_, each) => {
    const { accepted, refused, secret } = each;
    const body = bodyOf(each);
    const hmac = createHmac('sha256', secret).update(body).digest();
    expect(accepted.hex).toBe(hmac.toString('hex'));
    expect(signatureOf({ body, secret, encoding: 'base64' })).toBe(hmac.toString('base64'));
    const judged = (values: Readonly<Record<string, string>>, verdict: boolean) =>
      Object.entries(values).filter(([, value]) => accepts(value, body, secret) !== verdict);
    expect([judged(accepted, true), judged(refused, false)]).toEqual([[], []]);
    // An HTTP API changes a body that is not UTF-8.
    expect(each.utf8 === false).toBe(!isUtf8(body));
  });

  test('have every spelling and mistake that they explain, and RFC 4231’s test case 2', () => {
    const named = (part: 'accepted' | 'refused') =>
      new Set(vectors.flatMap((each) => Object.keys(each[part])));
    expect(named('accepted')).toEqual(new Set(Object.keys(spellings)));
    expect(named('refused')).toEqual(new Set(Object.keys(mistakes)));
    expect(vectors.find(({ name }) => name === 'rfc-4231-2')?.accepted.hex).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });
});

const [vector] = vectors;
if (vector === undefined) throw new Error('events/signing-vectors.json has no vectors');
const { secret } = vector;
const { hex } = vector.accepted;
const body = bodyOf(vector);
const signature = Buffer.from(hex, 'hex');

test.each([
  ['a missing header', undefined],
  ['63 hex digits', hex.slice(1)],
  ['31 bytes in base64', Buffer.alloc(31, 7).toString('base64')],
  ['both base64 alphabets at once', `${'+-'.padEnd(43, 'A')}=`],
  // HTTP servers remove white space at both ends of a header's value (RFC 9110, 5.5).
  ['white space around it', ` ${hex} `],
  ['a line feed behind it', `${hex}\n`],
])('nothing is decoded from %s', (_, value) => {
  expect(decodeSignature(value)).toBeUndefined();
});

test('a signature is verified with each of the secrets, as 32 bytes', () => {
  expect(verify(body, signature, [secret])).toBe(true);
  expect(verify(body, signature, ['another', secret])).toBe(true);
  expect(verify(body, signature, ['another'])).toBe(false);
  expect(verify(body, signature, [])).toBe(false);
  expect(verify(body, signature.subarray(1), [secret])).toBe(false);
});
