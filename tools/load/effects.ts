import { setTimeout as sleep } from 'node:timers/promises';
import type { ArchiveRecord, SettledOutcome } from '../../lambda/archive/record.ts';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { FIRST_RETRY_SECONDS, RETRY_JITTER } from '../../lambda/limits.ts';
import { listArchive, readArchive } from '../stage/archive/read-archive.ts';
import { bufferSeconds } from '../stage/archive/retention.ts';
import { type Operation, refusalOf } from '../stage/operation.ts';
import { Progress } from '../terminal/progress.ts';
import { numberIn } from './deliveries.ts';
import { ACCEPTED, SETTLED } from './measurements.ts';
import type { LoadPlan } from './plan.ts';
import type { LoadRun } from './run.ts';

/**
 * Milliseconds without a new record after which reading ends: the longest delay until a failed delivery's second
 * attempt, and 20 s for the attempt. In AWS the archive's buffering time is added.
 */
const PATIENCE = (FIRST_RETRY_SECONDS * (1 + RETRY_JITTER) + 20) * 1000;

/** How a run's deliveries ended, each by its first record in the archive. Their latencies are in the measurements. */
export interface LoadEffects {
  /** Deliveries that were answered 200 and are not in the archive. */
  missing: number;
  /** Deliveries in the archive that were not answered 200: the answer came too late, or not at all. */
  unanswered: number;
  readonly outcomes: Partial<Record<SettledOutcome, number>>;
  /** Further records of the same deliveries: SQS delivers at least once. */
  repeated: number;
  /** Why reading ended before all deliveries were found. The missing ones may have had their effect. */
  unread?: string | undefined;
}

/** Milliseconds between two listings of the archive. In AWS each is charged. */
const POLL_INTERVAL = { local: 500, aws: 10_000 };

/** Reads the results of a run from the archive. Ignores objects that existed before the reader was opened. */
export class EffectReader {
  readonly #operation: Operation;
  readonly #window;
  /** Keys of objects that were read, or that are older than the run. */
  readonly #known = new Set<string>();

  /** Opens the reader. Must be called before the run, because all objects that exist then are ignored. */
  static async open(operation: Operation, { mix }: LoadPlan): Promise<EffectReader> {
    const reader = new EffectReader(operation, mix);
    for await (const { key } of listArchive(operation.stack, reader.#window)) reader.#known.add(key);
    return reader;
  }

  private constructor(operation: Operation, mix: LoadPlan['mix']) {
    this.#operation = operation;
    this.#window = { events: eventNames.filter((event) => mix[event] > 0), since: new Date() };
  }

  /**
   * Waits until all accepted deliveries are processed, as long as new records arrive. If it is interrupted, or the
   * archive becomes unreadable, it returns the results so far, because the measured answers would be lost otherwise.
   * @param patience milliseconds without a new record. In AWS the archive's buffering time is added
   */
  async read(run: LoadRun, patience = PATIENCE): Promise<LoadEffects> {
    const { stack, signal, progress = new Progress() } = this.#operation;
    const total = run.measurements.total.accepted;
    const effects: LoadEffects = { missing: total, unanswered: 0, outcomes: {}, repeated: 0 };
    try {
      const delay = stack.local ? 0 : ((await bufferSeconds(stack, this.#window.events)) ?? 0);
      const note = delay > 0 ? `the archive is up to ${delay} s late` : '';
      let newRecordAt = performance.now();
      while (effects.missing > 0 && performance.now() - newRecordAt < patience + delay * 1_000) {
        await sleep(POLL_INTERVAL[stack.local ? 'local' : 'aws'], undefined, { signal });
        if (await this.#readNew(run, effects)) newRecordAt = performance.now();
        const done = total - effects.missing;
        progress.show({ doing: 'Waiting for effects', done, total, unit: 'deliveries', note });
      }
    } catch (error) {
      effects.unread = signal.aborted ? 'interrupted' : refusalOf(error, stack.local);
    } finally {
      progress.end();
    }
    return effects;
  }

  /** @returns whether there are new records of the run */
  async #readNew(run: LoadRun, effects: LoadEffects): Promise<boolean> {
    const { stack, signal } = this.#operation;
    const reading = readArchive(stack, { ...this.#window, skip: (key) => this.#known.has(key), signal });
    let hasNew = false;
    for await (const object of reading) {
      this.#known.add(object.key);
      for await (const { record } of object.records()) {
        if (takeRecord(record, run, effects)) hasNew = true;
      }
    }
    // Records of a damaged object are unknown. All others count.
    effects.unread = reading.damaged.at(-1)?.message ?? effects.unread;
    return hasNew;
  }
}

/** @returns whether it is a record of the run */
function takeRecord(record: ArchiveRecord, run: LoadRun, effects: LoadEffects): boolean {
  const { body = '', replay, outcome, receivedAt, settledAt } = record;
  const number = numberIn(body, run.plan.run);
  if (number === undefined || replay !== undefined) return false;
  const { states } = run.measurements;
  if (states[number] === SETTLED) {
    effects.repeated += 1;
    return true;
  }
  if (states[number] === ACCEPTED) effects.missing -= 1;
  else effects.unanswered += 1;
  states[number] = SETTLED;
  effects.outcomes[outcome] = (effects.outcomes[outcome] ?? 0) + 1;
  // Both times are by AWS's clocks, as for the metric EffectLatency.
  const [from, to] = [Date.parse(receivedAt), Date.parse(settledAt)];
  if (outcome !== 'DeadLettered') run.measurements.takeEffect(from - run.begin, Math.max(0, to - from));
  return true;
}
