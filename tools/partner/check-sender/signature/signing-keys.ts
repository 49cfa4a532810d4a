import { createHash } from 'node:crypto';
import { LOCAL_SECRET } from '../../../../events/signing.ts';
import type { Mistake } from '../finding.ts';

/** A key that somebody may have taken for the secret's bytes. */
export interface SigningKey {
  readonly mistake: Mistake;
  readonly bytes: Uint8Array;
}

const HEX = /^(?:[0-9a-f]{2})+$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{4,}={0,2}$/;

/** Bytes after which a secret is cut off: sizes of blocks, digests and database columns. */
const CUT_AFTER = [16, 32, 50, 64, 72, 100, 128];

/** What other services put before a secret in base64. */
const PREFIX = 'whsec_';

/** Keys that may have been made of the secret, the likeliest first. */
export function* signingKeys(secret: string): Generator<SigningKey, undefined> {
  const key = (kind: string, what: string, remedy: string, bytes: Uint8Array): SigningKey => ({
    mistake: { kind, what: `The key is ${what}.`, remedy },
    bytes,
  });
  const asText = 'Use the bytes of the secret as it was given, as UTF-8; decode nothing.';
  const asGiven = 'Take the white space away where the secret is read from a file or a variable.';

  if (secret.trim() !== secret) {
    const what = 'the secret without the white space around it, and ours has it';
    const remedy = 'Agree on the secret without the white space: one side has it pasted.';
    yield key('key-trimmed', what, remedy, Buffer.from(secret.trim()));
  }
  for (const end of ['\n', '\r\n', ' ', '\0']) {
    yield key(
      'key-white-space',
      'the secret and a line break, blank or zero byte after it',
      asGiven,
      Buffer.from(`${secret}${end}`),
    );
  }
  const quoting = 'Take the quotation marks away: they are not part of the secret.';
  for (const quote of ['"', "'"]) {
    yield key(
      'key-quoted',
      'the secret in quotation marks',
      quoting,
      Buffer.from(`${quote}${secret}${quote}`),
    );
  }
  if (HEX.test(secret)) {
    yield key('key-hex-decoded', 'the secret decoded as hex digits', asText, Buffer.from(secret, 'hex'));
  }
  if (BASE64.test(secret)) {
    yield key('key-base64-decoded', 'the secret decoded as base64', asText, Buffer.from(secret, 'base64'));
  }
  if (secret.startsWith(PREFIX)) {
    const rest = secret.slice(PREFIX.length);
    yield key(
      'key-base64-decoded',
      'what follows the prefix, decoded as base64',
      asText,
      Buffer.from(rest, 'base64'),
    );
    yield key('key-without-prefix', 'the secret without its prefix', asText, Buffer.from(rest));
  }
  const bytes = Buffer.from(secret);
  for (const form of ['NFC', 'NFD'] as const) {
    const what = `the secret in Unicode form ${form}, and ours is in another`;
    yield key('key-normalised', what, asText, Buffer.from(secret.normalize(form)));
  }
  for (const length of CUT_AFTER) {
    const what = `the secret cut off after ${length} bytes`;
    const whole = 'Use the whole secret: HMAC takes a key of any length.';
    if (bytes.length > length) yield key('key-cut', what, whole, bytes.subarray(0, length));
  }
  yield key('key-latin-1', 'the secret in Latin-1', asText, Buffer.from(secret, 'latin1'));
  yield key(
    'key-latin-1',
    'the secret read as Latin-1 and written as UTF-8 again',
    asText,
    Buffer.from(bytes.toString('latin1')),
  );
  yield key('key-utf-16', 'the secret in UTF-16', asText, Buffer.from(secret, 'utf16le'));
  yield key(
    'key-utf-16',
    'the secret in UTF-16 (big endian)',
    asText,
    Buffer.from(secret, 'utf16le').swap16(),
  );
  yield key('key-encoded', 'the base64 of the secret', asText, Buffer.from(bytes.toString('base64')));
  yield key('key-encoded', 'the hex digits of the secret', asText, Buffer.from(bytes.toString('hex')));
  yield key(
    'key-encoded',
    'the secret with the escapes of a URL',
    asText,
    Buffer.from(encodeURIComponent(secret.toWellFormed())),
  );
  const digest = createHash('sha256').update(bytes).digest();
  yield key('key-hashed', 'the SHA-256 of the secret', asText, digest);
  yield key('key-hashed', 'the SHA-256 of the secret in hex', asText, Buffer.from(digest.toString('hex')));
  yield key('key-case', 'the secret in small letters', asText, Buffer.from(secret.toLowerCase()));
  yield key('key-case', 'the secret in capital letters', asText, Buffer.from(secret.toUpperCase()));
  const settings = 'See that the setting with the secret is read: it came out empty.';
  for (const text of ['', 'undefined', 'null', 'None', 'nil', 'WEBHOOK_SECRET', '$WEBHOOK_SECRET']) {
    yield key(
      'key-missing',
      'empty, or the name of a setting instead of its value',
      settings,
      Buffer.from(text),
    );
  }
  const ours = 'Sign with the secret that was agreed on, or start this with the one that you sign with.';
  yield key('key-local', 'the secret of the local stack', ours, Buffer.from(LOCAL_SECRET));
  return undefined;
}
