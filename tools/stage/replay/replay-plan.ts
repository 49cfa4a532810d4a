import type { ArchiveRecord, SettledOutcome } from '../../../lambda/archive/record.ts';
import { type EventName, eventNames, isNotification } from '../../../lambda/events/catalogue.ts';
import { REPLAYABLE_DAYS, REPLAYABLE_RECEIPT_DAYS } from '../../../lambda/limits.ts';
import type { ReplayMode } from '../../../lambda/queue/replay.ts';
import { CommandError, UsageError } from '../../terminal/command-error.ts';
import { isOfAcceptance } from '../archive/acceptance-records.ts';
import type { ArchiveObject } from '../archive/archive-object.ts';
import { readArchive } from '../archive/read-archive.ts';
import { IdCandidates, matches, type RecordFilter, requireWindow } from '../archive/record-filter.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { hashes } from './checkpoint.ts';
import { DEFAULT_RATE } from './limits.ts';
import type { ReplayState, Unsent } from './replay-state.ts';

const DAY = 24 * 60 * 60 * 1000;

/** What a replay would do: its messages in total and by event and outcome, and the records that it skips. */
export type ReplayPlan = NonNullable<Awaited<ReturnType<typeof makePlan>>>;

/**
 * The objects of a replay's window for one event, one at a time. A replay may wait for hours, and somebody may change
 * objects that were downloaded ahead.
 */
export const replayObjects = (
  stack: Stage,
  request: ReplayRequest,
  { event, ...options }: { event: EventName; skip: (key: string) => boolean; signal: AbortSignal },
) => readArchive(stack, { ...filterOf(request), events: [event], parallel: 1, ...options });

/**
 * The records of an object to replay, each with the reason if it is not sent. Leaves out records of messages that this
 * replay itself has sent.
 */
export async function* replayRecords(
  object: ArchiveObject,
  request: ReplayRequest,
): AsyncGenerator<{ line: number; record: ArchiveRecord; unsent: Unsent | undefined }> {
  const filter = filterOf(request);
  for await (const { line, record } of object.records()) {
    if (!matches(filter, record) || record.replay?.name === request.name) continue;
    yield { line, record, unsent: unsentOf(record, request) };
  }
}

function unsentOf(record: ArchiveRecord, { filter: { shop, ids } }: ReplayRequest): Unsent | undefined {
  const { replay, forgottenAt, receivedAt } = record;
  if (replay !== undefined) return 'ofReplays';
  if (shop === undefined && ids === undefined && isOfAcceptance(record)) return 'ofAcceptance';
  if (forgottenAt !== undefined) return 'forgotten';
  return Date.parse(receivedAt) < Date.now() - REPLAYABLE_RECEIPT_DAYS * DAY ? 'tooOld' : undefined;
}

const filterOf = ({ filter }: ReplayRequest): RecordFilter => ({
  ...filter,
  since: new Date(filter.since),
  until: new Date(filter.until),
});

const nothing = (): Record<Unsent, number> => ({
  ofReplays: 0,
  ofAcceptance: 0,
  forgotten: 0,
  tooOld: 0,
  payloadGone: 0,
});

/**
 * Counts what a replay would send. The messages are not held in memory.
 * @throws CommandError if an id of the filter is not unique
 * @returns undefined if Ctrl-C ended it. `barren`: objects without messages to send, as hashes in the format of `done`,
 * and their skipped records. The replay does not read these objects again
 * @example
 * const plan = await makePlan(operation, newRequest(operation.stack, options, new Date()));
 * if (plan !== undefined) operation.printLine(`${plan.messages} messages`);
 */
export async function makePlan(operation: Operation, request: ReplayRequest) {
  const { stack, signal, progress } = operation;
  const counts = new Map<EventName, Map<SettledOutcome, number>>();
  const skipped = nothing();
  const barren = { keys: [] as string[], skipped: nothing() };
  let messages = 0;
  const candidates = new IdCandidates(request.filter.ids);
  const objects = readArchive(stack, { ...filterOf(request), signal, progress, doing: 'Planning' });
  for await (const object of objects) {
    const unsentHere: Unsent[] = [];
    let isBarren = true;
    for await (const { record, unsent } of replayRecords(object, request)) {
      candidates.add(record);
      if (unsent !== undefined) {
        unsentHere.push(unsent);
        skipped[unsent] += 1;
        continue;
      }
      isBarren = false;
      messages += 1;
      const { event, outcome } = record;
      const outcomes = counts.get(event) ?? new Map<SettledOutcome, number>();
      counts.set(event, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1));
    }
    // If Ctrl-C or damage ended the reading, the rest of the object may have messages to send.
    if (signal.aborted || object.damage !== undefined || !isBarren) continue;
    barren.keys.push(object.key);
    for (const reason of unsentHere) barren.skipped[reason] += 1;
  }
  if (signal.aborted) return undefined;
  candidates.requireUnique();
  const done = hashes(barren.keys);
  return { messages, counts, skipped, damaged: objects.damaged, barren: { done, skipped: barren.skipped } };
}

interface TypedTime {
  readonly text: string;
  readonly moment: Date;
}

export interface ReplayOptions {
  /** @default every event */
  readonly events: readonly EventName[];
  readonly since?: TypedTime | undefined;
  /** @default now */
  readonly until?: TypedTime | undefined;
  readonly shop?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly outcomes?: readonly SettledOutcome[] | undefined;
  /** @default fill */
  readonly mode?: ReplayMode | undefined;
  readonly notify?: boolean | undefined;
  /** @default mode and time */
  readonly name?: string | undefined;
  /** Maximum messages a second. @default that of the last run, or 100 */
  readonly rate?: number | undefined;
  /** Stops after printing the plan. */
  readonly dryRun: boolean;
  /** Does not ask for confirmation. */
  readonly yes: boolean;
}

/** The properties that cannot change after a replay has begun. */
export type ReplayRequest = Pick<ReplayState, 'name' | 'mode' | 'notify' | 'filter' | 'typed'>;

/** @throws CommandError if the options are not possible for a replay */
export function newRequest(stack: Stage, options: ReplayOptions, now: Date): ReplayRequest {
  const { events, since, until, shop, ids, outcomes, mode = 'fill', notify = false, name } = options;
  if (since === undefined) {
    throw new UsageError(
      name === undefined
        ? 'Give a start, such as --since 3d'
        : `There is no replay ${name} in ${stack.title}. To start one, give --since`,
    );
  }
  const end = until?.moment ?? now;
  for (const [option, time] of Object.entries({ since: since.moment, until: end })) {
    if (time > now) throw new UsageError(`--${option} is in the future: ${time.toISOString()}`);
  }
  requireWindow({ since: since.moment, until: end });
  const earliest = new Date(now.getTime() - REPLAYABLE_DAYS * DAY);
  if (since.moment < earliest) {
    throw new UsageError(
      `A replay reaches back ${REPLAYABLE_DAYS} days, to ${earliest.toISOString()}. --since is ${since.moment.toISOString()}`,
    );
  }
  if (notify && events.length > 0 && !events.some(isNotification)) {
    const notifying = eventNames.filter(isNotification).join(' and ');
    throw new UsageError(
      `--notify is for events that send notifications: ${notifying}. These do not: ${events.join(', ')}`,
    );
  }
  return {
    name: name ?? `${mode}-${compact(now)}`,
    mode,
    notify,
    filter: {
      events: [...new Set(events.length === 0 ? eventNames : events)],
      since: since.moment.toISOString(),
      until: end.toISOString(),
      shop,
      ids: ids && [...ids],
      outcomes: outcomes && [...outcomes],
    },
    typed: { since: since.text, until: until?.text },
  };
}

/**
 * The words after `hookctl` that run a planned replay: its times are absolute and its name is fixed, so it sends
 * nothing that settles after the plan.
 * @param rate messages a second
 */
export function plannedCommand({ name, mode, notify, filter }: ReplayRequest, rate: number): string[] {
  const { events, since, until, shop, ids = [], outcomes = [] } = filter;
  return [
    'replay',
    ...(events.length === eventNames.length ? [] : events),
    ...['--since', since, '--until', until],
    ...(shop === undefined ? [] : ['--shop', shop]),
    ...ids.flatMap((id) => ['--id', id]),
    ...outcomes.flatMap((outcome) => ['--outcome', outcome]),
    ...(mode === 'fill' ? [] : ['--mode', mode]),
    ...(notify ? ['--notify'] : []),
    ...['--name', name],
    ...(rate === DEFAULT_RATE ? [] : ['--rate', String(rate)]),
    '--yes',
  ];
}

/**
 * The words after `hookctl` that continue a replay.
 * @param rate messages a second.
 * @default the rate of the last run
 */
export const continuation = (name: string, rate?: number) => [
  'replay',
  ...['--name', name],
  ...(rate === undefined ? [] : ['--rate', String(rate)]),
  '--yes',
];

/**
 * Compares the options given on resume with those of the replay. An option that is not given stays unchanged.
 * @throws CommandError that names the differences
 */
export function refuseAnother(options: ReplayOptions, state: ReplayState): void {
  const { name, mode, notify, filter, typed } = state;
  const { events, since, until, shop, ids, outcomes } = options;
  const list = (items: readonly string[] = []) => [...new Set(items)].sort().join(', ') || undefined;
  const time = (given: TypedTime | undefined, text: string | undefined, moment: string) =>
    given?.text === text ? moment : given?.moment.toISOString();
  const compared: readonly (readonly [string, given: string | undefined, own: string | undefined])[] = [
    ['event', list(events), list(filter.events)],
    ['--since', time(since, typed.since, filter.since), filter.since],
    ['--until', time(until, typed.until, filter.until), filter.until],
    ['--shop', shop, filter.shop],
    ['--id', list(ids), list(filter.ids)],
    ['--outcome', list(outcomes), list(filter.outcomes)],
    ['--mode', options.mode, mode],
    ['--notify', options.notify ? 'on' : undefined, notify ? 'on' : 'off'],
  ];
  const differences = compared.flatMap(([option, given, own = 'any']) =>
    given === undefined || given === own ? [] : [`its ${option} is ${own}`],
  );
  if (differences.length === 0) return;
  throw new CommandError(
    `Replay ${name} has other options: ${differences.join('; ')}. Continue it with --name alone, or choose another --name`,
  );
}

/** `20261121-093000`. */
const compact = (time: Date) => time.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
