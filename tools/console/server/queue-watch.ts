import type { HistoryStore } from '../../stage/history/store.ts';
import type { FaultsInfo, QueuesInfo } from '../api.ts';
import type { PageUpdates } from './page-updates.ts';

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
  readonly updates: PageUpdates;
  readonly store: HistoryStore;
  readonly readQueues: () => Promise<QueuesInfo>;
  /** Undefined for a stage, which has no faults. */
  readonly readFaults: (() => FaultsInfo) | undefined;
  readonly onError: (error: unknown) => void;
}

/** Reads queues and faults, once for all open pages, and not at all while no page is open. */
export class QueueWatch {
  readonly #options: QueueWatchOptions;
  readonly #isLocal: boolean;
  #pages = 0;
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe = () => {};
  /** The last read. The next one begins after it. */
  #last: Promise<unknown> = Promise.resolve();
  #isReading = false;
  /** When the last read began, in epoch milliseconds. */
  #readAt = 0;
  /** Number of reads that are due because something has changed. */
  #due = 0;

  constructor(options: QueueWatchOptions) {
    this.#options = options;
    this.#isLocal = options.readFaults !== undefined;
  }

  /**
   * Called when a page opens.
   * @returns a function to call when the page closes
   */
  open(): () => void {
    this.#pages += 1;
    if (this.#pages === 1) {
      // Changes of the local stack are not recorded while no page is open, so a change is assumed.
      if (this.#isLocal) this.#unsubscribe = this.#options.store.subscribe(() => this.change());
      if (this.#isLocal) this.change();
      this.#timer = setInterval(() => this.#readIfDue(), GAP);
      this.#readIfDue();
    }
    return () => {
      this.#pages -= 1;
      if (this.#pages > 0) return;
      clearInterval(this.#timer);
      this.#unsubscribe();
    };
  }

  /** Called when a queue may have changed. A local queue changes a moment after the log line that reports it. */
  change(): void {
    this.#due = this.#isLocal ? 2 : 1;
  }

  /** Reads the queues now, and also sends the result to all open pages. */
  async read(): Promise<QueuesInfo> {
    const reading = this.#last.then(async () => {
      this.#due = Math.max(0, this.#due - 1);
      this.#readAt = Date.now();
      const data = await this.#options.readQueues();
      this.#options.updates.publish({ event: 'queues', data });
      this.sendFaults();
      return data;
    });
    this.#last = reading.catch(() => {});
    return reading;
  }

  /** Resolves when no read is under way. */
  async idle(): Promise<void> {
    await this.#last;
  }

  /** Sends the faults to all open pages. */
  sendFaults(): void {
    const data = this.#options.readFaults?.();
    if (data !== undefined) this.#options.updates.publish({ event: 'faults', data });
  }

  #readIfDue(): void {
    const isOld = Date.now() - this.#readAt >= (this.#isLocal ? LOCAL_EVERY : STAGE_EVERY);
    if (this.#isReading || !(isOld || this.#due > 0)) return;
    this.#isReading = true;
    this.read()
      .catch(this.#options.onError)
      .finally(() => {
        this.#isReading = false;
      });
  }
}
