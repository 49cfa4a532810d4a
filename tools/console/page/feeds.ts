import type { Delivery } from '../../stage/history/history.ts';
import type { StreamEvent } from '../api.ts';
import { PageUpdates } from '../page-updates.ts';
import { ApiError, api } from './api.ts';
import type { StreamConnection } from './store.ts';

/** Milliseconds between attempts to open a stream that failed for a reason that may be temporary. */
const RETRY_MS = 1_000;

/**
 * Maximum number of payload searches at the same time. With the stream of all deliveries they use three of
 * the six connections that a browser opens per server.
 */
const MAX_SEARCHES = 2;

/** An event of the server's stream, or about its connection. After `begin`, the complete rows follow. */
export type FeedEvent =
  | StreamEvent
  | { readonly event: 'begin' }
  | { readonly event: 'connection'; readonly data: StreamConnection };

type FeedListener = (events: readonly FeedEvent[]) => void;

/** Open feeds by their search. The feed of all deliveries stays open without listeners, so that it can be resumed. */
const feeds = new Map<string, Feed>();

/** Listeners that wait until fewer searches are open. */
const waiting = new Set<() => void>();

/**
 * Subscribes to the stream of a search.
 * @param listener called with all that is known so far, then with each change
 * @returns a function that unsubscribes
 */
export function joinFeed(search: string, listener: FeedListener): () => void {
  const join = () => {
    const isFull = [...feeds.keys()].filter((text) => text !== '').length >= MAX_SEARCHES;
    if (search !== '' && isFull && !feeds.has(search)) {
      waiting.add(join);
      listener([{ event: 'connection', data: { state: 'refused', reason: TOO_MANY } }]);
      return;
    }
    waiting.delete(join);
    const feed = feeds.get(search) ?? new Feed(search);
    feeds.set(search, feed);
    feed.add(listener);
  };
  join();
  return () => {
    waiting.delete(join);
    const isIdle = feeds.get(search)?.remove(listener) === 0;
    if (search === '' || !isIdle) return;
    feeds.delete(search);
    for (const next of [...waiting]) next();
  };
}

const TOO_MANY = `Other windows search for ${MAX_SEARCHES} other texts, and a browser has few connections. Clear the search in one of them.`;

/** One stream of the server, shared by any number of listeners and closed when no listener is left. */
class Feed {
  readonly #search: string;
  readonly #listeners = new Set<FeedListener>();
  readonly #rows = new Map<string, Delivery>();
  readonly #updates = new PageUpdates();
  #ready: Extract<StreamEvent, { event: 'ready' }> | undefined;
  #connection: StreamConnection = { state: 'connecting' };
  #source: EventSource | undefined;
  /** Id of the last event about rows. A new connection resumes after it. */
  #lastId = '';

  constructor(search: string) {
    this.#search = search;
  }

  add(listener: FeedListener): void {
    this.#listeners.add(listener);
    listener([
      { event: 'begin' },
      { event: 'deliveries', data: { put: [...this.#rows.values()], removed: [] } },
      ...(this.#ready === undefined ? [] : [this.#ready]),
      ...this.#updates.current().values(),
      { event: 'connection', data: this.#connection },
    ]);
    if (this.#listeners.size === 1 || this.#connection.state === 'refused') this.#connect();
  }

  /** @returns the number of remaining listeners */
  remove(listener: FeedListener): number {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#source?.close();
    return this.#listeners.size;
  }

  #connect(): void {
    this.#source?.close();
    const query = new URLSearchParams();
    if (this.#search !== '') query.set('search', this.#search);
    if (this.#lastId !== '') query.set('after', this.#lastId);
    const source = new EventSource(`/api/stream?${query}`);
    this.#source = source;
    source.onopen = () => this.#tell({ state: 'live' });
    source.onerror = () => {
      this.#tell({ state: 'reconnecting' });
      // The browser reconnects by itself, except after an error response.
      if (source.readyState === EventSource.CLOSED) void this.#explain(source);
    };
    for (const event of EVENTS) {
      source.addEventListener(event, ({ data, lastEventId }: MessageEvent<string>) => {
        if (lastEventId !== '') this.#lastId = lastEventId;
        this.#take({ event, data: JSON.parse(data) });
      });
    }
  }

  #take(event: StreamEvent): void {
    if (event.event === 'reset') {
      this.#rows.clear();
      this.#ready = undefined;
    } else if (event.event === 'deliveries') {
      for (const row of event.data.put) this.#rows.set(row.id, row);
      for (const id of event.data.removed) this.#rows.delete(id);
    } else if (event.event === 'ready') this.#ready = event;
    else this.#updates.publish(event);
    this.#send(event);
  }

  #tell(data: StreamConnection): void {
    this.#connection = data;
    this.#send({ event: 'connection', data });
  }

  #send(event: FeedEvent): void {
    for (const listener of this.#listeners) listener([event]);
  }

  /**
   * Finds out why the server refused the stream: `EventSource` hides the error, so a list is requested with
   * the same query.
   */
  async #explain(refused: EventSource): Promise<void> {
    try {
      await api.deliveries(new URLSearchParams({ search: this.#search, limit: '1' }).toString());
    } catch (error) {
      if (refused !== this.#source) return;
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) {
        this.#tell({ state: 'refused', reason: error.message });
        return;
      }
    }
    setTimeout(() => {
      if (refused === this.#source && this.#listeners.size > 0) this.#connect();
    }, RETRY_MS);
  }
}

const EVENTS = ['reset', 'deliveries', 'ready', 'task', 'notice', 'queues', 'faults'] as const;
