import { MAX_TEXT_BYTES } from '../limits.ts';
import { recordLog } from '../record-log.ts';
import { count } from '../telemetry.ts';

/**
 * Checks that a text fits into an item. A longer one is left out, which is logged and counted. Otherwise its event
 * would become a dead letter, and its other fields would be lost.
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
