import { createHash } from 'node:crypto';

/** A hashed identifier. */
export const HASHED_ID = /^sha256:[0-9a-f]{64}$/;

/** Lower-case hex SHA-256 of bytes, or of a text's UTF-8 form. */
export function sha256Hex(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * An identifier, or its hash if it does not fit. An identifier that looks like a hash is hashed, too: otherwise it would
 * equal the identifier with that hash.
 */
export function idOrHash(id: string, fits: boolean): string {
  return fits && !HASHED_ID.test(id) ? id : `sha256:${sha256Hex(id)}`;
}
