import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import * as z from 'zod/mini';
import type { StreamEvent } from '../api.ts';
import { type ConsoleContext, endOf, parsed } from './console-context.ts';
import { type PageUpdate, subjectOf } from './page-updates.ts';
import type { QueueWatch } from './queue-watch.ts';

/** Maximum rows of an event, so that a page can draw between two events. */
const MAX_ROWS = 500;

/** Milliseconds between two rounds of events, so that a burst of changes needs few rounds. */
const INTERVAL = 50;

/** Milliseconds between heartbeats, by which both sides notice a lost connection. */
const HEARTBEAT = 15_000;

/** Milliseconds after which a disconnected browser reconnects. */
const RETRY = 1_000;

/** The search is a text to find in payloads, ids, shops and errors. Ignores case. */
const querySchema = z.strictObject({ search: z.exactOptional(z.string()) });

type StreamContext = ConsoleContext & { readonly watch: QueueWatch };

/**
 * Server-sent events: at first all rows, then every change. Changes are sent in rounds, each with all changes since the
 * round before, so a slow client needs no buffer.
 */
export const streamRoutes = (console: StreamContext) =>
  new Hono().get('/', (c) => {
    const { search } = parsed(querySchema, c.req.query());
    const end = endOf(c, console);
    return streamSSE(c, async (stream) => {
      const write = async (text: string) => void (await stream.write(text));
      try {
        // If the client is already gone, the signal's event has passed and would not end the stream.
        if (!end.aborted) await sendChanges(console, { search, end, write });
      } catch (error) {
        if (!end.aborted) console.report(error);
      }
    });
  });

interface PageStream {
  readonly search: string | undefined;
  /** Aborted when the client has disconnected. */
  readonly end: AbortSignal;
  readonly write: (text: string) => Promise<void>;
}

/** Sends changes, in batches, until the client disconnects. */
async function sendChanges({ source, updates, watch }: StreamContext, { search, end, write }: PageStream) {
  const { store } = source;
  /** Ids of rows to send in the next round. */
  let changed = new Set(store.list().map(({ id }) => id));
  /** Updates to send in the next round: the newest of each subject. */
  let waiting: readonly PageUpdate[] = updates.current;
  let wake = () => {};

  const heartbeat = setInterval(() => void write(':\n\n'), HEARTBEAT);
  const unsubscribe = [
    watch.open(),
    store.subscribe((ids) => {
      for (const id of ids) changed.add(id);
      wake();
    }),
    updates.subscribe((item) => {
      waiting = [...waiting.filter((other) => subjectOf(other) !== subjectOf(item)), item];
      wake();
    }),
  ];
  end.addEventListener('abort', () => wake());
  try {
    await write(`retry: ${RETRY}\n\n`);
    await follow();
  } finally {
    clearInterval(heartbeat);
    for (const stop of unsubscribe) stop();
  }

  async function follow(): Promise<void> {
    for (let round = 1; !end.aborted; round += 1) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const ids = [...changed];
      changed = new Set();
      await sendRows(ids);
      const items = waiting;
      waiting = [];
      for (const item of items) await send(item);
      if (round === 1) await send({ event: 'ready', data: {} });
      await woken;
      await sleep(INTERVAL, undefined, { signal: end }).catch(() => {});
    }
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
    await write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}
