import { styleText } from 'node:util';
import type { ArchiveRecord, SettledOutcome } from '../../../lambda/archive/record.ts';
import { settledOutcomes } from '../../../lambda/archive/record-schema.ts';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { table } from '../../terminal/layout.ts';
import { counted, printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { countFailedObjects, describeDamage, readArchive } from './read-archive.ts';
import { IdCandidates, matches, type RecordFilter } from './record-filter.ts';
import { expiredPart, lateness } from './retention.ts';

const HEADINGS: Readonly<Record<SettledOutcome | 'replayed', string>> = {
  Processed: 'PROCESSED',
  Stale: 'STALE',
  Duplicate: 'DUPLICATE',
  DeadLettered: 'DEAD',
  replayed: 'REPLAYED',
};

/** Numbers of records. Replayed records count under no outcome. Forgotten records count under their outcome, too. */
type RecordCounts = Record<SettledOutcome | 'replayed' | 'forgotten', number>;

const NONE: RecordCounts = {
  Processed: 0,
  Stale: 0,
  Duplicate: 0,
  DeadLettered: 0,
  replayed: 0,
  forgotten: 0,
};

/** Records of one event that were settled on one UTC day, such as `2026-01-31`. */
interface DayOfRecords extends RecordCounts {
  readonly event: EventName;
  readonly day: string;
}

/**
 * Prints the number of records by event, day and outcome.
 * @returns false if an object is damaged, or if it was interrupted
 * @throws CommandError if the whole window has expired, or an id of the filter is not unique
 */
export async function listRecords(
  operation: Operation,
  filter: RecordFilter,
  { json }: { readonly json: boolean },
): Promise<boolean> {
  const { stack, signal, progress, printLine, width } = operation;
  const expired = await expiredPart(stack, filter);
  const days = new Map<string, DayOfRecords>();
  const replays = new Map<string, number>();
  const candidates = new IdCandidates(filter.ids);
  const reading = readArchive(stack, { ...filter, signal, progress });
  for await (const object of reading) {
    for await (const { record } of object.records()) {
      if (!matches(filter, record)) continue;
      candidates.add(record);
      count(days, replays, record);
    }
  }
  candidates.requireUnique();
  const { objects, total, bytes, damaged } = reading;
  const sorted = [...days.keys()].sort().flatMap((key) => days.get(key) ?? []);
  const failedObjects = await countFailedObjects(stack, filter);
  const complete = damaged.length === 0 && !signal.aborted;

  if (json) {
    const report = {
      stack: stack.title,
      complete,
      objects,
      bytes,
      days: sorted,
      replays: Object.fromEntries(replays),
      failedObjects,
      damaged: damaged.map(({ key, line, message }) => ({ key, line, message })),
    };
    printLine(JSON.stringify(report, undefined, 2));
    return complete;
  }

  const late = lateness(stack);
  const { forgotten, ...counts } = sum(sorted);
  const records = Object.values(counts).reduce((all, some) => all + some, 0);
  const notes: (string | false | undefined)[] = [
    signal.aborted &&
      `Interrupted after ${objects} of ${counted(total, 'object')}: the counts are incomplete.`,
    !signal.aborted &&
      records > 0 &&
      `${counted(records, 'record')} in ${counted(objects, 'object')} of ${size(bytes)} in total.`,
    ...[...replays].map(
      ([name, count]) => `${counted(count, 'record')} of replay ${printable(name)}, without payloads.`,
    ),
    forgotten > 0 && `${counted(forgotten, 'record')} forgotten, without payloads.`,
    expired,
    late && `The newest records may be up to ${late} late, because Firehose collects them.`,
  ];
  const sections = [
    describeDays(stack.title, sorted, replays.size > 0, width),
    notes.filter((note) => typeof note === 'string'),
    failedObjects === 0
      ? []
      : [`Not read: ${counted(failedObjects, 'object')} under failed=, which Firehose could not deliver.`],
    describeDamage(damaged),
  ];
  const [first = [], ...below] = sections.filter(({ length }) => length > 0);
  for (const line of [...first, ...below.flatMap((lines) => ['', ...lines])]) printLine(line);
  return complete;
}

function count(days: Map<string, DayOfRecords>, replays: Map<string, number>, record: ArchiveRecord): void {
  const { event, settledAt, outcome, replay, forgottenAt } = record;
  const day = new Date(settledAt).toISOString().slice(0, 10);
  const key = `${event} ${day}`;
  const counts = days.get(key) ?? { event, day, ...NONE };
  days.set(key, counts);
  counts[replay === undefined ? outcome : 'replayed'] += 1;
  if (replay !== undefined) replays.set(replay.name, (replays.get(replay.name) ?? 0) + 1);
  if (forgottenAt !== undefined) counts.forgotten += 1;
}

function describeDays(
  title: string,
  days: readonly DayOfRecords[],
  isReplayed: boolean,
  width: number,
): string[] {
  if (days.length === 0) return [`The archive of ${title} has no such record.`];
  const events = Map.groupBy(days, ({ event }) => event);
  const rows = [...events].flatMap(([event, ofEvent]) => [
    { ...sum(ofEvent), name: styleText('bold', event) },
    ...ofEvent.map((day) => ({ ...day, name: `  ${day.day}` })),
  ]);
  const all = events.size > 1 ? [{ ...sum(days), name: styleText('bold', 'all') }] : [];
  const columns = [...settledOutcomes, ...(isReplayed ? (['replayed'] as const) : [])];
  return [
    `Records in the archive of ${title}, by the day of settling (UTC):`,
    '',
    ...table(
      [
        { heading: 'EVENT' },
        ...columns.map((column) => ({ heading: HEADINGS[column], align: 'right' as const })),
      ],
      [...rows, ...all].map((row) => [row.name, ...columns.map((column) => shown(row[column]))]),
      width,
    ),
  ];
}

function sum(days: readonly DayOfRecords[]): RecordCounts {
  const total = { ...NONE };
  for (const day of days) {
    for (const key of Object.keys(NONE) as (keyof RecordCounts)[]) total[key] += day[key];
  }
  return total;
}

/** Zero is dimmed so that other counts stand out. */
const shown = (count: number) => (count === 0 ? styleText('gray', '0') : count.toLocaleString('en'));

/** `812 bytes`, `3.4 MB`. */
function size(bytes: number): string {
  return bytes < 100_000 ? `${bytes.toLocaleString('en')} bytes` : `${(bytes / 1e6).toFixed(1)} MB`;
}
