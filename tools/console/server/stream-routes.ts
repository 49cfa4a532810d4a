import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import * as z from 'zod/mini';
import type { ChangedDelivery } from '../../stage/history/store.ts';
import type { StreamEvents } from '../api.ts';
import { type ConsoleContext, type ConsoleEnv, endOf, readQuery } from './console-context.ts';
import { searchSchema } from './delivery-routes.ts';

/** Rows per event, so that a page can render in between. */
const MAX_ROWS = 500;

/** Milliseconds between two rounds of events, so that a burst of changes needs few rounds. */
const INTERVAL = 50;

/** Milliseconds between heartbeats, by which both sides notice a lost connection. */
const HEARTBEAT = 15_000;

/** Milliseconds in which a client must read the data sent. A slower client is disconnected, and can resume. */
const PATIENCE = 30_000;

/** Milliseconds after which a disconnected browser reconnects. */
const RETRY = 1_000;

/** Identifies this process: each one counts changes from 1. */
const processToken = randomBytes(6).toString('hex');

type StreamContext = Pick<ConsoleContext, 'source' | 'news' | 'report' | 'closing'>;

/**
 * Server-sent events: first all rows, or those that changed after the given event id, then each change. A round sends
 * the changes since the last round, so that a slow client needs no buffer.
 */
export function streamRoutes(console: StreamContext, patience = PATIENCE) {
  const { source, news } = console;
  const { store } = source;

  return new Hono<ConsoleEnv>().get('/', (c) => {
    const { search, after } = readQuery(c, { search: searchSchema, after: z.optional(z.string()) });
    // A browser that reconnects requests the same address, with the newer id in the header.
    const lastId = c.req.header('last-event-id') || after;
    if (c.req.raw.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' });
    const end = endOf(c, console);

    return streamSSE(c, async (stream) => {
      let position = positionOf(lastId);
      let waiting = news.current();
      let isQuiet = true;
      let wake = () => {};

      async function write(text: string): Promise<void> {
        isQuiet = false;
        const timer = setTimeout(() => c.env.outgoing.destroy(), patience);
        await stream.write(text);
        clearTimeout(timer);
      }
      /** @param sequence number of the last change that the client then has, for resuming */
      function send<Name extends keyof StreamEvents>(
        event: Name,
        data: StreamEvents[Name],
        sequence?: number,
      ): Promise<void> {
        const id = sequence === undefined ? '' : `id: ${processToken}-${sequence}\n`;
        return write(`${id}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      }
      async function sendRows(changes: readonly ChangedDelivery[]): Promise<void> {
        const isAdmitted = admittedOf(changes);
        for (let start = 0; start < changes.length && !end.aborted; start += MAX_ROWS) {
          const batch = changes.slice(start, start + MAX_ROWS);
          const put = batch.flatMap(({ id, delivery }) => (delivery && isAdmitted(id) ? [delivery] : []));
          const removed = batch.flatMap(({ id, delivery }) => (delivery ? [] : [id]));
          position = batch.at(-1)?.sequence ?? position;
          if (put.length + removed.length > 0) await send('deliveries', { put, removed }, position);
        }
      }
      function admittedOf(changes: readonly ChangedDelivery[]): (id: string) => boolean {
        if (search === undefined) return () => true;
        const ids = changes.map(({ id }) => id);
        const found = new Set(store.list({ search, ids }).deliveries.map(({ id }) => id));
        return (id) => found.has(id);
      }
      async function sendChanges(): Promise<void> {
        const changes = position === undefined ? undefined : store.changedSince(position);
        if (changes !== undefined) return sendRows(changes);
        if (position !== undefined || lastId !== undefined) await send('reset', {});
        position = 0;
        await sendRows(store.changedSince(0) ?? []);
      }
      async function sendNews(): Promise<void> {
        const items = [...waiting.values()];
        waiting = new Map();
        for (const item of items) {
          await (item.event === 'task' ? send(item.event, item.data) : send(item.event, item.data));
        }
      }
      async function follow(): Promise<void> {
        while (!end.aborted) {
          const woken = new Promise<void>((resolve) => {
            wake = resolve;
          });
          isQuiet = true;
          await sendChanges();
          await sendNews();
          if (isQuiet) await write(':\n\n');
          await woken;
          await sleep(INTERVAL, undefined, { signal: end }).catch(() => {});
        }
      }
      async function searchArchive(): Promise<void> {
        const searched = await source.search({ search }, end);
        const found = searched === undefined ? [] : store.list({ search }).deliveries;
        // Matching rows are sent even if they have not changed.
        for (let start = 0; start < found.length && !end.aborted; start += MAX_ROWS) {
          const batch = found.slice(start, start + MAX_ROWS);
          const put = batch.flatMap(({ id }) => store.get(id) ?? []);
          await send('deliveries', { put, removed: [] });
        }
        const { total } = store.list({ search }, 0);
        await send('ready', { total, ...(searched && { searched }) });
      }

      // If the client has already disconnected, its signal would not stop the work below.
      if (end.aborted) return;
      const heartbeat = setInterval(() => wake(), HEARTBEAT);
      const unsubscribe = [
        store.subscribe(() => wake()),
        news.subscribe((subject, item) => {
          waiting.set(subject, item);
          wake();
        }),
      ];
      end.addEventListener('abort', () => {
        clearInterval(heartbeat);
        for (const stop of unsubscribe) stop();
        wake();
      });
      try {
        await write(`retry: ${RETRY}\n\n`);
        await sendChanges();
        await sendNews();
        await Promise.all([follow(), searchArchive()]);
      } catch (error) {
        if (!end.aborted) console.report(error);
        c.env.outgoing.destroy();
      }
    });
  });
}

/** The number in an event's id. @returns undefined if the id belongs to another process */
function positionOf(id: string | undefined): number | undefined {
  const [, token, sequence] = /^([\w-]+)-(\d{1,15})$/.exec(id ?? '') ?? [];
  return token === processToken ? Number(sequence) : undefined;
}
