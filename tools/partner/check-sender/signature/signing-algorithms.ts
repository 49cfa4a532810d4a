import { createHash, createHmac } from 'node:crypto';
import type { Mistake } from '../finding.ts';

/** A computation that somebody may have taken for HMAC-SHA256. */
export interface SigningAlgorithm {
  readonly mistake: Mistake;
  readonly compute: (key: Uint8Array, message: Uint8Array) => Buffer;
}

export const hmacSha256: SigningAlgorithm['compute'] = (key, message) =>
  createHmac('sha256', key).update(message).digest();

const REMEDY = 'Use HMAC with SHA-256: the secret is the key, the body is the message.';

const otherHash = (name: string, shown: string): SigningAlgorithm => ({
  mistake: { kind: 'other-hash', what: `The signature is HMAC-${shown}, not HMAC-SHA256.`, remedy: REMEDY },
  compute: (key, message) => createHmac(name, key).update(message).digest(),
});

/** A plain hash of these parts, one after the other. */
const plainHash = (
  name: string,
  what: string,
  parts: (key: Uint8Array, message: Uint8Array) => readonly (Uint8Array | string)[],
): SigningAlgorithm => ({
  mistake: {
    kind: 'plain-hash',
    what: `The signature is ${what}, which is a hash and no HMAC.`,
    remedy: REMEDY,
  },
  compute: (key, message) => {
    const hash = createHash(name);
    for (const part of parts(key, message)) hash.update(part);
    return hash.digest();
  },
});

/** The first 32 bytes of a longer HMAC look like the right one. */
const cutHash = (name: string, shown: string): SigningAlgorithm => ({
  mistake: {
    kind: 'other-hash',
    what: `The signature is the first 32 bytes of HMAC-${shown}, not HMAC-SHA256.`,
    remedy: REMEDY,
  },
  compute: (key, message) => createHmac(name, key).update(message).digest().subarray(0, 32),
});

/** The likeliest first. */
export const signingAlgorithms: readonly SigningAlgorithm[] = [
  otherHash('sha1', 'SHA1'),
  otherHash('sha512', 'SHA512'),
  otherHash('sha384', 'SHA384'),
  otherHash('sha224', 'SHA224'),
  otherHash('md5', 'MD5'),
  cutHash('sha512', 'SHA512'),
  cutHash('sha384', 'SHA384'),
  otherHash('sha3-256', 'SHA3-256'),
  plainHash('sha256', 'the SHA-256 of the body alone, without the secret', (_, message) => [message]),
  plainHash('sha256', 'the SHA-256 of the secret and the body', (key, message) => [key, message]),
  plainHash('sha256', 'the SHA-256 of the body and the secret', (key, message) => [message, key]),
  ...['.', ':', '|', '\n'].flatMap((separator) => [
    plainHash('sha256', 'the SHA-256 of the secret and the body', (key, message) => [
      key,
      separator,
      message,
    ]),
    plainHash('sha256', 'the SHA-256 of the body and the secret', (key, message) => [
      message,
      separator,
      key,
    ]),
  ]),
  plainHash('sha1', 'the SHA-1 of the body alone', (_, message) => [message]),
  plainHash('sha1', 'the SHA-1 of the secret and the body', (key, message) => [key, message]),
  plainHash('md5', 'the MD5 of the body alone', (_, message) => [message]),
  plainHash('md5', 'the MD5 of the secret and the body', (key, message) => [key, message]),
  plainHash('sha512', 'the SHA-512 of the body alone', (_, message) => [message]),
  {
    mistake: {
      kind: 'key-and-body-swapped',
      what: 'The key and the message changed places: the body is the key, and the secret was signed.',
      remedy: REMEDY,
    },
    compute: (key, message) => hmacSha256(message, key),
  },
  {
    mistake: {
      kind: 'digest-twice',
      what: 'The signature is an HMAC of the HMAC.',
      remedy: 'Call the function once: what it gives is the signature.',
    },
    compute: (key, message) => hmacSha256(key, hmacSha256(key, message)),
  },
];
