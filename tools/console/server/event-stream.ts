import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Delivery } from '../../stage/history/history.ts';
import type { ChangedDelivery, DeliveryFilter, HistoryStore } from '../../stage/history/store.ts';
import type { StreamEvents } from '../api.ts';

/** Rows of one event at most, so that a page can draw between two. */
const BATCH = 500;

/** Milliseconds between two events about rows at least, while changes come thick and fast. */
const INTERVAL = 50;

/** Milliseconds after which something is sent, so that either side notices a connection that is gone. */
const HEARTBEAT = 15_000;

/** Milliseconds in which a client reads what it was sent; one that does not is cut off, and can go on from there. */
const PATIENCE = 30_000;

/** Milliseconds after which a client that lost its connection asks again. */
const RETRY = 1_000;

interface StreamOptions {
  readonly store: HistoryStore;
  /** Which rows the client is to have. */
  readonly filter: DeliveryFilter;
  /** Tells the numbers of this process from those of another: changes are counted from 1 in each. */
  readonly processToken: string;
  /** `Last-Event-ID` of the client. */
  readonly lastEventId: string | undefined;
  /** Aborted when the client is gone, or the console closes. */
  readonly signal: AbortSignal;
  /** Milliseconds in which a client reads what it was sent. @default 30,000 */
  readonly patience?: number;
}

/**
 * Sends rows as server-sent events: first all that there are, or all that changed since the client's last event; then
 * each that changes. What a client may have and no longer is to have is removed.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #options: StreamOptions;
  /** Rows that the client may have. */
  readonly #had = new Set<string>();
  /** Rows that this connection has put: of one that goes on, a client may have fewer than it may have had. */
  readonly #put = new Set<string>();
  /** Rows that changed and were not sent yet. */
  readonly #changed = new Set<string>();
  /** What is being sent: rows go out in the order of their changes, one after the other. */
  #sending = false;
  /** Until what is being sent has been. */
  #sent: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  /** Until the client has read what it was sent. */
  #drained: Promise<void> | undefined;

  constructor(response: ServerResponse, options: StreamOptions) {
    this.#response = response;
    this.#options = options;
  }

  /** Begins with what was there. @returns once the client has taken it */
  async open(): Promise<void> {
    const { store, lastEventId, processToken, signal } = this.#options;
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // What stands between must not collect it.
      'x-accel-buffering': 'no',
    });
    this.#response.write(`retry: ${RETRY}\n\n`);
    const heartbeat = setInterval(() => this.#write(':\n\n'), HEARTBEAT);
    const since = positionOf(lastEventId, processToken);
    const missed = since === undefined ? undefined : store.changedSince(since);
    if (missed === undefined && lastEventId !== undefined) this.send('reset', {});
    const all = store.changedSince(0) ?? [];
    // From here on nothing is missed.
    const unsubscribe = store.subscribe((id) => {
      this.#changed.add(id);
      this.#sendSoon();
    });
    signal.addEventListener('abort', () => {
      clearInterval(heartbeat);
      clearTimeout(this.#timer);
      unsubscribe();
      this.#response.end();
    });
    // Of those that it was sent before it is not known here which the client has.
    for (const { id } of missed === undefined ? [] : [...all, ...missed]) this.#had.add(id);
    this.#sent = this.#send(missed ?? all);
    await this.#sent;
  }

  /** Sends those rows that this connection has not sent. @returns once the client has taken them */
  async offer(rows: readonly Delivery[]): Promise<void> {
    await this.#sent;
    for (const { id } of rows) if (!this.#put.has(id)) this.#changed.add(id);
    this.#sendNow();
    await this.#sent;
  }

  /** An event; one that is not about rows has no id, as it is no place to go on from. */
  send<Name extends keyof StreamEvents>(event: Name, data: StreamEvents[Name], id?: string): void {
    const place = id === undefined ? '' : `id: ${id}\n`;
    this.#write(`${place}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #sendSoon(): void {
    if (this.#timer !== undefined || this.#sending || this.#changed.size === 0) return;
    const wait = Math.max(0, this.#sentAt + INTERVAL - performance.now());
    this.#timer = setTimeout(() => this.#sendNow(), wait);
  }

  #sendNow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const changes = [...this.#changed]
      .flatMap((id) => this.#options.store.changeOf(id) ?? [])
      .sort((a, b) => a.sequence - b.sequence);
    this.#changed.clear();
    this.#sent = this.#send(changes);
  }

  /** @param changes in the order of their numbers */
  async #send(changes: readonly ChangedDelivery[]): Promise<void> {
    const { store, filter, processToken, signal } = this.#options;
    this.#sending = true;
    const ids = changes.map(({ id }) => id);
    const admitted = new Set(store.list({ ...filter, ids }).deliveries.map(({ id }) => id));
    for (let start = 0; start < changes.length && !signal.aborted; start += BATCH) {
      const batch = changes.slice(start, start + BATCH);
      const rows = this.#rowsOf(batch, admitted);
      if (rows.put.length === 0 && rows.removed.length === 0) continue;
      this.send('deliveries', rows, `${processToken}-${batch.at(-1)?.sequence}`);
      await this.#drained;
    }
    this.#sending = false;
    this.#sentAt = performance.now();
    if (!signal.aborted) this.#sendSoon();
  }

  #rowsOf(changes: readonly ChangedDelivery[], admitted: ReadonlySet<string>): StreamEvents['deliveries'] {
    const put: Delivery[] = [];
    const removed: string[] = [];
    for (const { id, delivery } of changes) {
      if (delivery !== undefined && admitted.has(id)) {
        put.push(delivery);
        this.#had.add(id);
        this.#put.add(id);
      } else if (this.#had.delete(id)) {
        removed.push(id);
        this.#put.delete(id);
      }
    }
    return { put, removed };
  }

  #write(text: string): void {
    if (this.#response.writableEnded || this.#response.destroyed) return;
    if (!this.#response.write(text)) this.#drained ??= this.#untilDrained();
  }

  /** Until the client has read what it was sent; one that takes too long is cut off. */
  async #untilDrained(): Promise<void> {
    const { signal, patience = PATIENCE } = this.#options;
    const timer = setTimeout(() => this.#response.destroy(), patience);
    await once(this.#response, 'drain', { signal }).catch(() => {});
    clearTimeout(timer);
    this.#drained = undefined;
  }
}

/** The number in an event's id. @returns undefined where it is none of this process */
function positionOf(lastEventId: string | undefined, processToken: string): number | undefined {
  const [, token, sequence] = /^([\w-]+)-(\d{1,15})$/.exec(lastEventId ?? '') ?? [];
  return token === processToken ? Number(sequence) : undefined;
}
