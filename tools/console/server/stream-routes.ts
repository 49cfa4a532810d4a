import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import * as z from 'zod/mini';
import type { ChangedDelivery } from '../../stage/history/store.ts';
import type { StreamEvent } from '../api.ts';
import { type ConsoleContext, type ConsoleEnv, endOf, readQuery } from './console-context.ts';
import { searchSchema } from './delivery-routes.ts';
import type { PageUpdate } from './page-updates.ts';

/** Maximum rows of an event, so that a page can draw between two events. */
const MAX_ROWS = 500;

/** Milliseconds between two rounds of events, so that a burst of changes needs few rounds. */
const INTERVAL = 50;

/** Milliseconds between heartbeats, by which both sides notice a lost connection. */
const HEARTBEAT = 15_000;

/**
 * Milliseconds in which a client must read what was sent. A slower client is disconnected, and can resume.
 */
const READ_TIMEOUT = 30_000;

/** Milliseconds after which a disconnected browser reconnects. */
const RETRY = 1_000;

/** Part of each event's id that identifies this process, because each process counts changes from 1. */
const processToken = randomBytes(6).toString('hex');

type StreamContext = Pick<ConsoleContext, 'source' | 'updates' | 'watch' | 'report' | 'closing'>;

/**
 * Server-sent events: at first all rows, or those changed since a given event id, then every change. Changes
 * are sent in rounds, each with all changes since the round before, so a slow client needs no buffer.
 */
export function streamRoutes(console: StreamContext, readTimeout = READ_TIMEOUT) {
  return new Hono<ConsoleEnv>().get('/', (c) => {
    const { search, after } = readQuery(c, { search: searchSchema, after: z.optional(z.string()) });
    // A browser reconnects with the original address, and sends the newer id in the header.
    const lastId = c.req.header('last-event-id') || after;
    if (c.req.raw.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' });
    const end = endOf(c, console);
    const disconnect = () => c.env.outgoing.destroy();
    return streamSSE(c, async (stream) => {
      const write = async (text: string) => {
        const timer = setTimeout(disconnect, readTimeout);
        await stream.write(text);
        clearTimeout(timer);
      };
      try {
        // If the client is already gone, the signal's event has passed and would not end the stream.
        if (!end.aborted) await new PageStream(console, { search, lastId, end, write }).run();
      } catch (error) {
        if (!end.aborted) console.report(error);
        disconnect();
      }
    });
  });
}

interface PageStreamOptions {
  readonly search: string | undefined;
  readonly lastId: string | undefined;
  /** Aborted when the client has disconnected. */
  readonly end: AbortSignal;
  readonly write: (text: string) => Promise<void>;
}

class PageStream {
  readonly #console: StreamContext;
  readonly #options: PageStreamOptions;
  /** Number of the last change that the client has received. Undefined if it must get all rows. */
  #position: number | undefined;
  /** Updates to send in the next round, by subject. */
  #waiting = new Map<string, PageUpdate>();
  #isQuiet = true;
  /** Resolves the wait of `run` for the next round. */
  #wake = () => {};

  constructor(console: StreamContext, options: PageStreamOptions) {
    this.#console = console;
    this.#options = options;
    this.#position = positionOf(options.lastId);
  }

  /** Sends changes, in batches, until the client disconnects. */
  async run(): Promise<void> {
    const { source, updates, watch } = this.#console;
    const wake = () => this.#wake();
    const heartbeat = setInterval(wake, HEARTBEAT);
    const unsubscribe = [
      watch.open(),
      source.store.subscribe(wake),
      updates.subscribe((subject, item) => {
        this.#waiting.set(subject, item);
        wake();
      }),
    ];
    this.#waiting = updates.current();
    this.#options.end.addEventListener('abort', wake);
    try {
      await this.#write(`retry: ${RETRY}\n\n`);
      await this.#sendChanges();
      await this.#sendUpdates();
      await Promise.all([this.#follow(), this.#searchArchive()]);
    } finally {
      clearInterval(heartbeat);
      for (const stop of unsubscribe) stop();
    }
  }

  async #follow(): Promise<void> {
    const { end } = this.#options;
    while (!end.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#isQuiet = true;
      await this.#sendChanges();
      await this.#sendUpdates();
      if (this.#isQuiet) await this.#write(':\n\n');
      await woken;
      await sleep(INTERVAL, undefined, { signal: end }).catch(() => {});
    }
  }

  async #sendChanges(): Promise<void> {
    const { store } = this.#console.source;
    let changes = this.#position === undefined ? undefined : store.changedSince(this.#position);
    if (changes === undefined) {
      const hasRows = this.#position !== undefined || this.#options.lastId !== undefined;
      if (hasRows) await this.#send({ event: 'reset', data: {} });
      changes = store.changedSince(0) ?? [];
    }
    await this.#sendRows(this.#search(changes));
    this.#position = changes.at(-1)?.sequence ?? this.#position ?? 0;
  }

  /** @returns the changes of rows that the search matches, and removed rows */
  #search(changes: readonly ChangedDelivery[]): readonly ChangedDelivery[] {
    const { search } = this.#options;
    if (search === undefined) return changes;
    const { deliveries } = this.#console.source.store.list({ search, ids: changes.map(({ id }) => id) });
    const found = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
    return changes.flatMap((change) => {
      const delivery = found.get(change.id);
      return delivery === undefined && change.delivery !== undefined ? [] : [{ ...change, delivery }];
    });
  }

  async #sendRows(
    rows: readonly (Omit<ChangedDelivery, 'sequence'> & Partial<Pick<ChangedDelivery, 'sequence'>>)[],
  ): Promise<void> {
    for (let start = 0; start < rows.length && !this.#options.end.aborted; start += MAX_ROWS) {
      const batch = rows.slice(start, start + MAX_ROWS);
      const put = batch.flatMap(({ delivery }) => delivery ?? []);
      const removed = batch.flatMap(({ id, delivery }) => (delivery === undefined ? [id] : []));
      await this.#send({ event: 'deliveries', data: { put, removed } }, batch.at(-1)?.sequence);
    }
  }

  async #sendUpdates(): Promise<void> {
    const items = [...this.#waiting.values()];
    this.#waiting = new Map();
    for (const item of items) await this.#send(item);
  }

  /** Sends rows whose archived payload matches, even if they have not changed. */
  async #searchArchive(): Promise<void> {
    const { search, end } = this.#options;
    const { source } = this.#console;
    const searched = await source.search(search, end);
    const found = searched === undefined ? [] : source.store.list({ search }).deliveries;
    for (let start = 0; start < found.length && !end.aborted; start += MAX_ROWS) {
      // Rows are read again, because they may have changed while the batch before was sent.
      const ids = found.slice(start, start + MAX_ROWS).map(({ id }) => id);
      const { deliveries } = source.store.list({ search, ids });
      await this.#sendRows(deliveries.map((delivery) => ({ id: delivery.id, delivery })));
    }
    const { total } = source.store.list({ search }, 0);
    await this.#send({ event: 'ready', data: { total, ...(searched && { searched }) } });
  }

  /**
   * @param sequence number of the last change that the client has after this event; it becomes the event's id
   */
  #send({ event, data }: StreamEvent, sequence?: number): Promise<void> {
    const id = sequence === undefined ? '' : `id: ${processToken}-${sequence}\n`;
    return this.#write(`${id}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #write(text: string): Promise<void> {
    this.#isQuiet = false;
    return this.#options.write(text);
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
