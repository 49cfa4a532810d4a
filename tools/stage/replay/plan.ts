import type { ArchiveRecord, SettledOutcome } from '../../../lambda/archive/record.ts';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { REPLAYABLE_RECEIPT_DAYS } from '../../../lambda/queue/replay.ts';
import { matches, type RecordFilter, recordFilter } from '../archive/filter.ts';
import type { DamagedObjectError } from '../archive/lines.ts';
import { type ArchivedObject, archiveObjects } from '../archive/objects.ts';
import { readObject } from '../archive/records.ts';
import { eachObject } from '../archive/scan.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { hashes } from './ledger.ts';
import type { ReplayRequest } from './request.ts';
import type { Unsent } from './state.ts';

/** Objects that are read at a time: each is a call to S3 that mostly waits. */
const OBJECTS_AT_A_TIME = 8;

const DAY = 24 * 60 * 60 * 1000;

/** What a replay would do. */
export interface Plan {
  readonly messages: number;
  /** Messages by event and outcome. */
  readonly counts: ReadonlyMap<EventName, ReadonlyMap<SettledOutcome, number>>;
  readonly skipped: Readonly<Record<Unsent, number>>;
  readonly damaged: readonly DamagedObjectError[];
  /** Objects without messages, as `done` of the state has them, and what is skipped in them. They are not read again. */
  readonly barren: { readonly done: string; readonly skipped: Readonly<Record<Unsent, number>> };
}

/** The objects of a replay's window. */
export const replayObjects = (stack: Stage, request: ReplayRequest) =>
  archiveObjects(stack, filterOf(request));

/**
 * The records of an object that a replay is about, with the reason if one is not to be sent. Those that the replay itself
 * has led to are left out.
 * @throws DamagedObjectError after the last record that can be read
 */
export async function* replayRecords(
  stack: Stage,
  object: ArchivedObject,
  request: ReplayRequest,
  signal: AbortSignal,
): AsyncGenerator<{ line: number; record: ArchiveRecord; unsent: Unsent | undefined }> {
  const filter = filterOf(request);
  for await (const { line, record } of readObject(stack, object, signal)) {
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

/** Reads what there is to replay, and holds none of it. @returns undefined if Ctrl-C ended it */
export async function makePlan(operation: Operation, request: ReplayRequest): Promise<Plan | undefined> {
  const { stack, signal } = operation;
  const counts = new Map<EventName, Map<SettledOutcome, number>>();
  const skipped = nothing();
  const barren = { keys: [] as string[], skipped: nothing() };
  let messages = 0;
  const read = async (object: ArchivedObject) => {
    const unsentHere: Unsent[] = [];
    let isBarren = true;
    for await (const { record, unsent } of replayRecords(stack, object, request, signal)) {
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
    // A read that Ctrl-C ended says nothing about the rest.
    if (signal.aborted || !isBarren) return;
    barren.keys.push(object.key);
    for (const reason of unsentHere) barren.skipped[reason] += 1;
  };
  const filter = filterOf(request);
  const { damaged } = await eachObject(operation, filter, 'Planning', OBJECTS_AT_A_TIME, read);
  if (signal.aborted) return undefined;
  const done = hashes(barren.keys);
  return { messages, counts, skipped, damaged, barren: { done, skipped: barren.skipped } };
}
