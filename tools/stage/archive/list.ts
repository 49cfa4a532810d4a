import { styleText } from 'node:util';
import type { ArchiveRecord, SettledOutcome } from '../../../lambda/archive/record.ts';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { table } from '../../terminal/table.ts';
import { printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { type RecordFilter, settledOutcomes } from './filter.ts';
import { countFailedObjects } from './objects.ts';
import { bufferSeconds, expiredPart, lateness } from './retention.ts';
import { describeDamage, eachRecord, type Scanned } from './scan.ts';

/** Objects that are read at a time: most of an object's time is its way. */
const PARALLEL = 8;

const HEADINGS: Readonly<Record<SettledOutcome, string>> = {
  Processed: 'PROCESSED',
  Stale: 'STALE',
  Duplicate: 'DUPLICATE',
  DeadLettered: 'DEAD',
};

/** Records of one event on one day, UTC, by what they came to. Those of replays are apart. */
interface Day extends Record<SettledOutcome, number> {
  readonly event: EventName;
  /** Of settling: `2026-01-31`. */
  readonly day: string;
  replayed: number;
  /** Of all of them. */
  forgotten: number;
}

/**
 * `list`: what the archive holds, by event, day and outcome.
 * @returns false where an object is damaged, or it was interrupted
 * @throws CommandError where nothing of the window is kept any more
 */
export async function list(
  operation: Operation,
  filter: RecordFilter,
  { json }: { readonly json: boolean },
): Promise<boolean> {
  const { stack, signal, say, width } = operation;
  const expired = await expiredPart(stack, filter);
  const days = new Map<string, Day>();
  const replays = new Map<string, number>();
  const scanned = await eachRecord(operation, filter, PARALLEL, (record) => count(days, replays, record));
  const sorted = [...days.values()].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  const failedObjects = await countFailedObjects(stack, filter);
  const complete = scanned.damaged.length === 0 && !signal.aborted;

  if (json) {
    const { objects, bytes, damaged } = scanned;
    const report = {
      stack: stack.title,
      complete,
      objects,
      bytes,
      days: sorted,
      replays: Object.fromEntries(replays),
      failedObjects,
      damaged: damaged.map(({ key, line, message }) => ({ key, line, message })),
      bufferSeconds: await bufferSeconds(stack, filter.events),
    };
    say(JSON.stringify(report, undefined, 2));
    return complete;
  }

  const late = await lateness(stack, filter.events);
  const sections = [
    describeDays(stack.title, sorted, replays, width),
    [
      ...describeObjects(scanned, sum('', sorted), signal.aborted),
      ...describeReplays(replays),
      ...describeForgotten(sum('', sorted)),
      ...(expired === undefined ? [] : [expired]),
      ...(late === undefined
        ? []
        : [`The newest records may come up to ${late} late: Firehose collects them.`]),
    ],
    failedObjects === 0
      ? []
      : [
          `What Firehose could not deliver is in ${objectsOf(failedObjects)} under failed=. That is no records, and was not read.`,
        ],
    describeDamage(scanned.damaged),
  ];
  const [first = [], ...below] = sections.filter(({ length }) => length > 0);
  for (const line of [...first, ...below.flatMap((lines) => ['', ...lines])]) say(line);
  return complete;
}

function count(days: Map<string, Day>, replays: Map<string, number>, record: ArchiveRecord): void {
  const { event, settledAt, outcome, replay, forgottenAt } = record;
  const day = new Date(settledAt).toISOString().slice(0, 10);
  const key = keyOf({ event, day });
  const counts = days.get(key) ?? {
    event,
    day,
    Processed: 0,
    Stale: 0,
    Duplicate: 0,
    DeadLettered: 0,
    replayed: 0,
    forgotten: 0,
  };
  days.set(key, counts);
  if (replay === undefined) counts[outcome] += 1;
  else {
    counts.replayed += 1;
    replays.set(replay.name, (replays.get(replay.name) ?? 0) + 1);
  }
  if (forgottenAt !== undefined) counts.forgotten += 1;
}

const keyOf = ({ event, day }: Pick<Day, 'event' | 'day'>) => `${event} ${day}`;

function describeDays(
  title: string,
  days: readonly Day[],
  replays: ReadonlyMap<string, number>,
  width: number,
): string[] {
  if (days.length === 0) return [`Nothing of that is archived in ${title}.`];
  const events = [...new Set(days.map(({ event }) => event))];
  const rows = events.flatMap((event) => {
    const ofEvent = days.filter((day) => day.event === event);
    return [
      sum(styleText('bold', event), ofEvent),
      ...ofEvent.map((day) => ({ ...day, name: `  ${day.day}` })),
    ];
  });
  const all = events.length > 1 ? [sum(styleText('bold', 'all'), days)] : [];
  const isReplayed = replays.size > 0;
  return [
    `Archived in ${title}, by the day of settling (UTC):`,
    '',
    ...table(
      [
        { heading: 'EVENT' },
        ...settledOutcomes.map((outcome) => ({ heading: HEADINGS[outcome], align: 'right' as const })),
        ...(isReplayed ? [{ heading: 'REPLAYED', align: 'right' as const }] : []),
      ],
      [...rows, ...all].map((row) => [
        row.name,
        ...settledOutcomes.map((outcome) => shown(row[outcome])),
        ...(isReplayed ? [shown(row.replayed)] : []),
      ]),
      width,
    ),
  ];
}

type Counts = Record<SettledOutcome, number> & { replayed: number; forgotten: number };

function sum(name: string, days: readonly Day[]): Counts & { name: string } {
  const total = { name, Processed: 0, Stale: 0, Duplicate: 0, DeadLettered: 0, replayed: 0, forgotten: 0 };
  for (const day of days) {
    for (const outcome of settledOutcomes) total[outcome] += day[outcome];
    total.replayed += day.replayed;
    total.forgotten += day.forgotten;
  }
  return total;
}

/** Nothing stands back, so that what is there is seen. */
const shown = (count: number) => (count === 0 ? styleText('gray', '0') : count.toLocaleString('en'));

const objectsOf = (count: number) => (count === 1 ? '1 object' : `${count.toLocaleString('en')} objects`);

function describeObjects(
  { objects, total, bytes }: Scanned,
  counts: Counts,
  isInterrupted: boolean,
): string[] {
  if (isInterrupted) return [`Interrupted after ${objects} of ${objectsOf(total)}: these are not all.`];
  const records = settledOutcomes.reduce((records, outcome) => records + counts[outcome], counts.replayed);
  return records === 0
    ? []
    : [`${are(records)} archived, in ${objectsOf(objects)} of ${size(bytes)} together.`];
}

function describeReplays(replays: ReadonlyMap<string, number>): string[] {
  return [...replays].map(([name, count]) => `${are(count)} of replay ${printable(name)}, without payloads.`);
}

function describeForgotten({ forgotten }: Counts): string[] {
  return forgotten === 0 ? [] : [`${are(forgotten)} forgotten, without payloads.`];
}

const are = (count: number) => (count === 1 ? '1 record is' : `${count.toLocaleString('en')} records are`);

/** `812 bytes`, `3.4 MB`. */
function size(bytes: number): string {
  return bytes < 100_000 ? `${bytes.toLocaleString('en')} bytes` : `${(bytes / 1e6).toFixed(1)} MB`;
}
