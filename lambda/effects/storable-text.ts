import { recordLog } from '../record-log.ts';
import { count } from '../telemetry.ts';

/**
 * Maximum UTF-8 bytes of a stored text, and of all data of a cast member as JSON. An item holds 400 KB, names included
 * (DynamoDB developer guide, "Quotas"). The largest items are below that: a cast member has its data, a name and two
 * ids of 2 KiB; a contact has three texts; a shop has its list of field names.
 */
export const MAX_TEXT_BYTES = 64 * 1024;
export const MAX_DATA_BYTES = 256 * 1024;

/**
 * A text that an item can hold. A longer one is left out, which is logged and counted. Otherwise its event would become
 * a dead letter, and its other fields would be lost.
 * @param text undefined if the field cannot be written as text
 */
export async function storableText(
  field: string,
  text: string | undefined,
  maxBytes = MAX_TEXT_BYTES,
): Promise<string | undefined> {
  const bytes = text === undefined ? undefined : Buffer.byteLength(text);
  if (bytes !== undefined && bytes <= maxBytes) return text;
  recordLog.warn('FieldLeftOut', { field, bytes });
  await count('FieldLeftOut');
  return undefined;
}
