import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { table } from '../../terminal/layout.ts';
import { counted } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { storedPayload } from '../queues/received-message.ts';
import type { Stage } from '../stage.ts';
import { countFailedObjects, describeDamage, readArchive } from './read-archive.ts';
import { IdCandidates, matches, type RecordFilter } from './record-filter.ts';
import { expiredPart, lateness } from './retention.ts';

interface ExportOptions {
  /** Whether to export also the payloads that are in the payload bucket. */
  readonly payloads: boolean;
  /** Whether to write only the numbers of records by event and outcome. */
  readonly count: boolean;
  readonly write: (line: string) => Promise<void>;
}

/**
 * Writes the archive records that match a filter, one line each: by event, then in the order of their objects.
 * @returns false if an object is damaged, a payload is missing, or it was interrupted
 * @throws CommandError if the whole window has expired; at the end, if an id of the filter is not unique
 */
export async function exportRecords(
  operation: Operation,
  filter: RecordFilter,
  { payloads, count, write }: ExportOptions,
): Promise<boolean> {
  const { stack, signal, progress, printLine, width } = operation;
  const expired = await expiredPart(stack, filter);
  const candidates = new IdCandidates(filter.ids);
  const counts = new Map<string, number>();
  let found = 0;
  let missing = 0;
  const take = async (record: ArchiveRecord) => {
    candidates.add(record);
    found += 1;
    const key = `${record.event} ${record.replay === undefined ? record.outcome : 'Replayed'}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (count) return;
    const payload = payloads ? await payloadOf(stack, record.payloadKey) : {};
    if ('unreadable' in payload) missing += 1;
    await write(`${JSON.stringify({ ...record, ...payload })}\n`);
  };
  // Creates the file before the archive is read, so that a file that cannot be written fails early.
  await write('');
  const reading = readArchive(stack, { ...filter, signal, progress });
  for await (const object of reading) {
    for await (const { record } of object.records()) if (matches(filter, record)) await take(record);
  }
  const { objects, total, damaged } = reading;
  const records = counted(found, 'record');
  if (signal.aborted) {
    printLine(`Interrupted after ${objects} of ${total} objects and ${records}: the export is incomplete.`);
    return false;
  }
  candidates.requireUnique();
  if (count) await write(`${countTable(counts, width).join('\n')}\n`);
  printLine(`${count ? 'Counted' : 'Exported'} ${records} of ${stack.title}.`);
  if (missing > 0) printLine(`${counted(missing, 'record')} without the payload: see "unreadable".`);
  if (expired) printLine(expired);
  for (const line of await notesOnArchive(stack, filter)) printLine(line);
  for (const line of describeDamage(damaged)) printLine(line);
  return damaged.length === 0 && missing === 0;
}

/** What an export may lack. */
async function notesOnArchive(stack: Stage, filter: RecordFilter): Promise<string[]> {
  const late = lateness(stack);
  const failed = await countFailedObjects(stack, filter);
  return [
    ...(late ? [`The newest records may be up to ${late} late, because Firehose collects them.`] : []),
    ...(failed > 0
      ? [`Not read: ${counted(failed, 'object')} under failed=, which Firehose could not deliver.`]
      : []),
  ];
}

function countTable(counts: ReadonlyMap<string, number>, width: number): string[] {
  const rows = [...counts].sort().map(([key, count]) => [...key.split(' '), count.toLocaleString('en')]);
  return table(
    [{ heading: 'EVENT' }, { heading: 'OUTCOME' }, { heading: 'RECORDS', align: 'right' }],
    rows,
    width,
  );
}

async function payloadOf(stack: Stage, key: string | undefined) {
  if (key === undefined) return {};
  const bytes = await storedPayload(stack, key);
  if (bytes === undefined) return { unreadable: `S3 no longer has it under ${key}` };
  return { bodyBase64: bytes.toString('base64') };
}
