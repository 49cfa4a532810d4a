import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import * as z from 'zod/mini';
import type { Notice, StreamEvent } from '../api.ts';
import { type ConsoleContext, endOf, parsed } from './console-context.ts';
import type { QueueWatch } from './queue-watch.ts';

/** Maximum rows of an event, so that a page can draw between two events. */
const MAX_ROWS = 500;

/** Milliseconds between two rounds of events, so that a burst of changes needs few rounds. */
const INTERVAL = 50;

/** Milliseconds between heartbeats, by which both sides notice a lost connection. */
const HEARTBEAT = 15_000;

/** Milliseconds after which a disconnected browser reconnects. */
const RETRY = 1_000;

type PageUpdate = Extract<StreamEvent, { event: 'notice' | 'queues' }>;

/** What an update is about: the subject of a notice, or the event's name. */
const subjectOf = (item: PageUpdate) => (item.event === 'notice' ? item.data.about : item.event);

/** Updates for all open pages, besides deliveries. Only the newest update of each subject counts. */
export class PageUpdates {
  readonly #newest = new Map<string, PageUpdate>();
  readonly #listeners = new Set<(item: PageUpdate) => void>();

  publish(item: PageUpdate): void {
    // Good news is for the pages that are open. A page that opens later would show it as if it were new.
    if (item.event === 'notice' && item.data.level === 'info') this.#newest.delete(subjectOf(item));
    else this.#newest.set(subjectOf(item), item);
    for (const listener of this.#listeners) listener(item);
  }

  notice(data: Notice): void {
    this.publish({ event: 'notice', data });
  }

  /**
   * @param listener called with the newest update of each subject, then with each new one
   * @returns a function that unsubscribes
   */
  subscribe(listener: (item: PageUpdate) => void): () => void {
    for (const item of this.#newest.values()) listener(item);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The search is a text to find in payloads, ids, shops and errors. Ignores case. */
const querySchema = z.strictObject({ search: z.exactOptional(z.string()) });

type StreamContext = ConsoleContext & { readonly updates: PageUpdates; readonly watch: QueueWatch };

/** Server-sent events: at first all rows, then every change. */
export const streamRoutes = (console: StreamContext) =>
  new Hono().get('/', (c) => {
    const { search } = parsed(querySchema, c.req.query());
    const end = endOf(c, console);
    return streamSSE(c, async (stream) => {
      try {
        // If the client is already gone, the signal's event has passed and would not end the stream.
        if (!end.aborted) await sendChanges(console, stream, search, end);
      } catch (error) {
        if (!end.aborted) console.report(error);
      }
    });
  });

/**
 * Sends changes in rounds, each with all changes since the round before, so a slow client needs no buffer.
 * @param end aborted when the client has disconnected
 */
async function sendChanges(
  { source: { store }, updates, watch }: StreamContext,
  stream: SSEStreamingApi,
  search: string | undefined,
  end: AbortSignal,
): Promise<void> {
  /** Ids of rows to send in the next round. */
  let changed = new Set(store.list().map(({ id }) => id));
  /** Updates to send in the next round, by subject. */
  let waiting = new Map<string, PageUpdate>();
  let wake = () => {};

  const heartbeat = setInterval(() => void stream.write(':\n\n'), HEARTBEAT);
  const unsubscribe = [
    watch.open(),
    store.subscribe((ids) => {
      for (const id of ids) changed.add(id);
      wake();
    }),
    updates.subscribe((item) => {
      waiting.set(subjectOf(item), item);
      wake();
    }),
  ];
  end.addEventListener('abort', () => wake());
  try {
    for (let round = 1; !end.aborted; round += 1) {
      const { promise: woken, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const ids = [...changed];
      changed = new Set();
      const items = waiting;
      waiting = new Map();
      await sendRows(ids);
      for (const item of items.values()) await send(item);
      if (round === 1) await send({ event: 'ready', data: {} });
      await woken;
      await sleep(INTERVAL, undefined, { signal: end }).catch(() => {});
    }
  } finally {
    clearInterval(heartbeat);
    for (const stop of unsubscribe) stop();
  }

  async function sendRows(ids: readonly string[]): Promise<void> {
    for (let start = 0; start < ids.length && !end.aborted; start += MAX_ROWS) {
      const batch = ids.slice(start, start + MAX_ROWS);
      const put = store.list({ search, ids: batch });
      const removed = batch.filter((id) => store.get(id) === undefined);
      if (put.length + removed.length > 0) await send({ event: 'deliveries', data: { put, removed } });
    }
  }

  async function send({ event, data }: StreamEvent): Promise<void> {
    await stream.writeSSE({ event, data: JSON.stringify(data), retry: RETRY });
  }
}
