import type { ArchiveRecord, SettledOutcome } from '../../../lambda/archive/record.ts';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { REPLAYABLE_RECEIPT_DAYS } from '../../../lambda/queue/replay.ts';
import { lateProgress } from '../../cli/terminal/progress.ts';
import { matches, type RecordFilter, recordFilter } from '../archive/filter.ts';
import type { ArchiveObject } from '../archive/object.ts';
import { readArchive } from '../archive/reader.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { hashes } from './checkpoint.ts';
import type { ReplayRequest } from './request.ts';
import type { Unsent } from './state.ts';

const DAY = 24 * 60 * 60 * 1000;

/** What a replay would do: its messages, by event and outcome too, and what is skipped. */
export type Plan = NonNullable<Awaited<ReturnType<typeof makePlan>>>;

/**
 * The objects of a replay's window for one event, one at a time: a replay may wait for hours, and objects that were opened
 * ahead would be downloaded again.
 */
export const replayObjects = (
  stack: Stage,
  request: ReplayRequest,
  { event, ...options }: { event: EventName; skip: (key: string) => boolean; signal: AbortSignal },
) => readArchive(stack, { ...filterOf(request), events: [event], parallel: 1, ...options });

/**
 * The records of an object that a replay is about, with the reason if one is not to be sent. Those that the replay itself
 * has led to are left out.
 */
export async function* replayRecords(
  object: ArchiveObject,
  request: ReplayRequest,
): AsyncGenerator<{ line: number; record: ArchiveRecord; unsent: Unsent | undefined }> {
  const filter = filterOf(request);
  for await (const { line, record } of object.records()) {
    if (!matches(filter, record) || record.replay?.name === request.name) continue;
    yield { line, record, unsent: unsentOf(record) };
  }
}

function unsentOf({ replay, forgottenAt, receivedAt }: ArchiveRecord): Unsent | undefined {
  if (replay !== undefined) return 'ofReplays';
  if (forgottenAt !== undefined) return 'forgotten';
  return Date.parse(receivedAt) < Date.now() - REPLAYABLE_RECEIPT_DAYS * DAY ? 'tooOld' : undefined;
}

function filterOf({ filter: { since, until, events, shop, ids, outcomes } }: ReplayRequest): RecordFilter {
  return recordFilter({ events, since: new Date(since), until: new Date(until), shop, ids, outcomes });
}

const nothing = (): Record<Unsent, number> => ({ ofReplays: 0, forgotten: 0, tooOld: 0, payloadGone: 0 });

/**
 * Reads what there is to replay, and holds none of it.
 * @returns undefined if Ctrl-C ended it. `barren`: objects without messages, as `done` of the state has them, and what
 * is skipped in them. They are not read again
 */
export async function makePlan(operation: Operation, request: ReplayRequest) {
  const { stack, signal, progress = lateProgress() } = operation;
  const counts = new Map<EventName, Map<SettledOutcome, number>>();
  const skipped = nothing();
  const barren = { keys: [] as string[], skipped: nothing() };
  let messages = 0;
  const objects = readArchive(stack, { ...filterOf(request), signal, progress, doing: 'Planning' });
  for await (const object of objects) {
    const unsentHere: Unsent[] = [];
    let isBarren = true;
    for await (const { record, unsent } of replayRecords(object, request)) {
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
    // A read that Ctrl-C or damage ended says nothing about the rest.
    if (signal.aborted || object.damage !== undefined || !isBarren) continue;
    barren.keys.push(object.key);
    for (const reason of unsentHere) barren.skipped[reason] += 1;
  }
  if (signal.aborted) return undefined;
  const done = hashes(barren.keys);
  return { messages, counts, skipped, damaged: objects.damaged, barren: { done, skipped: barren.skipped } };
}
