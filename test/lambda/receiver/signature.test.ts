import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeSignature, sign, verify } from '../../../lambda/receiver/signature.ts';

const secret = 'It’s a secret';
const body = Buffer.from('{"event":"shop.updated"}');
const signature = createHmac('sha256', secret).update(body).digest();
const hex = signature.toString('hex');
const base64 = signature.toString('base64');
const base64url = signature.toString('base64url');

describe('a signature is decoded from', () => {
  test.each([
    ['hex', hex],
    ['upper-case hex', hex.toUpperCase()],
    ['base64', base64],
    ['base64 without padding', base64.replace('=', '')],
    ['base64url', base64url],
    ['base64url with padding', `${base64url}=`],
  ])('%s, with and without the prefix', (_, value) => {
    expect(decodeSignature(value)).toEqual(signature);
    expect(decodeSignature(`sha256=${value}`)).toEqual(signature);
  });
});

describe('no signature is decoded from', () => {
  test.each([
    ['a missing header', undefined],
    ['an empty header', ''],
    ['the prefix alone', 'sha256='],
    ['another prefix', `sha512=${hex}`],
    ['two prefixes', `sha256=sha256=${hex}`],
    ['63 hex digits', hex.slice(1)],
    ['65 hex digits', `${hex}0`],
    ['66 hex digits', `${hex}00`],
    ['a letter that is not hex', `${hex.slice(1)}g`],
    ['31 bytes in base64', Buffer.alloc(31, 7).toString('base64')],
    ['33 bytes in base64', Buffer.alloc(33, 7).toString('base64')],
    ['both base64 alphabets at once', `${'+-'.padEnd(43, 'A')}=`],
    ['two values', `${hex},${hex}`],
    ['two values and a space', `${hex}, ${base64}`],
    ['white space around it', ` ${hex} `],
    ['a line feed behind it', `${hex}\n`],
    ['64 characters that are not hex', 'é'.repeat(64)],
  ])('%s', (_, value) => {
    expect(decodeSignature(value)).toBeUndefined();
  });
});

describe('a signature is verified', () => {
  test('against each of the secrets', () => {
    expect(verify(body, signature, [secret])).toBe(true);
    expect(verify(body, signature, ['another', secret])).toBe(true);
    expect(verify(body, signature, ['another'])).toBe(false);
    expect(verify(body, signature, [])).toBe(false);
  });

  test('over the bytes of the body, all of them', () => {
    expect(verify(Buffer.from(`${body} `), signature, [secret])).toBe(false);
    expect(verify(Buffer.alloc(0), sign(Buffer.alloc(0), secret), [secret])).toBe(true);
  });

  test('as 32 bytes: a shorter one is refused, not an error', () => {
    expect(verify(body, signature.subarray(1), [secret])).toBe(false);
  });

  test('with the secret as UTF-8 bytes', () => {
    const expected = createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest();
    expect(sign(body, secret)).toEqual(expected);
  });
});

test('agrees with RFC 4231, test case 2', () => {
  expect(sign(Buffer.from('what do ya want for nothing?'), 'Jefe').toString('hex')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

test('one changed bit of the signature or the body is enough to refuse it', () => {
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
