import { createHash, createHmac } from 'node:crypto';
import { LOCAL_SECRET } from '../../events/signing.ts';
import { utf16Of } from './encodings.ts';
import { type Finding, type FindingName, finding } from './finding.ts';

/** Bytes to sign. A string stands for its bytes in UTF-8. */
export type SignedBytes = string | Uint8Array;

/** Input of the computation of a signature. */
interface SigningInput {
  readonly message: SignedBytes;
  readonly key: SignedBytes;
  readonly compute: (key: SignedBytes, message: SignedBytes) => Buffer;
}

/** A mistake, and the values that the sender would have used because of it. */
export interface SigningVariant {
  readonly mistake: Finding;
  readonly change: Partial<SigningInput>;
}

/** Functions that imitate mistakes, by the finding to report, the most likely first. */
export type VariantTable<Make> = Readonly<Partial<Record<FindingName, Make>>>;

export const variantsIn = <Make>(table: VariantTable<Make>): [mistake: Finding, make: Make][] =>
  Object.entries(table).map(([name, make]) => [finding(name as FindingName), make as Make]);

/** All variants of a secret and of the computation, the most likely first. */
export function signingVariants(secret: string): SigningVariant[] {
  const right = Buffer.from(secret);
  const keys = variantsIn(KEYS).flatMap(([mistake, make]) =>
    make(secret, right).map((key) => ({ mistake, change: { key } })),
  );
  return [...keys.filter(({ change: { key } }) => !Buffer.from(key).equals(right)), ...ALGORITHMS];
}

const HEX = /^(?:[0-9a-f]{2})+$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{4,}={0,2}$/;

const decoded = (text: string, encoding: 'hex' | 'base64') =>
  (encoding === 'hex' ? HEX : BASE64).test(text) ? [Buffer.from(text, encoding)] : [];

/** The part of a secret after `whsec_`, which other services write before base64. */
const afterPrefix = (secret: string) => (secret.startsWith('whsec_') ? [secret.slice('whsec_'.length)] : []);

/**
 * Lengths in bytes to which a secret may have been truncated: sizes of blocks, digests and database columns.
 */
const CUT_AFTER = [16, 32, 50, 64, 72, 100, 128];
/** Ways in which shells and templates refer to a setting; `_` stands for its name. */
const SETTING_NAMES = ['$_', `$${'{_}'}`, '{{_}}', '{{ _ }}', '%_%', '$env:_', 'process.env._', '_'];

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

/** Keys that the sender may have derived from the secret. A key that equals the secret is not a mistake. */
const KEYS: VariantTable<(secret: string, bytes: Buffer) => SignedBytes[]> = {
  'key-trimmed': (secret) => [secret.trim()],
  'key-white-space/after': (secret) => ['\n', '\r\n', ' ', '\0'].map((end) => secret + end),
  'key-white-space/before': (secret) => [' ', '\t', '\n', '\r\n'].map((start) => start + secret),
  'key-twice/pasted': (secret) => ['', '\n', ' '].map((sign) => secret + sign + secret),
  'key-quoted': (secret) => [`"${secret}"`, `'${secret}'`],
  'key-hex-decoded': (secret) => decoded(secret, 'hex'),
  'key-base64-decoded': (secret) => decoded(secret, 'base64'),
  'key-base64-decoded/prefix': (secret) => afterPrefix(secret).flatMap((rest) => decoded(rest, 'base64')),
  'key-without-prefix': afterPrefix,
  'key-normalised/nfc': (secret) => [secret.normalize('NFC')],
  'key-normalised/nfd': (secret) => [secret.normalize('NFD')],
  'key-cut': (_, bytes) => CUT_AFTER.map((length) => bytes.subarray(0, length)),
  'key-cut/last': (secret) => [secret.slice(0, -1)],
  'key-cut/first': (secret) => [secret.slice(1)],
  'key-latin-1': (secret) => [Buffer.from(secret, 'latin1')],
  'key-latin-1/decoded': (_, bytes) => [bytes.toString('latin1')],
  'key-utf-16': utf16Of,
  'key-encoded/base64': (_, bytes) => [bytes.toString('base64')],
  'key-encoded/hex': (_, bytes) => [bytes.toString('hex')],
  'key-encoded/url': (secret) => [encodeURIComponent(secret.toWellFormed())],
  'key-hashed': (_, bytes) => [sha256(bytes)],
  'key-hashed/hex': (_, bytes) => [sha256(bytes).toString('hex')],
  'key-case/lower': (secret) => [secret.toLowerCase()],
  'key-case/upper': (secret) => [secret.toUpperCase()],
  'key-missing': () => ['', 'undefined', 'null', 'None', 'nil'],
  'key-name': () => SETTING_NAMES.map((name) => name.replace('_', 'WEBHOOK_SECRET')),
  'key-local': () => [LOCAL_SECRET],
};

type Compute = SigningInput['compute'];

const hmacWith =
  (hash: string): Compute =>
  (key, message) =>
    createHmac(hash, key).update(message).digest();

export const hmacSha256 = hmacWith('sha256');

/** A plain hash of parts, joined in order. */
function plainHash(name: string, ...parts: SignedBytes[]): Buffer {
  const hash = createHash(name.replace('-', ''));
  for (const part of parts) hash.update(part);
  return hash.digest();
}

const algorithm = (mistake: Finding, compute: Compute): SigningVariant => ({ mistake, change: { compute } });

/** Computations that senders may have used instead of HMAC-SHA256. */
const ALGORITHMS: readonly SigningVariant[] = [
  ...['SHA1', 'SHA512', 'SHA384', 'SHA224', 'MD5', 'SHA3-256'].flatMap((hash) => {
    const mistake = finding('other-hash', { hash });
    const compute = hmacWith(hash);
    // A longer HMAC truncated to 32 bytes, which therefore has the right length.
    const cut: Compute = (key, message) => compute(key, message).subarray(0, 32);
    return [algorithm(mistake, compute), algorithm(mistake, cut)];
  }),
  ...['SHA-256', 'SHA-1', 'MD5', 'SHA-512'].flatMap((hash) => {
    const mistake = finding('plain-hash/both', { hash });
    return [
      algorithm(finding('plain-hash/body', { hash }), (_, message) => plainHash(hash, message)),
      ...['', '.', ':', '|', '\n'].flatMap((sign) => [
        algorithm(mistake, (key, message) => plainHash(hash, key, sign, message)),
        algorithm(mistake, (key, message) => plainHash(hash, message, sign, key)),
      ]),
    ];
  }),
  algorithm(finding('key-and-body-swapped'), (key, message) => hmacSha256(message, key)),
  algorithm(finding('digest-twice'), (key, message) => hmacSha256(key, hmacSha256(key, message))),
];
