import { setTimeout as sleep } from 'node:timers/promises';
import type { SettledOutcome } from '../../../lambda/archive/record.ts';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { Progress } from '../../cli/terminal/progress.ts';
import { listArchive, readArchive } from '../../stage/archive/reader.ts';
import { bufferSeconds } from '../../stage/archive/retention.ts';
import type { Operation } from '../../stage/operation.ts';
import { forPeople } from '../../stage/operation.ts';
import { numberReader } from './deliveries.ts';
import { Latencies, type Percentiles } from './latencies.ts';
import { NumberSet } from './number-set.ts';
import { deliveriesOf, type LoadPlan } from './plan.ts';
import type { Run } from './run.ts';

/**
 * Milliseconds without any new record after which no more is waited for: the second attempt of what failed comes within
 * 38 s (`lambda/consumer/retry.ts`). In AWS what the archive collects comes on top.
 */
const PATIENCE = 60_000;

/** Milliseconds between two looks at the archive, here and in AWS, where each is paid for. */
const LOOK_INTERVAL = { local: 500, aws: 10_000 };

/** How the deliveries of a run had their effect, as the archive has it. */
export interface Effect {
  /** Deliveries that were answered 200. */
  readonly accepted: number;
  /** Of these, what is not in the archive, which was looked through for long enough. */
  readonly missing: number;
  /** Of these, what had not been found when reading ended early, and why it did. */
  readonly unread?: { readonly count: number; readonly why: string };
  /** What there is in the archive though it was not answered 200: the answer came too late, or not at all. */
  readonly unanswered: number;
  /** Each delivery once, by what it came to first. */
  readonly outcomes: Partial<Record<SettledOutcome, number>>;
  /** Further records of the same deliveries: SQS delivers at least once. */
  readonly repeated: number;
  /** From the receipt to the effect, by the clocks of the functions: as the metric EffectLatency is. */
  readonly latency: Percentiles;
}

/** The archive of a stack, of which it is noted what was there before a run. */
export class EffectReader {
  readonly #operation: Operation;
  readonly #plan: Pick<LoadPlan, 'mix' | 'run'>;
  /** What to read: the run's events from its begin on. */
  readonly #window: { readonly events: readonly EventName[]; readonly since: Date };
  /** Keys of objects that are read, or older than the run. */
  readonly #known = new Set<string>();

  /** To be called before the run. @throws CommandError where the stack keeps no archive */
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
   * Waits until what was accepted had its effect, as long as there is news of it. Interrupted, or where the archive cannot
   * be read any more, it tells what it knows: the receipts are lost otherwise.
   * @param patience milliseconds without news. @default a minute, and in AWS what the archive collects besides
   */
  async read({ plan, measurements, begin }: Run, patience?: number): Promise<Effect> {
    const { stack, signal, progress = new Progress() } = this.#operation;
    const accepted = measurements.accepted.size;
    const numberOf = numberReader(this.#plan.run);
    const latency = new Latencies();
    const found = new NumberSet(deliveriesOf(plan));
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
        // The records of a damaged object are unknown, and the others count.
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

/** What stands in the way of the archive, in one line. */
function reasonOf(error: unknown, local: boolean): string {
  const told = forPeople(error, local);
  return told instanceof Error ? (told.message.split('\n')[0] ?? told.name) : String(told);
}
