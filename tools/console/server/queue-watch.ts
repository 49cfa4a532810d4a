import { isEventName } from '../../../lambda/events/catalogue.ts';
import type { HistoryStore } from '../../stage/history/store.ts';
import { pausedQueue } from '../../stage/history/trace.ts';
import { pausesOf } from '../../stage/queues/pause.ts';
import { oldestMessage, queueState, waitingQueues } from '../../stage/queues/queue.ts';
import type { Stage } from '../../stage/stage.ts';
import type { QueueDepth, QueueInfo, QueuesInfo } from '../api.ts';
import { PartialFailures } from './api-problem.ts';
import type { LocalParts } from './console-context.ts';

/** Minimum milliseconds between two reads of all queues. */
const GAP = 2_000;

/**
 * Milliseconds between reads of the local stack without a known change. Such reads find what a command in a terminal
 * changed, such as a pause.
 */
const LOCAL_EVERY = 10_000;

/**
 * Milliseconds between reads of a stage. A read needs about twenty SQS calls. One read a minute costs a cent an hour.
 */
const STAGE_EVERY = 60_000;

interface QueueWatchOptions {
  readonly store: HistoryStore;
  readonly readQueues: () => Promise<QueuesInfo>;
  readonly onRead: (queues: QueuesInfo) => void;
  readonly isLocal: boolean;
  /** Aborted when the console closes. */
  readonly closing: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** Reads queues, once for all open pages, and not at all while no page is open. */
export class QueueWatch {
  readonly #options: QueueWatchOptions;
  #pages = 0;
  /** The last read. The next one begins after it. */
  #last: Promise<unknown> = Promise.resolve();
  #isReading = false;
  /** When the last read began, in epoch milliseconds. */
  #readAt = 0;
  /** Number of reads that are due because something has changed. */
  #due = 0;

  constructor(options: QueueWatchOptions) {
    const { isLocal, store, closing } = options;
    this.#options = options;
    // A local queue changes a moment after the log line that reports it, so it is read twice.
    const onChange = () => {
      this.#due = 2;
    };
    if (isLocal) store.subscribe(onChange);
    // If the console cannot start, nothing clears it, and it must not keep the process.
    const timer = setInterval(() => this.#readIfDue(), GAP).unref();
    closing.addEventListener('abort', () => clearInterval(timer));
  }

  /**
   * Called when a page opens.
   * @returns a function to call when the page closes
   */
  open(): () => void {
    this.#pages += 1;
    if (this.#pages === 1) this.#readIfDue();
    return () => {
      this.#pages -= 1;
    };
  }

  /** Reads the queues now, and also sends the result to all open pages. */
  async read(): Promise<QueuesInfo> {
    const reading = this.#last.then(async () => {
      this.#due = Math.max(0, this.#due - 1);
      this.#readAt = Date.now();
      const queues = await this.#options.readQueues();
      this.#options.onRead(queues);
      return queues;
    });
    this.#last = reading.catch(() => {});
    return reading;
  }

  /** Resolves when no read is under way. */
  async idle(): Promise<void> {
    await this.#last;
  }

  #readIfDue(): void {
    const isOld = Date.now() - this.#readAt >= (this.#options.isLocal ? LOCAL_EVERY : STAGE_EVERY);
    if (this.#pages === 0 || this.#isReading || !(isOld || this.#due > 0)) return;
    this.#isReading = true;
    this.read()
      .catch(this.#options.onError)
      .finally(() => {
        this.#isReading = false;
      });
  }
}

/**
 * Reads the depth of every queue of a stack. If a permission is missing, `problems` names the permission, and the other
 * depths are returned.
 */
export async function readQueues(stage: Stage, local: LocalParts | undefined): Promise<QueuesInfo> {
  const problems = new PartialFailures();
  const pauses = await problems.unless('what is paused', pausesOf(stage));
  const queues = await Promise.all(
    waitingQueues(stage).map(async ({ name, title, url }): Promise<QueueInfo | undefined> => {
      const aside = await depth(title, url);
      if (!isEventName(name)) return aside && { name, aside };
      const work = await depth(`the queue of ${name}`, stage.ofEvent(name, 'QueueUrl'));
      const pause = pauses?.find(({ event }) => event === name);
      const paused = pause && {
        paused: pausedQueue(pause),
        ...(pause.turningOff && { pausing: true as const }),
      };
      return work && aside && { name, work, aside, ...paused };
    }),
  );
  return {
    queues: queues.filter((queue) => queue !== undefined),
    ...(pauses === undefined && { pausesUnknown: true as const }),
    ...(local && { faults: local.stack.faults.active }),
    problems: problems.lines,
  };

  async function depth(title: string, url: string): Promise<QueueDepth | undefined> {
    const state = await problems.unless(title, queueState(stage.sqs, url));
    if (state === undefined) return undefined;
    const { visible, inFlight, arn } = state;
    if (visible + inFlight === 0) return { visible, inFlight };
    const oldest = await problems.unless('the age of the oldest message', oldestAt(url, arn));
    return { visible, inFlight, ...(oldest && { oldestAt: new Date(oldest).toISOString() }) };
  }

  /**
   * In epoch milliseconds. On a stage from CloudWatch's metric, because SQS does not report it, and receiving a message
   * would count as an attempt.
   */
  async function oldestAt(url: string, arn: string): Promise<number | undefined> {
    if (local === undefined) return oldestMessage(stage, arn);
    const sent = (await local.stack.inspectQueue(url)).map(({ sentAt }) => sentAt.getTime());
    return sent.length === 0 ? undefined : Math.min(...sent);
  }
}
