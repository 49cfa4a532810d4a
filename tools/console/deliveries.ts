import type { ArchiveRecord } from '../../lambda/archive/record.ts';
import type { Exchange } from '../../local/observation.ts';
import type { LogLine } from '../stage/history/log-line.ts';
import type { Delivery } from './api.ts';
import { DeliveryFacts } from './delivery-facts.ts';
import { admits, type Contains, type Filter } from './delivery-filter.ts';
import { rowOf } from './delivery-row.ts';
import { exchangeFacts } from './exchange-facts.ts';

/** Deliveries that are kept: with what the local stack tells of them some 75 MB, and their bodies. */
export const MAXIMUM_DELIVERIES = 20_000;

/** Deliveries that go at a time once there are too many: to find the oldest takes a look at all. */
const LET_GO = 200;

/** A row, and the number of its last change. */
export interface ChangedDelivery {
  readonly sequence: number;
  readonly id: string;
  /** Undefined where it was let go. */
  readonly delivery: Delivery | undefined;
}

interface Entry {
  readonly facts: DeliveryFacts;
  row: Delivery;
  sequence: number;
}

/**
 * What is known of deliveries, by whatever tells of them, in whatever order: one row for each request. In memory; the
 * oldest go first. Each change of a row has a number, one higher than that of the change before.
 */
export class Deliveries {
  readonly #entries = new Map<string, Entry>();
  /** Numbers of the changes by which deliveries were let go; of the last ones. */
  readonly #gone = new Map<string, number>();
  /** Up to here it is forgotten which were let go. */
  #forgotten = 0;
  readonly #listeners = new Set<(id: string) => void>();
  #sequence = 0;
  #newestFirst: readonly Delivery[] | undefined;
  #onGone: (id: string) => void = () => {};

  /** Number of the last change. */
  get sequence(): number {
    return this.#sequence;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** A line that a function wrote about an event. One of a message that no request brought belongs to no delivery. */
  addLine(line: LogLine): void {
    if (line.requestId !== undefined) this.#change(line.requestId, (facts) => facts.addLine(line));
  }

  /** A request as the local gateway answered it. */
  addExchange(exchange: Exchange): void {
    const known = exchangeFacts(exchange);
    if (known === undefined) return;
    this.#change(exchange.requestId, (facts) => {
      facts.exchange = known;
    });
  }

  addRecord(record: ArchiveRecord): void {
    if (record.requestId !== undefined) this.#change(record.requestId, (facts) => facts.addRecord(record));
  }

  /** A dead letter that was put back on its queue, of which nothing is logged until its next attempt is done. */
  addRedrive(id: string, at: Date): void {
    this.#change(id, (facts) => facts.addRedrive(at));
  }

  /** @returns undefined where it is not known, or not any more */
  get(id: string): Delivery | undefined {
    return this.#entries.get(id)?.row;
  }

  /** All that a filter admits, newest first. @param contains whether the payload of a delivery has a text */
  list(filter: Filter, contains: Contains): Delivery[] {
    this.#newestFirst ??= [...this.#entries.values()]
      .map(({ row }) => row)
      .sort(byReceipt)
      .reverse();
    return this.#newestFirst.filter((row) => admits(filter, row, contains));
  }

  /**
   * The rows that changed after a change, each as it is now, in the order of their last changes.
   * @returns undefined where it is not known any more what has changed since
   */
  changedSince(sequence: number): ChangedDelivery[] | undefined {
    if (sequence > this.#sequence || (sequence > 0 && sequence < this.#forgotten)) return undefined;
    const changed: ChangedDelivery[] = [];
    for (const [id, entry] of this.#entries) {
      if (entry.sequence > sequence) changed.push({ id, sequence: entry.sequence, delivery: entry.row });
    }
    if (sequence > 0) {
      for (const [id, gone] of this.#gone) {
        if (gone > sequence) changed.push({ id, sequence: gone, delivery: undefined });
      }
    }
    return changed.sort((a, b) => a.sequence - b.sequence);
  }

  /** A row as it is now, with the number of its last change; undefined where it was never known, or long gone. */
  changeOf(id: string): ChangedDelivery | undefined {
    const entry = this.#entries.get(id);
    if (entry !== undefined) return { id, sequence: entry.sequence, delivery: entry.row };
    const gone = this.#gone.get(id);
    return gone === undefined ? undefined : { id, sequence: gone, delivery: undefined };
  }

  /** @param listener is told of each row that is new, has changed or was let go. @returns ends it */
  subscribe(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Told of each delivery that is let go, so that what else is known of it can go, too. */
  set onGone(listener: (id: string) => void) {
    this.#onGone = listener;
  }

  #change(id: string, add: (facts: DeliveryFacts) => void): void {
    const known = this.#entries.get(id);
    const facts = known?.facts ?? new DeliveryFacts(id);
    add(facts);
    const row = rowOf(facts);
    if (known !== undefined && isSame(known.row, row)) return;
    this.#sequence += 1;
    if (known === undefined) this.#entries.set(id, { facts, row, sequence: this.#sequence });
    else Object.assign(known, { row, sequence: this.#sequence });
    this.#gone.delete(id);
    this.#newestFirst = undefined;
    if (this.#entries.size > MAXIMUM_DELIVERIES) this.#letGo();
    for (const listener of this.#listeners) listener(id);
  }

  #letGo(): void {
    const oldest = [...this.#entries.values()].map(({ row }) => row).sort(byReceipt);
    for (const { id } of oldest.slice(0, LET_GO)) {
      this.#sequence += 1;
      this.#entries.delete(id);
      this.#gone.set(id, this.#sequence);
      this.#onGone(id);
      for (const listener of this.#listeners) listener(id);
    }
    for (const [id, sequence] of this.#gone) {
      if (this.#gone.size <= MAXIMUM_DELIVERIES) break;
      this.#gone.delete(id);
      this.#forgotten = sequence;
    }
  }
}

/** ISO 8601 in UTC sorts as text. */
const byReceipt = (a: Delivery, b: Delivery) =>
  a.receivedAt === b.receivedAt ? compare(a.id, b.id) : compare(a.receivedAt, b.receivedAt);

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const isSame = (a: Delivery, b: Delivery) => JSON.stringify(a) === JSON.stringify(b);
