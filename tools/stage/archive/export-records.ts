import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { table } from '../../terminal/layout.ts';
import { counted } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { storedPayload } from '../queues/received-message.ts';
import type { Stage } from '../stage.ts';
import { countFailedObjects, describeDamage, readArchive } from './read-archive.ts';
import { containsSearched, matches, type RecordFilter } from './record-filter.ts';
import { expiredPart, lateness } from './retention.ts';

interface ExportOptions {
  /** Whether to export also the payloads that are in the payload bucket. */
  readonly payloads: boolean;
  /** Writes only the numbers of records, by event and outcome. */
  readonly count: boolean;
  readonly write: (line: string) => Promise<void>;
}

/**
 * Writes the archive records that match a filter, one line each: by event, then in the order of their objects.
 * @returns false if an object is damaged, a payload is missing, or it was interrupted
 * @throws CommandError if the whole window has expired
 */
export async function exportRecords(
  operation: Operation,
  filter: RecordFilter,
  { payloads, count, write }: ExportOptions,
): Promise<boolean> {
  const { stack, signal, progress, printLine, width } = operation;
  const expired = await expiredPart(stack, filter);
  /** Event ids by event and outcome. */
  const counts = new Map<string, string[]>();
  let [found, missing] = [0, 0];
  const take = async (record: ArchiveRecord) => {
    if (!matches(filter, record) || !(await containsSearched(stack, filter, record))) return;
    found += 1;
    if (count) {
      // Replays are counted apart: an event counts as processed only by its delivery.
      const key = JSON.stringify([record.event, record.replay === undefined ? record.outcome : 'Replayed']);
      const ids = counts.get(key) ?? [];
      ids.push(record.eventId);
      counts.set(key, ids);
      return;
    }
    const payload = payloads ? await payloadOf(stack, record.payloadKey) : {};
    if (payload.unreadable !== undefined) missing += 1;
    await write(`${JSON.stringify({ ...record, ...payload })}\n`);
  };
  // Creates the file before the archive is read, so that a file that cannot be written fails early.
  await write('');
  const reading = readArchive(stack, { ...filter, signal, progress });
  for await (const object of reading) for (const record of object.records()) await take(record);
  const { objects, total, damaged } = reading;
  const records = counted(found, 'record');
  if (signal.aborted) {
    printLine(`Interrupted after ${objects} of ${total} objects and ${records}: the export is incomplete.`);
    return false;
  }
  if (count) await write(countTable(counts, width));
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

function countTable(counts: ReadonlyMap<string, readonly string[]>, width: number): string {
  const right = (heading: string) => ({ heading, align: 'right' as const });
  const columns = [{ heading: 'EVENT' }, { heading: 'OUTCOME' }, right('RECORDS'), right('EVENTS')];
  const rows = [...counts]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([key, ids]) => [
      ...(JSON.parse(key) as string[]),
      ...[ids.length, new Set(ids).size].map((number) => number.toLocaleString('en')),
    ]);
  return `${table(columns, rows, width).join('\n')}\n`;
}

async function payloadOf(
  stack: Stage,
  key: string | undefined,
): Promise<{ readonly bodyBase64?: string; readonly unreadable?: string }> {
  if (key === undefined) return {};
  const bytes = await storedPayload(stack, key);
  if (bytes === undefined) return { unreadable: `S3 no longer has it under ${key}` };
  return { bodyBase64: bytes.toString('base64') };
}
