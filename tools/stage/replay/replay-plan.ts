import type { ArchiveRecord, SettledOutcome } from '../../../lambda/archive/record-schema.ts';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { REPLAYABLE_DAYS, REPLAYABLE_RECEIPT_DAYS } from '../../../lambda/limits.ts';
import type { Replay, ReplayMode } from '../../../lambda/queue/replay.ts';
import { UsageError } from '../../terminal/command-error.ts';
import { readArchive } from '../archive/read-archive.ts';
import { containsSearched, matches, type RecordFilter, requireWindow } from '../archive/record-filter.ts';
import type { Operation } from '../operation.ts';
import { isOfAcceptance, type PayloadFilter } from '../payload-filter.ts';
import type { Stage } from '../stage.ts';

const DAY = 24 * 60 * 60 * 1000;

export interface ReplayOptions extends PayloadFilter {
  /** @default every event */
  readonly events: readonly EventName[];
  readonly since?: Date | undefined;
  /** @default now */
  readonly until?: Date | undefined;
  readonly outcomes?: readonly SettledOutcome[] | undefined;
  /** @default fill */
  readonly mode?: ReplayMode | undefined;
  readonly notify?: boolean | undefined;
  /** @default mode and time */
  readonly name?: string | undefined;
  /** Maximum messages a second. */
  readonly rate: number;
  /** Stops after printing the plan. */
  readonly dryRun: boolean;
  /** Does not ask for confirmation. */
  readonly yes: boolean;
}

/** What a replay sends. Its window is absolute, so that the same request sends the same records later. */
export interface ReplayRequest extends Replay {
  readonly filter: RecordFilter & {
    readonly events: readonly EventName[];
    readonly since: Date;
    readonly until: Date;
  };
}

/** Why a record is not sent. */
type Unsent = 'ofReplays' | 'ofAcceptance' | 'forgotten' | 'tooOld' | 'payloadGone';

/** Number of records that are not sent, by the reason. */
export type UnsentCounts = Partial<Record<Unsent, number>>;

/** @throws UsageError if the options are not possible for a replay */
export function newRequest(options: ReplayOptions, now: Date): ReplayRequest {
  const { events, since, until = now, shop, search, outcomes } = options;
  const { mode = 'fill', notify = false, name } = options;
  if (since === undefined) throw new UsageError('Give a start, such as --since 3d');
  for (const [option, time] of Object.entries({ since, until })) {
    if (time > now) throw new UsageError(`--${option} is in the future: ${time.toISOString()}`);
  }
  requireWindow({ since, until });
  const earliest = new Date(now.getTime() - REPLAYABLE_DAYS * DAY);
  if (since < earliest) {
    throw new UsageError(
      `A replay reaches back ${REPLAYABLE_DAYS} days, to ${earliest.toISOString()}. --since is ${since.toISOString()}`,
    );
  }
  const all = [...new Set(events.length === 0 ? eventNames : events)];
  const filter = { events: all, since, until, shop, search, outcomes };
  return { name: name ?? `${mode}-${compact(now)}`, mode, notify, filter };
}

/** `20261121-093000`. */
const compact = (time: Date) => time.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');

/**
 * The words after `hookctl replay` that run a request, also again after an interruption. Times and name are fixed, so the
 * command sends nothing that settles later, and notifies nobody twice.
 * @param rate messages a second
 */
export function replayWords({ name, mode, notify, filter }: ReplayRequest, rate: number): string[] {
  const { events, since, until, shop, search, outcomes = [] } = filter;
  return [
    ...(events.length === eventNames.length ? [] : events),
    ...['--since', since.toISOString(), '--until', until.toISOString()],
    ...(shop === undefined ? [] : ['--shop', shop]),
    ...(search === undefined ? [] : ['--search', search]),
    ...outcomes.flatMap((outcome) => ['--outcome', outcome]),
    ...['--mode', mode],
    ...(notify ? ['--notify'] : []),
    ...['--name', name, '--rate', String(rate), '--yes'],
  ];
}

/** What a replay would do: its messages in total and by event and outcome, and the records that it skips. */
export type ReplayPlan = NonNullable<Awaited<ReturnType<typeof makePlan>>>;

/**
 * Counts what a replay would send. The messages are not held in memory.
 * @returns undefined if Ctrl-C ended it
 */
export async function makePlan({ stack, signal, progress }: Operation, request: ReplayRequest) {
  const counts = new Map<EventName, Map<SettledOutcome, number>>();
  const skipped: UnsentCounts = {};
  let messages = 0;
  const reading = readArchive(stack, { ...request.filter, signal, progress, doing: 'Planning' });
  for await (const { record, unsent } of replayRecords(stack, reading, request)) {
    if (unsent !== undefined) {
      skipped[unsent] = (skipped[unsent] ?? 0) + 1;
      continue;
    }
    messages += 1;
    const { event, outcome } = record;
    const outcomes = counts.get(event) ?? new Map<SettledOutcome, number>();
    counts.set(event, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1));
  }
  return signal.aborted ? undefined : { messages, counts, skipped, damaged: reading.damaged };
}

/**
 * The records to replay, each with the reason if it is not sent. Leaves out records of messages that this replay itself
 * has sent.
 */
export async function* replayRecords(
  stack: Stage,
  reading: ReturnType<typeof readArchive>,
  request: ReplayRequest,
): AsyncGenerator<{ record: ArchiveRecord; unsent: Unsent | undefined }> {
  for await (const object of reading) {
    for (const record of object.records()) {
      if (!matches(request.filter, record) || record.replay?.name === request.name) continue;
      if (!(await containsSearched(stack, request.filter, record))) continue;
      yield { record, unsent: unsentOf(record, request) };
    }
  }
}

function unsentOf(record: ArchiveRecord, { filter: { shop } }: ReplayRequest): Unsent | undefined {
  const { replay, forgottenAt, receivedAt } = record;
  if (replay !== undefined) return 'ofReplays';
  if (shop === undefined && isOfAcceptance(record)) return 'ofAcceptance';
  if (forgottenAt !== undefined) return 'forgotten';
  return Date.parse(receivedAt) < Date.now() - REPLAYABLE_RECEIPT_DAYS * DAY ? 'tooOld' : undefined;
}
