import type { Delivery } from '../../../stage/history/history.ts';
import type { Notice, PayloadSearch, Task } from '../../api.ts';
import type { ApiClient } from '../api-client.ts';
import { DeliveryIndex } from './delivery-index.ts';
import { type Connection, readStream, type StreamEvent } from './event-stream.ts';

/** What is shown of the stream at one moment. A new one is made for each frame in which something changed. */
export interface LiveState {
  readonly connection: Connection;
  /** Of the deliveries that the filter admits, newest first. */
  readonly ids: readonly string[];
  /** The filter that they are of: the last one until all of the next one's have come. */
  readonly idsOf: string;
  /** All that was there when the stream was opened has come. */
  readonly ready: boolean;
  /** How often what there was became untrue, as the server is another process. */
  readonly resets: number;
  /** Deliveries that the filter admits, of which the list may have the newest only. */
  readonly total: number;
  readonly searched: PayloadSearch | undefined;
  /** Newest first. */
  readonly tasks: readonly Task[];
  readonly notices: readonly Notice[];
}

/** Tasks that are kept to be shown. */
const TASKS_KEPT = 20;

/** What the stream has told, for all views. It tells them once a frame at most, however much comes. */
export class LiveStore {
  readonly #api: ApiClient;
  readonly #listeners = new Set<() => void>();
  #index = new DeliveryIndex();
  /** Where another filter's deliveries gather until they are all there: the list does not go blank meanwhile. */
  #next: DeliveryIndex | undefined;
  #state: LiveState = {
    connection: { state: 'connecting' },
    ids: [],
    idsOf: '',
    ready: false,
    resets: 0,
    total: 0,
    searched: undefined,
    tasks: [],
    notices: [],
  };
  #query: string | undefined;
  #open: AbortController | undefined;
  #frame = 0;
  #idsChanged = false;
  /** Deliveries that the filter admits beyond those that came. */
  #beyond = 0;

  constructor(api: ApiClient) {
    this.#api = api;
  }

  get state(): LiveState {
    return this.#state;
  }

  /** Of the stream that is open. */
  get query(): string | undefined {
    return this.#query;
  }

  delivery(id: string): Delivery | undefined {
    return this.#index.get(id);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Opens the stream for a filter, instead of the one that is open. @param query as of `/api/stream`, with its `?` */
  open(query: string): void {
    if (query === this.#query) return;
    this.#begin(query);
  }

  /** Opens the stream anew, for the same filter: lengths back from now are counted from now. */
  reopen(): void {
    if (this.#query !== undefined) this.#begin(this.#query);
  }

  #begin(query: string): void {
    this.#query = query;
    this.#open?.abort();
    this.#open = new AbortController();
    const { signal } = this.#open;
    this.#next = new DeliveryIndex();
    this.#change({ ready: false, searched: undefined });
    readStream(
      this.#api,
      query,
      {
        onConnection: (connection) => {
          // Another filter is no other connection to whoever looks, as long as the server answers.
          const isAnother = connection.state === 'connecting' && this.#state.connection.state === 'live';
          if (!signal.aborted && !isAnother) this.#change({ connection });
        },
        onEvent: (event) => {
          if (!signal.aborted) this.#take(event);
        },
      },
      signal,
    );
  }

  /** A task as an answer had it, which may be before the stream tells of it. */
  putTask(task: Task): void {
    const others = this.#state.tasks.filter(({ id }) => id !== task.id);
    const known = this.#state.tasks.find(({ id }) => id === task.id);
    // The stream may have been faster than the answer.
    const newer = known !== undefined && known.state !== 'running' && task.state === 'running' ? known : task;
    const tasks =
      known === undefined
        ? [task, ...others]
        : this.#state.tasks.map((one) => (one.id === task.id ? newer : one));
    this.#change({ tasks: tasks.slice(0, TASKS_KEPT) });
  }

  #take(event: StreamEvent): void {
    const index = this.#next ?? this.#index;
    switch (event.name) {
      case 'reset':
        // What is there stays in view until what follows is whole.
        this.#next = new DeliveryIndex();
        this.#change({ ready: false, resets: this.#state.resets + 1 });
        return;
      case 'deliveries':
        index.put(event.data.put);
        index.remove(event.data.removed);
        if (index === this.#index) this.#idsChanged = true;
        this.#change({});
        return;
      case 'ready': {
        this.#index = index;
        this.#next = undefined;
        this.#idsChanged = true;
        this.#beyond = Math.max(0, event.data.total - index.size);
        this.#change({
          ready: true,
          idsOf: this.#query ?? '',
          total: event.data.total,
          searched: event.data.searched,
        });
        return;
      }
      case 'task':
        this.putTask(event.data);
        return;
      case 'notice': {
        const { about } = event.data;
        this.#change({ notices: [...this.#state.notices.filter((one) => one.about !== about), event.data] });
        return;
      }
    }
  }

  #change(change: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...change };
    if (this.#frame !== 0) return;
    this.#frame = nextFrame(() => {
      this.#frame = 0;
      if (this.#idsChanged) {
        this.#idsChanged = false;
        const ids = this.#index.ids();
        this.#state = { ...this.#state, ids, total: ids.length + this.#beyond };
      }
      for (const listener of this.#listeners) listener();
    });
  }
}

/** Frames of a hidden page do not come: it is told all the same, so that nothing piles up. */
function nextFrame(callback: () => void): number {
  if (document.hidden) return Number(setTimeout(callback, 250));
  return requestAnimationFrame(callback);
}
