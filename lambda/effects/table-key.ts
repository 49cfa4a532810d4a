import { sha256Hex } from '../hash.ts';

/** Longest partition key in bytes. Source: DynamoDB developer guide, "Quotas", partition keys. */
const MAX_KEY_BYTES = 2048;

/** The key of a hashed identifier. */
export const HASHED_KEY = /^sha256:[0-9a-f]{64}$/;

/**
 * The key value for an identifier: the identifier itself, or its hash if it is too long. An identifier that looks like
 * a hash is hashed, too: otherwise it would share the item of the identifier with that hash.
 */
export function tableKey(id: string): string {
  if (Buffer.byteLength(id) <= MAX_KEY_BYTES && !HASHED_KEY.test(id)) return id;
  return `sha256:${sha256Hex(id)}`;
}
