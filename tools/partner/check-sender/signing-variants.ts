import { createHash, createHmac } from 'node:crypto';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { utf16Of } from './encodings.ts';
import { type Finding, type FindingName, finding } from './finding.ts';

/** A text stands for its bytes in UTF-8. */
export type SignedBytes = string | Uint8Array;

/** What a signature is made from. */
export interface SigningInput {
  readonly message: SignedBytes;
  readonly key: SignedBytes;
  readonly compute: (key: SignedBytes, message: SignedBytes) => Buffer;
}

/** A wrong value that the sender may have used, and the mistake that leads to it. */
export interface SigningVariant {
  readonly mistake: Finding;
  readonly change: Partial<SigningInput>;
}

/** What senders do, by the finding and the words that complete it, most likely first. */
export type VariantTable<Make> = Readonly<Partial<Record<FindingName, Readonly<Record<string, Make>>>>>;

export function variantsIn<Make>(table: VariantTable<Make>): [mistake: Finding, make: Make][] {
  return Object.entries(table).flatMap(([name, rows]) =>
    Object.entries(rows).map(([words, make]): [Finding, Make] => [
      finding(name as FindingName, { words }),
      make,
    ]),
  );
}

/** All variants of a secret and of the computation, most likely first. */
export function signingVariants(secret: string): SigningVariant[] {
  const right = Buffer.from(secret);
  return [
    ...variantsIn(KEYS).flatMap(([mistake, make]) =>
      make(secret, right)
        .filter((key) => !Buffer.from(key).equals(right))
        .map((key) => ({ mistake, change: { key } })),
    ),
    ...variantsIn(ALGORITHMS).flatMap(([mistake, all]) =>
      all.map((compute) => ({ mistake, change: { compute } })),
    ),
  ];
}

const HEX = /^(?:[0-9a-f]{2})+$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{4,}={0,2}$/;

const decoded = (text: string, encoding: 'hex' | 'base64') =>
  (encoding === 'hex' ? HEX : BASE64).test(text) ? [Buffer.from(text, encoding)] : [];

/** The part after a prefix that other services use before a secret in base64. */
const afterPrefix = (secret: string) => (secret.startsWith('whsec_') ? [secret.slice('whsec_'.length)] : []);

/** Sizes of blocks, digests and database columns, in bytes. A secret may have been truncated to one of them. */
const CUT_AFTER = [16, 32, 50, 64, 72, 100, 128];

/** How shells and templates name a setting. */
const SETTING_NAMES = ['$_', `$${'{_}'}`, '{{_}}', '{{ _ }}', '%_%', '$env:_', 'process.env._', '_'];

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

type KeyMaker = (secret: string, bytes: Buffer) => SignedBytes[];

/** Keys that the sender may have derived from the secret. One that equals it is not a mistake. */
const KEYS: VariantTable<KeyMaker> = {
  'key-trimmed': {
    'the secret without white space around it, but ours has white space': (secret) => [secret.trim()],
  },
  'key-white-space': {
    'the secret followed by a line break, space or zero byte': (secret) =>
      ['\n', '\r\n', ' ', '\0'].map((end) => secret + end),
    'the secret after a space, tab or line break': (secret) =>
      [' ', '\t', '\n', '\r\n'].map((start) => start + secret),
  },
  'key-twice/pasted': {
    'the secret twice in a row': (secret) => ['', '\n', ' '].map((sign) => secret + sign + secret),
  },
  'key-quoted': { 'the secret in quotation marks': (secret) => [`"${secret}"`, `'${secret}'`] },
  'key-hex-decoded': { 'the secret decoded from hex': (secret) => decoded(secret, 'hex') },
  'key-base64-decoded': {
    'the secret decoded from base64': (secret) => decoded(secret, 'base64'),
    'the part after the prefix, decoded from base64': (secret) =>
      afterPrefix(secret).flatMap((rest) => decoded(rest, 'base64')),
  },
  'key-without-prefix': { 'the secret without its prefix': afterPrefix },
  'key-normalised': {
    'the secret in Unicode form NFC, but ours is in another form': (secret) => [secret.normalize('NFC')],
    'the secret in Unicode form NFD, but ours is in another form': (secret) => [secret.normalize('NFD')],
  },
  'key-cut': {
    'the secret cut off at a usual length, such as 32 bytes': (_, bytes) =>
      CUT_AFTER.map((length) => bytes.subarray(0, length)),
    'the secret without its last character': (secret) => [secret.slice(0, -1)],
    'the secret without its first character': (secret) => [secret.slice(1)],
  },
  'key-latin-1': {
    'the secret in Latin-1': (secret) => [Buffer.from(secret, 'latin1')],
    'the secret decoded as Latin-1 and encoded as UTF-8': (_, bytes) => [bytes.toString('latin1')],
  },
  'key-utf-16': { 'the secret in UTF-16': utf16Of },
  'key-encoded': {
    'the base64 of the secret': (_, bytes) => [bytes.toString('base64')],
    'the hex digits of the secret': (_, bytes) => [bytes.toString('hex')],
    'the URL-encoded secret': (secret) => [encodeURIComponent(secret.toWellFormed())],
  },
  'key-hashed': {
    'the SHA-256 of the secret': (_, bytes) => [sha256(bytes)],
    'the SHA-256 of the secret in hex': (_, bytes) => [sha256(bytes).toString('hex')],
  },
  'key-case': {
    'the secret in lower case': (secret) => [secret.toLowerCase()],
    'the secret in upper case': (secret) => [secret.toUpperCase()],
  },
  'key-missing': { 'empty, or a text such as undefined': () => ['', 'undefined', 'null', 'None', 'nil'] },
  'key-name': {
    'the name of a setting, such as $WEBHOOK_SECRET, instead of its value': () =>
      SETTING_NAMES.map((name) => name.replace('_', 'WEBHOOK_SECRET')),
  },
  'key-local': { 'the secret of the local stack': () => [LOCAL_SECRET] },
};

type Compute = SigningInput['compute'];

const hmacWith =
  (hash: string): Compute =>
  (key, message) =>
    createHmac(hash, key).update(message).digest();

export const hmacSha256 = hmacWith('sha256');

/** The hash of these parts, one after the other. */
const hashWith =
  (name: string, partsOf: (key: SignedBytes, message: SignedBytes) => SignedBytes[]): Compute =>
  (key, message) => {
    const hash = createHash(name.replace('-', ''));
    for (const part of partsOf(key, message)) hash.update(part);
    return hash.digest();
  };

const SEPARATORS = ['', '.', ':', '|', '\n'];

const plainHashes = (name: string): [words: string, Compute[]][] => [
  [`the ${name} of the body alone: a plain hash, not an HMAC`, [hashWith(name, (_, message) => [message])]],
  [
    `the ${name} of the secret and the body: a plain hash, not an HMAC`,
    SEPARATORS.flatMap((sign) => [
      hashWith(name, (key, message) => [key, sign, message]),
      hashWith(name, (key, message) => [message, sign, key]),
    ]),
  ],
];

const ALGORITHMS: VariantTable<readonly Compute[]> = {
  'other-hash': Object.fromEntries(
    ['SHA1', 'SHA512', 'SHA384', 'SHA224', 'MD5', 'SHA3-256'].map((hash) => [
      `HMAC-${hash}, not HMAC-SHA256`,
      // A longer HMAC that was truncated to 32 bytes has the right length.
      [
        hmacWith(hash),
        (key: SignedBytes, message: SignedBytes) => hmacWith(hash)(key, message).subarray(0, 32),
      ],
    ]),
  ),
  'plain-hash': Object.fromEntries(['SHA-256', 'SHA-1', 'MD5', 'SHA-512'].flatMap(plainHashes)),
  'key-and-body-swapped': {
    'made with the body as the key and the secret as the message': [
      (key, message) => hmacSha256(message, key),
    ],
  },
  'digest-twice': {
    'an HMAC of the HMAC. Call the function once': [
      (key, message) => hmacSha256(key, hmacSha256(key, message)),
    ],
  },
};
