import { setTimeout as sleep } from 'node:timers/promises';
import type { SettledOutcome } from '../../../lambda/archive/record.ts';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { FIRST_RETRY_SECONDS, RETRY_JITTER } from '../../../lambda/limits.ts';
import { listArchive, readArchive } from '../../stage/archive/read-archive.ts';
import { bufferSeconds } from '../../stage/archive/retention.ts';
import type { Operation } from '../../stage/operation.ts';
import { forPeople } from '../../stage/operation.ts';
import { numberReader } from './deliveries.ts';
import { Bitmap, LatencyHistogram, type Percentiles } from './measurements.ts';
import { deliveriesOf, type LoadPlan } from './plan.ts';
import type { Run } from './run.ts';

/**
 * Milliseconds without a new record after which reading ends: the longest delay until a failed delivery's second
 * attempt, and 20 s for the attempt. In AWS the archive's buffering time is added.
 */
const PATIENCE = (FIRST_RETRY_SECONDS * (1 + RETRY_JITTER) + 20) * 1000;

/** Milliseconds between two listings of the archive. In AWS each is charged. */
const LOOK_INTERVAL = { local: 500, aws: 10_000 };

/** The results of a run's deliveries, from the archive. */
export interface Effect {
  /** Deliveries that were answered 200. */
  readonly accepted: number;
  /** Accepted deliveries that were still not in the archive at the end of the wait. */
  readonly missing: number;
  /** Accepted deliveries that had not been found when reading ended early. */
  readonly unread?: { readonly count: number; readonly why: string };
  /** Deliveries in the archive that were not answered 200: the answer came too late, or not at all. */
  readonly unanswered: number;
  /** Each delivery once, by its first outcome. */
  readonly outcomes: Partial<Record<SettledOutcome, number>>;
  /** Further records of the same deliveries: SQS delivers at least once. */
  readonly repeated: number;
  /** From the receipt to the effect, by the functions' clocks, like the metric EffectLatency. */
  readonly latency: Percentiles;
}

/** Reads the results of a run from the archive. Ignores objects from before the run. */
export class EffectReader {
  readonly #operation: Operation;
  readonly #plan: Pick<LoadPlan, 'mix' | 'run'>;
  /** What to read: the run's events since its beginning. */
  readonly #window: { readonly events: readonly EventName[]; readonly since: Date };
  /** Keys of objects that were read, or that are older than the run. */
  readonly #known = new Set<string>();

  /** Call it before the run. @throws CommandError if the stack has no archive */
  static async open(operation: Operation, plan: Pick<LoadPlan, 'mix' | 'run'>): Promise<EffectReader> {
    const reader = new EffectReader(operation, plan);
    for await (const { key } of listArchive(operation.stack, reader.#window)) reader.#known.add(key);
    return reader;
  }

  private constructor(operation: Operation, plan: Pick<LoadPlan, 'mix' | 'run'>) {
    this.#operation = operation;
    this.#plan = plan;
    const events = eventNames.filter((event) => plan.mix[event] > 0);
    this.#window = { events, since: new Date() };
  }

  /**
   * Waits until all accepted deliveries are processed, as long as new records arrive. If it is interrupted, or the
   * archive becomes unreadable, it returns the results so far, because the measured answers would be lost otherwise.
   * @param patience milliseconds without a new record. @default a minute, and in AWS the archive's buffering time
   */
  async read({ plan, measurements, begin }: Run, patience?: number): Promise<Effect> {
    const { stack, signal, progress } = this.#operation;
    const accepted = measurements.accepted.size;
    const numberOf = numberReader(this.#plan.run);
    const latency = new LatencyHistogram();
    const found = new Bitmap(deliveriesOf(plan));
    const outcomes: Partial<Record<SettledOutcome, number>> = {};
    let repeated = 0;
    let had = 0;
    let news = performance.now();
    let why: string | undefined;
    try {
      const collecting = stack.local ? 0 : ((await bufferSeconds(stack, this.#window.events)) ?? 0) * 1_000;
      const limit = patience ?? PATIENCE + collecting;
      while (!signal.aborted) {
        const reading = readArchive(stack, {
          ...this.#window,
          skip: (key) => this.#known.has(key),
          signal,
        });
        for await (const object of reading) {
          this.#known.add(object.key);
          for await (const { record } of object.records()) {
            const number = numberOf(record.body ?? '');
            if (number === undefined || record.replay !== undefined) continue;
            news = performance.now();
            if (!found.add(number)) {
              repeated += 1;
              continue;
            }
            outcomes[record.outcome] = (outcomes[record.outcome] ?? 0) + 1;
            if (measurements.accepted.has(number)) had += 1;
            if (record.outcome === 'DeadLettered') continue;
            const receivedAt = Date.parse(record.receivedAt);
            const milliseconds = Math.max(0, Date.parse(record.settledAt) - receivedAt);
            latency.add(milliseconds);
            measurements.takeEffect(receivedAt - begin, milliseconds);
          }
        }
        // Records of a damaged object are unknown. All others count.
        why = reading.damaged.at(-1)?.message ?? why;
        progress.show({
          doing: 'Waiting for effects',
          done: had,
          total: accepted,
          unit: 'deliveries',
          note: collecting > 0 ? `the archive is up to ${collecting / 60_000} min late` : '',
        });
        if (had >= accepted || performance.now() - news > limit) break;
        await sleep(stack.local ? LOOK_INTERVAL.local : LOOK_INTERVAL.aws, undefined, { signal }).catch(
          () => {},
        );
      }
    } catch (error) {
      if (!signal.aborted) why = reasonOf(error, stack.local);
    } finally {
      progress.end();
    }
    const open = accepted - had;
    if (signal.aborted) why = 'interrupted';
    const unread = why === undefined || open === 0 ? undefined : { count: open, why };
    return {
      accepted,
      missing: unread === undefined ? open : 0,
      ...(unread !== undefined && { unread }),
      unanswered: found.size - had,
      outcomes,
      repeated,
      latency: latency.percentiles(),
    };
  }
}

function reasonOf(error: unknown, local: boolean): string {
  const told = forPeople(error, local);
  return told instanceof Error ? (told.message.split('\n')[0] ?? told.name) : String(told);
}
