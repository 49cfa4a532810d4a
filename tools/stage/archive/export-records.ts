import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { counted } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { storedPayload } from '../queues/received-message.ts';
import type { Stage } from '../stage.ts';
import { describeDamage, readArchive } from './read-archive.ts';
import { IdCandidates, matches, type RecordFilter } from './record-filter.ts';
import { expiredPart, lateness } from './retention.ts';

interface ExportOptions {
  /** Whether to export also the payloads that are in the payload bucket. */
  readonly payloads: boolean;
  readonly write: (line: string) => Promise<void>;
}

/**
 * Writes the archive records that match a filter, one line each: by event, then in the order of their objects.
 * @returns false if an object is damaged, a payload is missing, or the export was interrupted
 * @throws CommandError if the whole window has expired; at the end, if an id of the filter is not unique
 */
export async function exportRecords(
  operation: Operation,
  filter: RecordFilter,
  { payloads, write }: ExportOptions,
): Promise<boolean> {
  const { stack, signal, progress, printLine } = operation;
  const expired = await expiredPart(stack, filter);
  const candidates = new IdCandidates(filter.ids);
  let exported = 0;
  let missing = 0;
  const exportOne = async (record: ArchiveRecord) => {
    const payload = payloads ? await payloadOf(stack, record.payloadKey) : {};
    if ('unreadable' in payload) missing += 1;
    await write(`${JSON.stringify({ ...record, ...payload })}\n`);
    candidates.add(record);
    exported += 1;
  };
  // Creates the file before the archive is read, so that a file that cannot be written fails early.
  await write('');
  const reading = readArchive(stack, { ...filter, signal, progress });
  for await (const object of reading) {
    for await (const { record } of object.records()) if (matches(filter, record)) await exportOne(record);
  }
  const { objects, total, damaged } = reading;
  const count = counted(exported, 'record');
  if (signal.aborted) {
    printLine(`Interrupted after ${objects} of ${total} objects and ${count}: the export is incomplete.`);
    return false;
  }
  candidates.requireUnique();
  const late = exported === 0 ? lateness(stack) : undefined;
  const lines = [
    `Exported ${count} of ${stack.title}.`,
    late && `The newest records may be up to ${late} late, because Firehose collects them.`,
    expired,
    missing > 0 && `${counted(missing, 'record')} without the payload: see "unreadable".`,
    ...describeDamage(damaged),
  ];
  for (const line of lines) if (line) printLine(line);
  return damaged.length === 0 && missing === 0;
}

async function payloadOf(stack: Stage, key: string | undefined) {
  if (key === undefined) return {};
  const bytes = await storedPayload(stack, key);
  if (bytes === undefined) return { unreadable: `S3 no longer has it under ${key}` };
  return { bodyBase64: bytes.toString('base64') };
}
