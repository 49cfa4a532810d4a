import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeSignature, verify } from '../../../lambda/receiver/signature.ts';
import { bodyOf, signingVectors } from '../../support/signing-vectors.ts';

const { vectors } = signingVectors;

/** Checks a signature as the receiver does: the header's value must be one signature, and must match the secret. */
function accepts(value: string, body: Uint8Array, secret: string): boolean {
  const signature = decodeSignature(value);
  return signature !== undefined && verify(body, signature, [secret]);
}

describe.each(vectors.map((vector) => [vector.name, vector] as const))('of the vector %s', (_, vector) => {
  const { accepted, refused, secret } = vector;
  const body = bodyOf(vector);
  const judged = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, accepts(value, body, secret)]));
  const all = (values: Readonly<Record<string, string>>, verdict: boolean) =>
    Object.fromEntries(Object.keys(values).map((name) => [name, verdict]));

  test('every spelling is accepted', () => {
    expect(judged(accepted)).toEqual(all(accepted, true));
  });

  test('every mistake is refused', () => {
    expect(judged(refused)).toEqual(all(refused, false));
  });
});

const [vector] = vectors;
if (vector === undefined) throw new Error('events/signing-vectors.json has no vectors');
const { secret } = vector;
const { hex } = vector.accepted;
const body = bodyOf(vector);
const signature = Buffer.from(hex, 'hex');

describe('nothing is decoded from', () => {
  test.each([
    ['a missing header', undefined],
    ['63 hex digits', hex.slice(1)],
    ['65 hex digits', `${hex}0`],
    ['66 hex digits', `${hex}00`],
    ['a letter that is not hex', `${hex.slice(1)}g`],
    ['31 bytes in base64', Buffer.alloc(31, 7).toString('base64')],
    ['33 bytes in base64', Buffer.alloc(33, 7).toString('base64')],
    ['both base64 alphabets at once', `${'+-'.padEnd(43, 'A')}=`],
    // HTTP servers remove white space at both ends of a header's value (RFC 9110, 5.5).
    ['white space around it', ` ${hex} `],
    ['a line feed behind it', `${hex}\n`],
    ['64 characters that are not hex', 'é'.repeat(64)],
  ])('%s', (_, value) => {
    expect(decodeSignature(value)).toBeUndefined();
  });
});

describe('a signature is verified', () => {
  test('with each of the secrets', () => {
    expect(verify(body, signature, [secret])).toBe(true);
    expect(verify(body, signature, ['another', secret])).toBe(true);
    expect(verify(body, signature, ['another'])).toBe(false);
    expect(verify(body, signature, [])).toBe(false);
  });

  test('as 32 bytes: a shorter one is refused, not an error', () => {
    expect(verify(body, signature.subarray(1), [secret])).toBe(false);
  });
});

test('a signature or body with one changed bit is refused', () => {
  fc.assert(
    fc.property(fc.nat(255), fc.nat(body.length * 8 - 1), (signatureBit, bodyBit) => {
      expect(verify(body, flip(signature, signatureBit), [secret])).toBe(false);
      expect(verify(flip(body, bodyBit), signature, [secret])).toBe(false);
    }),
  );
});

function flip(bytes: Uint8Array, bit: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  return flipped;
}
