import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import type { Operation } from '../operation.ts';
import type { RecordFilter } from './filter.ts';
import { storedPayload } from './payload.ts';
import { expiredPart, lateness } from './retention.ts';
import { describeDamage, eachRecord } from './scan.ts';

interface ExportOptions {
  /** Adds the bytes that are in the payload bucket. */
  readonly payloads: boolean;
  /** Takes one line at a time. */
  readonly write: (line: string) => Promise<void>;
}

/**
 * `export`: the records that a filter admits, as the archive has them, by event, then in the order of their objects.
 * @returns false where an object is damaged, a payload is missing, or it was interrupted
 * @throws CommandError where nothing of the window is kept any more
 */
export async function exportRecords(
  operation: Operation,
  filter: RecordFilter,
  { payloads, write }: ExportOptions,
): Promise<boolean> {
  const { stack, signal, say } = operation;
  const expired = await expiredPart(stack, filter);
  let exported = 0;
  let missing = 0;
  // Makes the file, or refuses to, before all is read.
  await write('');
  const { objects, total, damaged } = await eachRecord(operation, filter, 1, async (record) => {
    const line = payloads ? await withPayload(record) : record;
    if ('unreadable' in line) missing += 1;
    await write(`${JSON.stringify(line)}\n`);
    exported += 1;
  });
  const count = exported === 1 ? '1 record' : `${exported.toLocaleString('en')} records`;
  if (signal.aborted) {
    say(`Interrupted after ${objects} of ${total} objects and ${count}: the export is incomplete.`);
    return false;
  }
  const late = exported === 0 ? await lateness(stack, filter.events) : undefined;
  say(`Exported ${count} of ${stack.title}.`);
  if (late !== undefined) say(`The newest records may come up to ${late} late: Firehose collects them.`);
  if (expired !== undefined) say(expired);
  if (missing > 0) say(`${missing} without their payload: see "unreadable".`);
  for (const line of describeDamage(damaged)) say(line);
  return damaged.length === 0 && missing === 0;

  async function withPayload(record: ArchiveRecord) {
    const { payloadKey } = record;
    if (payloadKey === undefined) return record;
    const bytes = await storedPayload(stack, payloadKey);
    if (bytes === undefined) return { ...record, unreadable: `S3 no longer has it under ${payloadKey}` };
    return { ...record, bodyBase64: bytes.toString('base64') };
  }
}
