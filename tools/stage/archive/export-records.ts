import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { recordSchema } from '../../../lambda/archive/record-schema.ts';
import { table } from '../../terminal/layout.ts';
import { counted, printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { payloadUnder } from '../queues/received-message.ts';
import { matchingRecords } from './archive-object.ts';
import { countFailedObjects, describeDamage, expiredPart, lateness, readArchive } from './read-archive.ts';
import type { RecordFilter } from './record-filter.ts';

/** Groups in which records can be counted. A shop's id is as in the record: hashed if it is long. */
const GROUPS = {
  event: ({ event }) => event,
  outcome: ({ outcome, replay }) => (replay === undefined ? outcome : 'Replayed'),
  shop: ({ shopId = '' }) => shopId,
  day: ({ settledAt }) => settledAt.slice(0, 10),
} satisfies Record<string, (record: ArchiveRecord) => string>;

export type CountGroup = keyof typeof GROUPS;

interface ExportOptions {
  /** Whether to export also the payloads that are in the payload bucket. */
  readonly payloads: boolean;
  /** Writes only the numbers of records in these groups. */
  readonly countBy: readonly CountGroup[] | undefined;
  /** Whether to write comma-separated values instead of JSON or a table. */
  readonly csv: boolean;
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
  { payloads, countBy, csv, write }: ExportOptions,
): Promise<boolean> {
  const { stack, signal, progress, printLine, width } = operation;
  const expired = await expiredPart(stack, filter);
  /** Event ids by group. */
  const counts = new Map<string, string[]>();
  let [found, missing] = [0, 0];
  const take = async (record: ArchiveRecord) => {
    found += 1;
    if (countBy !== undefined) {
      const key = JSON.stringify(countBy.map((group) => GROUPS[group](record)));
      const ids = counts.get(key) ?? [];
      ids.push(record.eventId);
      counts.set(key, ids);
      return;
    }
    const { payloadKey } = record;
    const { bytes, unreadable } = payloads && payloadKey ? await payloadUnder(stack, payloadKey) : {};
    if (unreadable !== undefined) missing += 1;
    const exported = { ...record, bodyBase64: bytes?.toString('base64'), unreadable };
    await write(csv ? csvLine(COLUMNS.map((name) => exported[name])) : `${JSON.stringify(exported)}\n`);
  };
  // Creates the file before the archive is read, so that a file that cannot be written fails early.
  await write(csv && countBy === undefined ? csvLine(COLUMNS) : '');
  const reading = readArchive(stack, { ...filter, signal, progress });
  for await (const record of matchingRecords(stack, reading, filter)) await take(record);
  const { objects, total, damaged } = reading;
  const records = counted(found, 'record');
  if (signal.aborted) {
    printLine(`Interrupted after ${objects} of ${total} objects and ${records}: the export is incomplete.`);
    return false;
  }
  if (countBy !== undefined) {
    const headings = [...countBy, 'records', 'events'];
    const rows = [...counts]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([key, ids]) => [...(JSON.parse(key) as string[]), ids.length, new Set(ids).size]);
    await write(csv ? [headings, ...rows].map(csvLine).join('') : countTable(headings, rows, width));
  }
  printLine(`${countBy ? 'Counted' : 'Exported'} ${records} of ${stack.title}.`);
  if (missing > 0) printLine(`${counted(missing, 'record')} without the payload: see "unreadable".`);
  if (expired) printLine(expired);
  const late = lateness(stack);
  if (late) printLine(`The newest records may be up to ${late} late, because Firehose collects them.`);
  const failed = await countFailedObjects(stack, filter);
  if (failed > 0)
    printLine(`Not read: ${counted(failed, 'object')} under failed=, which Firehose could not deliver.`);
  for (const line of describeDamage(damaged)) printLine(line);
  return damaged.length === 0 && missing === 0;
}

function countTable(headings: readonly string[], rows: readonly unknown[][], width: number): string {
  const columns = headings.map((name) => ({
    heading: name.toUpperCase(),
    align: name in GROUPS ? ('left' as const) : ('right' as const),
  }));
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : printable(String(cell)))),
  );
  return `${table(columns, cells, width).join('\n')}\n`;
}

/** Columns of records in CSV. */
const COLUMNS = [...Object.keys(recordSchema.entries), 'bodyBase64', 'unreadable'] as (
  | keyof ArchiveRecord
  | 'bodyBase64'
  | 'unreadable'
)[];

/** Source: RFC 4180. An object is written as JSON. */
function csvLine(cells: readonly unknown[]): string {
  const texts = cells.map((cell = '') => (typeof cell === 'object' ? JSON.stringify(cell) : String(cell)));
  return `${texts.map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(',')}\r\n`;
}
