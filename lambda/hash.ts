import { createHash } from 'node:crypto';

/** Lower-case hex SHA-256 of bytes, or of a text's UTF-8 form. */
export function sha256Hex(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
