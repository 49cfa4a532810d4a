import { sha256Hex } from '../hash.ts';

/** Longest partition key in bytes. Source: DynamoDB developer guide, "Quotas", partition keys. */
const MAX_KEY_BYTES = 2048;

/** The key value for an identifier: the identifier itself, or its hash if it is too long. */
export function tableKey(id: string): string {
  if (Buffer.byteLength(id) <= MAX_KEY_BYTES) return id;
  return `sha256:${sha256Hex(id)}`;
}
