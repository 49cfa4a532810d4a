import { createHash } from 'node:crypto';

/** An identifier in the form of {@link hashedId}. */
export const HASHED_ID = /^sha256:[0-9a-f]{64}$/;

/** Lower-case hex SHA-256 of bytes, or of a text's UTF-8 form. */
export function sha256Hex(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * Stands for an identifier that does not fit somewhere. An identifier that itself has this form must be hashed, too:
 * otherwise it would equal that of the identifier with that hash.
 */
export const hashedId = (id: string): string => `sha256:${sha256Hex(id)}`;
