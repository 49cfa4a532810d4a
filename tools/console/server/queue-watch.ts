import type { HistoryStore } from '../../stage/history/store.ts';
import type { FaultsInfo, QueuesInfo } from '../api.ts';
import type { PageUpdate, PageUpdates } from '../page-updates.ts';

/** Minimum milliseconds between the starts of two reads of all queues. */
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

/** Commands after which a stage's queues are read. Other commands do not change them. */
const QUEUE_COMMANDS = new Set(['dlq', 'pause', 'resume']);

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
  #unsubscribe = () => {};
  #timer: NodeJS.Timeout | undefined;
  #readings = 0;
  /** When the last read began, in epoch milliseconds. */
  #readAt = 0;
  /** Number of the last read that began, and of the newest read whose result was sent to pages. */
  readonly #newest = { begun: 0, sent: 0 };
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
    options.updates.subscribe((_subject, item) => {
      if (this.#concernsQueues(item)) this.#change();
    });
  }

  /**
   * Called when a page opens.
   * @returns a function to call when the page closes
   */
  open(): () => void {
    this.#pages += 1;
    if (this.#pages === 1) this.#begin();
    this.#plan();
    return () => {
      this.#pages -= 1;
      if (this.#pages === 0) this.#unsubscribe();
      this.#plan();
    };
  }

  /** Reads the queues now, and also sends the result to all open pages. */
  async read(): Promise<QueuesInfo> {
    const isChanged = this.#isChanged;
    this.#isChanged = false;
    this.#isUnsettled = isChanged && this.#isLocal;
    this.#readAt = Date.now();
    this.#readings += 1;
    this.#newest.begun += 1;
    const number = this.#newest.begun;
    try {
      const data = await this.#options.readQueues();
      // After a change, the same counts may stand for other messages, so the page must get the counts again.
      if (isChanged) this.#sent.queues = '';
      // Reads may overlap and end in another order. A result older than the last one sent is dropped.
      if (number > this.#newest.sent) this.#send({ event: 'queues', data });
      this.#newest.sent = Math.max(this.#newest.sent, number);
      this.sendFaults();
      return data;
    } finally {
      this.#readings -= 1;
      this.#plan();
    }
  }

  /** Sends the faults to all open pages if they have changed. */
  sendFaults(): void {
    const data = this.#options.readFaults?.();
    if (data !== undefined) this.#send({ event: 'faults', data });
  }

  /**
   * Begins to watch for open pages. Changes of the local stack are not recorded while no page is open, so a change is
   * assumed.
   */
  #begin(): void {
    const { store, updates } = this.#options;
    if (this.#isLocal) {
      this.#readAt = 0;
      this.#unsubscribe = store.subscribe(() => this.#change());
      this.sendFaults();
    }
    if (this.#readAt + STAGE_EVERY > Date.now()) return;
    updates.forgetQueues();
    this.#sent.queues = '';
  }

  #concernsQueues({ event, data }: PageUpdate): boolean {
    if (event !== 'task') return false;
    return this.#isLocal || (data.state !== 'running' && QUEUE_COMMANDS.has(data.argv[0] ?? ''));
  }

  #change(): void {
    if (this.#isChanged) return;
    this.#isChanged = true;
    this.#plan();
  }

  #plan(): void {
    clearTimeout(this.#timer);
    if (this.#pages === 0 || this.#readings > 0) return;
    const every = this.#isLocal ? LOCAL_EVERY : STAGE_EVERY;
    const pause = this.#isChanged || this.#isUnsettled ? GAP : every;
    this.#timer = setTimeout(
      () => void this.read().catch(this.#options.onError),
      Math.max(0, this.#readAt + pause - Date.now()),
    );
  }

  #send(item: Extract<PageUpdate, { event: 'queues' | 'faults' }>): void {
    const text = JSON.stringify(item.data);
    if (this.#sent[item.event] === text) return;
    this.#sent[item.event] = text;
    this.#options.updates.publish(item);
  }
}
