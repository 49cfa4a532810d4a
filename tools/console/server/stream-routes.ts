import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import * as z from 'zod/mini';
import type { ChangedDelivery } from '../../stage/history/store.ts';
import type { StreamEvent } from '../api.ts';
import { type ConsoleContext, endOf, parsed, searchSchema } from './console-context.ts';
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

/** Part of each event's id that identifies this process, because each process counts changes from 1. */
const processToken = randomBytes(6).toString('hex');

const querySchema = z.strictObject({ search: searchSchema, after: z.optional(z.string()) });

type StreamContext = Pick<ConsoleContext, 'source' | 'updates' | 'report' | 'closing'> & {
  readonly watch: Pick<QueueWatch, 'open'>;
};

/**
 * Server-sent events: at first all rows, or those changed since a given event id, then every change. Changes
 * are sent in rounds, each with all changes since the round before, so a slow client needs no buffer.
 */
export const streamRoutes = (console: StreamContext) =>
  new Hono().get('/', (c) => {
    const { search, after } = parsed(querySchema, c.req.query());
    // A browser reconnects with the original address, and sends the newer id in the header.
    const lastId = c.req.header('last-event-id') || after;
    const end = endOf(c, console);
    return streamSSE(c, async (stream) => {
      const write = async (text: string) => void (await stream.write(text));
      try {
        // If the client is already gone, the signal's event has passed and would not end the stream.
        if (!end.aborted) await sendChanges(console, { search, lastId, end, write });
      } catch (error) {
        if (!end.aborted) console.report(error);
      }
    });
  });

interface PageStream {
  readonly search: string | undefined;
  readonly lastId: string | undefined;
  /** Aborted when the client has disconnected. */
  readonly end: AbortSignal;
  readonly write: (text: string) => Promise<void>;
}

/** Sends changes, in batches, until the client disconnects. */
async function sendChanges(console: StreamContext, { search, lastId, end, write }: PageStream) {
  const { source, updates, watch } = console;
  const { store } = source;
  /** Number of the last change that the client has received. Undefined if it must get all rows. */
  let position = positionOf(lastId);
  /** Updates to send in the next round: the newest of each subject. */
  let waiting: readonly PageUpdate[] = updates.current;
  let isQuiet = true;
  let wake = () => {};

  const onWake = () => wake();
  const heartbeat = setInterval(onWake, HEARTBEAT);
  const unsubscribe = [
    watch.open(),
    store.subscribe(onWake),
    updates.subscribe((item) => {
      waiting = [...waiting.filter((other) => subjectOf(other) !== subjectOf(item)), item];
      wake();
    }),
  ];
  end.addEventListener('abort', onWake);
  try {
    await write(`retry: ${RETRY}\n\n`);
    await sendRound();
    await Promise.all([follow(), searchArchive()]);
  } finally {
    clearInterval(heartbeat);
    for (const stop of unsubscribe) stop();
  }

  async function follow(): Promise<void> {
    while (!end.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      isQuiet = true;
      await sendRound();
      if (isQuiet) await write(':\n\n');
      await woken;
      await sleep(INTERVAL, undefined, { signal: end }).catch(() => {});
    }
  }

  async function sendRound(): Promise<void> {
    let changes = position === undefined ? undefined : store.changedSince(position);
    if (changes === undefined) {
      if ((position ?? lastId) !== undefined) await send({ event: 'reset', data: {} });
      changes = store.changedSince(0) ?? [];
    }
    await sendRows(matching(changes));
    position = changes.at(-1)?.sequence ?? position ?? 0;
    const items = waiting;
    waiting = [];
    for (const item of items) await send(item);
  }

  /** @returns the changes of rows that the search matches, and removed rows */
  function matching(changes: readonly ChangedDelivery[]): readonly ChangedDelivery[] {
    if (search === undefined) return changes;
    const { deliveries } = store.list({ search, ids: changes.map(({ id }) => id) });
    const found = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
    return changes.flatMap((change) => {
      const delivery = found.get(change.id);
      return delivery === undefined && change.delivery !== undefined ? [] : [{ ...change, delivery }];
    });
  }

  async function sendRows(rows: readonly Pick<ChangedDelivery, 'id' | 'delivery'>[]): Promise<void> {
    for (let start = 0; start < rows.length && !end.aborted; start += MAX_ROWS) {
      const batch: readonly Partial<ChangedDelivery>[] = rows.slice(start, start + MAX_ROWS);
      const put = batch.flatMap(({ delivery }) => delivery ?? []);
      const removed = batch.flatMap(({ id, delivery }) => (delivery === undefined ? (id ?? []) : []));
      await send({ event: 'deliveries', data: { put, removed } }, batch.at(-1)?.sequence);
    }
  }

  /** Sends rows whose archived payload matches, even if they have not changed. */
  async function searchArchive(): Promise<void> {
    const searched = await source.search(search, end);
    const found = searched === undefined ? [] : store.list({ search }).deliveries;
    await sendRows(found.map((delivery) => ({ id: delivery.id, delivery })));
    await send({ event: 'ready', data: { ...(searched && { searched }) } });
  }

  /**
   * @param sequence number of the last change that the client has after this event; it becomes the event's id
   */
  async function send({ event, data }: StreamEvent, sequence?: number): Promise<void> {
    isQuiet = false;
    const id = sequence === undefined ? '' : `id: ${processToken}-${sequence}\n`;
    await write(`${id}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}

/**
 * The number of the change in an event's id.
 * @returns undefined if another process made the id
 */
function positionOf(id: string | undefined): number | undefined {
  const [, token, sequence] = /^([\w-]+)-(\d{1,15})$/.exec(id ?? '') ?? [];
  return token === processToken ? Number(sequence) : undefined;
}
