import type { HistoryStore } from '../../stage/history/store.ts';
import type { FaultsInfo, QueuesInfo } from '../api.ts';
import type { PageUpdate, PageUpdates } from './page-updates.ts';

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
  /** Number of reads that have not ended. */
  #reads = 0;
  /** When the last read began, in epoch milliseconds. */
  #readAt = 0;
  /** Whether something may have changed since the last read began. */
  #isChanged = false;
  /**
   * Whether to read the local stack once more: a queue changes a moment after the log line that reports it.
   */
  #isUnsettled = false;
  readonly #sent = { queues: '', faults: '' };

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
      this.#isChanged ||= this.#isLocal;
      if (this.#isLocal) this.#unsubscribe = this.#options.store.subscribe(() => this.change());
      this.sendFaults();
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

  /** Called when a queue may have changed. */
  change(): void {
    this.#isChanged = true;
  }

  /** Reads the queues now, and also sends the result to all open pages. */
  async read(): Promise<QueuesInfo> {
    this.#reads += 1;
    const reading = this.#last.then(() => this.#read());
    this.#last = reading.catch(() => {});
    try {
      return await reading;
    } finally {
      this.#reads -= 1;
    }
  }

  /** Sends the faults to all open pages if they have changed. */
  sendFaults(): void {
    const data = this.#options.readFaults?.();
    if (data !== undefined) this.#send({ event: 'faults', data });
  }

  #readIfDue(): void {
    const isOld = Date.now() - this.#readAt >= (this.#isLocal ? LOCAL_EVERY : STAGE_EVERY);
    if (this.#reads > 0 || !(isOld || this.#isChanged || this.#isUnsettled)) return;
    this.read().catch(this.#options.onError);
  }

  async #read(): Promise<QueuesInfo> {
    const isChanged = this.#isChanged;
    this.#isChanged = false;
    this.#isUnsettled = isChanged && this.#isLocal;
    this.#readAt = Date.now();
    const data = await this.#options.readQueues();
    // After a change, the same counts may stand for other messages, so the page must get the counts again.
    if (isChanged) this.#sent.queues = '';
    this.#send({ event: 'queues', data });
    this.sendFaults();
    return data;
  }

  #send(item: Extract<PageUpdate, { event: 'queues' | 'faults' }>): void {
    const text = JSON.stringify(item.data);
    if (this.#sent[item.event] === text) return;
    this.#sent[item.event] = text;
    this.#options.updates.publish(item);
  }
}
