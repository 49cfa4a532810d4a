import { idOrHash } from '../hash.ts';

/** Longest partition key in bytes. Source: DynamoDB developer guide, "Quotas", partition keys. */
const MAX_KEY_BYTES = 2048;

/** The key value for an identifier: the identifier itself, or its hash if it is too long or looks like a hash. */
export function tableKey(id: string): string {
  return idOrHash(id, Buffer.byteLength(id) <= MAX_KEY_BYTES);
}
