import { idOrHash } from '../hash.ts';
import { MAX_TEXT_BYTES } from '../limits.ts';
import { count, log } from '../telemetry.ts';

/** Longest partition key in bytes. Source: DynamoDB developer guide, "Quotas", partition keys. */
const MAX_KEY_BYTES = 2048;

/** The key value for an identifier: the identifier itself, or its hash if it is too long or looks like a hash. */
export function tableKey(id: string): string {
  return idOrHash(id, Buffer.byteLength(id) <= MAX_KEY_BYTES);
}

/**
 * Checks that a text fits into an item. A longer one is left out, which is logged and counted. Otherwise its event
 * would become a dead letter, and its other fields would be lost.
 * @param text undefined if the field cannot be written as text
 */
export function storableText(
  field: string,
  text: string | undefined,
  maxBytes = MAX_TEXT_BYTES,
): string | undefined {
  const bytes = text === undefined ? undefined : Buffer.byteLength(text);
  if (bytes !== undefined && bytes <= maxBytes) return text;
  log.warn('FieldLeftOut', { field, bytes });
  count('FieldLeftOut');
  return undefined;
}
