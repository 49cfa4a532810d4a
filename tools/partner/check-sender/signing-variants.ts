import { createHash, createHmac } from 'node:crypto';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { UTF_16 } from './encodings.ts';
import type { Mistake } from './finding.ts';
import type { Bytes, Variant } from './signed-messages.ts';

/** A computation that the sender may have used instead of HMAC-SHA256. */
export interface Algorithm {
  readonly mistake: Mistake;
  readonly compute: (key: Bytes, message: Bytes) => Buffer;
}

export const hmacSha256: Algorithm['compute'] = (key, message) => hmac('sha256', key, message);

const hmac = (hash: string, key: Bytes, message: Bytes) => createHmac(hash, key).update(message).digest();

const HEX = /^(?:[0-9a-f]{2})+$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{4,}={0,2}$/;

/** Sizes of blocks, digests and database columns, in bytes. A secret may have been truncated to one of them. */
const CUT_AFTER = [16, 32, 50, 64, 72, 100, 128];

/** Texts around the name of a setting, in shells and templates. */
const NAME_SIGNS = [
  ['', ''],
  ['$', ''],
  ['${', '}'],
  ['$env:', ''],
  ['%', '%'],
  ['{{', '}}'],
  ['{{ ', ' }}'],
  ['process.env.', ''],
] as const;

/** Prefix that other services use before a secret in base64. */
const PREFIX = 'whsec_';

const USE_BYTES = 'Use the UTF-8 bytes of the secret. Do not decode it.';

/** Advice by kind of key. By default: use the bytes of the secret. */
const KEY_REMEDIES: Readonly<Record<string, string>> = {
  'key-trimmed': 'Agree on the secret without the white space. One side has pasted it with the secret.',
  'key-white-space': 'Remove white space when you read the secret from a file or variable.',
  'key-quoted': 'Remove the quotation marks. They are not part of the secret.',
  'key-cut': 'Use the whole secret. HMAC accepts a key of any length.',
  'key-twice': 'Set the secret again, once. It was probably pasted twice.',
  'key-missing': 'Check that the setting with the secret is read. It has no value.',
  'key-name': 'Use the value of the setting. In single quotation marks, a shell does not replace $NAME.',
  'key-local': 'Sign with the agreed secret, or start this checker with the secret that you use.',
};

/**
 * Wrong keys that the sender may have derived from the secret, most likely first. `what` completes "The key is …". A
 * key that equals the secret is not a mistake.
 */
const KEYS: readonly (readonly [
  kind: string,
  what: string,
  keys: (secret: string, bytes: Buffer) => Bytes[],
])[] = [
  [
    'key-trimmed',
    'the secret without white space around it, but ours has white space',
    (secret) => [secret.trim()],
  ],
  [
    'key-white-space',
    'the secret followed by a line break, space or zero byte',
    (secret) => ['\n', '\r\n', ' ', '\0'].map((end) => `${secret}${end}`),
  ],
  [
    'key-white-space',
    'the secret after a space, tab or line break',
    (secret) => [' ', '\t', '\n', '\r\n'].map((start) => `${start}${secret}`),
  ],
  [
    'key-twice',
    'the secret twice in a row',
    (secret) => ['', '\n', ' '].map((sign) => secret + sign + secret),
  ],
  ['key-quoted', 'the secret in quotation marks', (secret) => [`"${secret}"`, `'${secret}'`]],
  ['key-hex-decoded', 'the secret decoded from hex', (secret) => decoded(secret, HEX, 'hex')],
  ['key-base64-decoded', 'the secret decoded from base64', (secret) => decoded(secret, BASE64, 'base64')],
  [
    'key-base64-decoded',
    'the part after the prefix, decoded from base64',
    (secret) => afterPrefix(secret).flatMap((rest) => decoded(rest, BASE64, 'base64')),
  ],
  ['key-without-prefix', 'the secret without its prefix', afterPrefix],
  [
    'key-normalised',
    'the secret in Unicode form NFC, but ours is in another form',
    (secret) => [secret.normalize('NFC')],
  ],
  [
    'key-normalised',
    'the secret in Unicode form NFD, but ours is in another form',
    (secret) => [secret.normalize('NFD')],
  ],
  ...CUT_AFTER.map((length): (typeof KEYS)[number] => [
    'key-cut',
    `the secret cut off after ${length} bytes`,
    (_, bytes) => [bytes.subarray(0, length)],
  ]),
  ['key-cut', 'the secret without its last character', (secret) => [secret.slice(0, -1)]],
  ['key-cut', 'the secret without its first character', (secret) => [secret.slice(1)]],
  ['key-latin-1', 'the secret in Latin-1', (secret) => [Buffer.from(secret, 'latin1')]],
  [
    'key-latin-1',
    'the secret decoded as Latin-1 and encoded as UTF-8',
    (_, bytes) => [bytes.toString('latin1')],
  ],
  ['key-utf-16', 'the secret in UTF-16', (secret) => UTF_16.map(({ encode }) => encode(secret))],
  ['key-encoded', 'the base64 of the secret', (_, bytes) => [bytes.toString('base64')]],
  ['key-encoded', 'the hex digits of the secret', (_, bytes) => [bytes.toString('hex')]],
  ['key-encoded', 'the URL-encoded secret', (secret) => [encodeURIComponent(secret.toWellFormed())]],
  ['key-hashed', 'the SHA-256 of the secret', (_, bytes) => [sha256(bytes)]],
  ['key-hashed', 'the SHA-256 of the secret in hex', (_, bytes) => [sha256(bytes).toString('hex')]],
  ['key-case', 'the secret in lower case', (secret) => [secret.toLowerCase()]],
  ['key-case', 'the secret in upper case', (secret) => [secret.toUpperCase()]],
  ['key-missing', 'empty, or a text such as undefined', () => ['', 'undefined', 'null', 'None', 'nil']],
  [
    'key-name',
    'the name of a setting, such as $WEBHOOK_SECRET, instead of its value',
    () => NAME_SIGNS.map(([before, after]) => `${before}WEBHOOK_SECRET${after}`),
  ],
  ['key-local', 'the secret of the local stack', () => [LOCAL_SECRET]],
];

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

const decoded = (text: string, form: RegExp, encoding: 'hex' | 'base64') =>
  form.test(text) ? [Buffer.from(text, encoding)] : [];

function afterPrefix(secret: string): string[] {
  return secret.startsWith(PREFIX) ? [secret.slice(PREFIX.length)] : [];
}

/** Keys that the sender may have derived from the secret, most likely first. */
export function signingKeys(secret: string): Variant[] {
  const right = Buffer.from(secret);
  return KEYS.flatMap(([kind, what, keys]) =>
    keys(secret, right)
      .map((key) => Buffer.from(key))
      .filter((bytes) => !bytes.equals(right))
      .map((bytes) => ({
        mistake: { kind, what: `The key is ${what}.`, remedy: KEY_REMEDIES[kind] ?? USE_BYTES },
        bytes,
      })),
  );
}

const USE_HMAC = 'Use HMAC with SHA-256: the secret is the key, the body is the message.';

/** Computations that the sender may have used instead of HMAC-SHA256, most likely first. */
const ALGORITHMS: readonly (readonly [kind: string, what: string, compute: Algorithm['compute']])[] = [
  ...['sha1', 'sha512', 'sha384', 'sha224', 'md5', 'sha3-256'].map((hash): (typeof ALGORITHMS)[number] => [
    'other-hash',
    `The signature is HMAC-${hash.toUpperCase()}, not HMAC-SHA256.`,
    (key, message) => hmac(hash, key, message),
  ]),
  // A longer HMAC that was truncated to 32 bytes has the right length.
  ...['sha512', 'sha384'].map((hash): (typeof ALGORITHMS)[number] => [
    'other-hash',
    `The signature is the first 32 bytes of HMAC-${hash.toUpperCase()}, not HMAC-SHA256.`,
    (key, message) => hmac(hash, key, message).subarray(0, 32),
  ]),
  plainHash('SHA-256', 'the body alone, without the secret', (_, message) => [message]),
  ...['', '.', ':', '|', '\n'].flatMap((separator) => [
    plainHash('SHA-256', 'the secret and the body', (key, message) => [key, separator, message]),
    plainHash('SHA-256', 'the body and the secret', (key, message) => [message, separator, key]),
  ]),
  ...['SHA-1', 'MD5', 'SHA-512'].flatMap((name) => [
    plainHash(name, 'the body alone', (_, message) => [message]),
    plainHash(name, 'the secret and the body', (key, message) => [key, message]),
  ]),
  [
    'key-and-body-swapped',
    'Key and message are swapped: the body was used as the key, and the secret was signed.',
    (key, message) => hmacSha256(message, key),
  ],
  [
    'digest-twice',
    'The signature is an HMAC of the HMAC. Call the function once.',
    (key, message) => hmacSha256(key, hmacSha256(key, message)),
  ],
];

/** The hash of these parts, one after the other. */
function plainHash(
  name: string,
  parts: string,
  partsOf: (key: Bytes, message: Bytes) => readonly Bytes[],
): (typeof ALGORITHMS)[number] {
  return [
    'plain-hash',
    `The signature is the ${name} of ${parts}: a plain hash, not an HMAC.`,
    (key, message) => {
      const hash = createHash(name.replace('-', ''));
      for (const part of partsOf(key, message)) hash.update(part);
      return hash.digest();
    },
  ];
}

export const algorithms: readonly Algorithm[] = ALGORITHMS.map(([kind, what, compute]) => ({
  mistake: { kind, what, remedy: USE_HMAC },
  compute,
}));
