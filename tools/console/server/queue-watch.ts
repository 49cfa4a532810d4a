import type { HistoryStore } from '../../stage/history/store.ts';
import type { FaultsInfo, QueuesInfo } from '../api.ts';
import type { News, NewsItem } from '../news.ts';

/** Milliseconds between the beginnings of two readings, however much changes. */
const GAP = 2_000;

/**
 * Milliseconds after which the local stack is read without a known change. That notices what a terminal did, such as a
 * pause.
 */
const LOCAL_EVERY = 10_000;

/** The same for a stage. A reading is about twenty SQS calls: a cent an hour at one a minute. */
const STAGE_EVERY = 60_000;

/** Commands after which a stage is read. The others leave its queues as they were. */
const QUEUE_COMMANDS = new Set(['dlq', 'pause', 'resume', 'replay']);

interface QueueWatchOptions {
  readonly news: News;
  readonly store: HistoryStore;
  readonly readQueues: () => Promise<QueuesInfo>;
  /** Undefined for a stage. */
  readonly readFaults: (() => FaultsInfo) | undefined;
  readonly onError: (error: unknown) => void;
}

/** Reads queues and faults once for all open pages, and not at all without a page. */
export class QueueWatch {
  readonly #options: QueueWatchOptions;
  readonly #isLocal: boolean;
  #pages = 0;
  #unsubscribe = () => {};
  #timer: NodeJS.Timeout | undefined;
  #readings = 0;
  /** When the last reading began. */
  #readAt = 0;
  /** Number of the last reading that began, and of the newest one that pages have. */
  readonly #newest = { begun: 0, told: 0 };
  /** Something may have changed since then. */
  #isChanged = false;
  /** A queue changes a moment after the log line that reports it, so the local stack is read once more. */
  #isUnsettled = false;
  readonly #sent = { queues: '', faults: '' };

  constructor(options: QueueWatchOptions) {
    this.#options = options;
    this.#isLocal = options.readFaults !== undefined;
    options.news.subscribe((_subject, item) => {
      if (this.#concernsQueues(item)) this.#change();
    });
  }

  /** A page has opened. @returns a function to call when it has closed */
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

  /** Reads the queues now. Open pages get the result, too. */
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
      // After a change, the same counts may stand for other messages.
      if (isChanged) this.#sent.queues = '';
      // A page may ask for a reading during another one, which may then end later.
      if (number > this.#newest.told) this.#tell({ event: 'queues', data });
      this.#newest.told = Math.max(this.#newest.told, number);
      this.tellFaults();
      return data;
    } finally {
      this.#readings -= 1;
      this.#plan();
    }
  }

  /** Sends the faults to open pages, if they have changed. */
  tellFaults(): void {
    const data = this.#options.readFaults?.();
    if (data !== undefined) this.#tell({ event: 'faults', data });
  }

  /** Without a page, changes of the local stack were not noticed. */
  #begin(): void {
    const { store, news } = this.#options;
    if (this.#isLocal) {
      this.#readAt = 0;
      this.#unsubscribe = store.subscribe(() => this.#change());
      this.tellFaults();
    }
    if (this.#readAt + STAGE_EVERY > Date.now()) return;
    news.forgetQueues();
    this.#sent.queues = '';
  }

  #concernsQueues({ event, data }: NewsItem): boolean {
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

  #tell(item: Extract<NewsItem, { event: 'queues' | 'faults' }>): void {
    const text = JSON.stringify(item.data);
    if (this.#sent[item.event] === text) return;
    this.#sent[item.event] = text;
    this.#options.news.tell(item);
  }
}
