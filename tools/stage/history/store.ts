import { hash } from 'node:crypto';
import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { payloadPreview, searchableText } from '../payload-filter.ts';
import { deliveryOf, deriveHistory } from './derive-history.ts';
import { type DeadLetterFact, type Effect, type Fact, identityOf, ofKind, recordFact } from './facts.ts';
import { type Delivery, type History, queueOf } from './history.ts';
import { bytesAsSent } from './records.ts';

/** Maximum number of deliveries stored, the newest: their facts take about 10 KB each, so 100 MB together. */
export const MAX_DELIVERIES = 10_000;

/** Deliveries that are removed together when the store is full, so that most additions remove nothing. */
const REMOVED_AT_A_TIME = 200;

/** Maximum bytes of stored payloads, the newest: about 12 of the largest that API Gateway and Lambda accept. */
export const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;

/** Milliseconds for which facts are collected before rows are derived from them. */
const DERIVE_INTERVAL = 25;

/** Milliseconds after its last fact in which a message may not be on its queue yet. */
const ON_ITS_WAY = 2_000;

interface DeliveryFilter {
  /** Part of the payload, of an id, of the shop or of an error. Ignores case. */
  readonly search?: string | undefined;
  readonly ids?: readonly string[] | undefined;
}

interface Entry {
  readonly id: string;
  readonly facts: Map<string, Fact>;
  payload?: Uint8Array | undefined;
  preview?: string | undefined;
  row?: Delivery | undefined;
  /** Ids and errors by which a search finds it. */
  texts: ReadonlySet<string>;
}

/**
 * Stores facts about deliveries by request, in memory, and derives one row for each request. Facts may come in any
 * order and more than once.
 */
export class HistoryStore {
  readonly #entries = new Map<string, Entry>();
  readonly #ofEvent = new Map<string, Set<Entry>>();
  /** Facts that name no request, by event id. */
  readonly #withoutRequest = new Map<string, Map<string, Fact>>();
  readonly #listeners = new Set<(ids: readonly string[]) => void>();
  readonly #dirty = new Set<Entry>();
  #timer: NodeJS.Timeout | undefined;
  #payloadBytes = 0;
  /** When the newest of the removed deliveries began, in epoch milliseconds. */
  #removedUntil = Number.NEGATIVE_INFINITY;

  add(...facts: readonly Fact[]): void {
    for (const fact of facts) {
      const { requestId, eventId } = fact;
      if (requestId === undefined) this.#addWithoutRequest(fact);
      const known = this.#entries.get(requestId ?? '');
      // A fact that comes later must not restore a delivery that was removed.
      if (requestId === undefined || (known === undefined && fact.at <= this.#removedUntil)) continue;
      const entry = known ?? { id: requestId, facts: new Map(), texts: new Set() };
      const key = keyOf(fact);
      // Only a record can change: `forget` removes its payload.
      if (fact.kind !== 'record' && entry.facts.has(key)) continue;
      this.#entries.set(requestId, entry);
      entry.facts.set(key, fact);
      if (eventId !== undefined) {
        this.#ofEvent.set(eventId, (this.#ofEvent.get(eventId) ?? new Set()).add(entry));
      }
      this.#change(entry);
    }
  }

  #addWithoutRequest(fact: Fact): void {
    const { eventId } = fact;
    if (eventId === undefined) return;
    const known = this.#withoutRequest.get(eventId) ?? new Map<string, Fact>();
    this.#withoutRequest.set(eventId, known.set(keyOf(fact), fact));
    const [oldest = ''] = this.#withoutRequest.keys();
    if (this.#withoutRequest.size > MAX_DELIVERIES) this.#withoutRequest.delete(oldest);
  }

  /** @param id of a known request, which brought the payload */
  addPayload(id: string, bytes: Uint8Array): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.payload !== undefined) return;
    entry.payload = bytes;
    entry.preview = payloadPreview(bytes);
    this.#payloadBytes += bytes.length;
    this.#change(entry);
    for (const old of this.#entries.values()) {
      if (this.#payloadBytes <= MAX_PAYLOAD_BYTES) break;
      this.#removePayload(old);
    }
  }

  /**
   * Adds a record of the archive and its payload.
   * @param object key of the object that contains it
   */
  addRecord(record: ArchiveRecord, object: string): void {
    this.add(recordFact(record, object));
    const { requestId, body, eventId, forgottenAt } = record;
    if (requestId === undefined) return;
    if (body !== undefined) this.addPayload(requestId, bytesAsSent(Buffer.from(body), eventId));
    const entry = forgottenAt === undefined ? undefined : this.#entries.get(requestId);
    if (entry === undefined) return;
    this.#removePayload(entry);
    entry.preview = undefined;
    this.#change(entry);
  }

  /**
   * Adds what is on a queue that nothing consumes. Deliveries that should be on it and are not get a fact that says so.
   * @param name an event, for its dead-letter queue, `quarantine` or `unrouted`
   * @param messages all that are on it
   * @param at when it was read, in epoch milliseconds
   * @returns these deliveries
   */
  readQueue(name: string, messages: readonly DeadLetterFact[], at: number): Delivery[] {
    this.add(...messages);
    this.#deriveRows();
    const there = new Set(messages.map(({ requestId }) => requestId));
    const left = [...this.#entries.values()].flatMap(({ id, row, facts }) => {
      const isMissed = row !== undefined && queueOf(row) === name && !there.has(id);
      return isMissed && at - lastTime(facts) > ON_ITS_WAY ? row : [];
    });
    for (const { id: requestId, eventId } of left) {
      this.add({ kind: 'left', at, requestId, eventId, queue: name });
    }
    return left;
  }

  payload(id: string): Uint8Array | undefined {
    return this.#entries.get(id)?.payload;
  }

  /** @returns undefined if the delivery is unknown or was removed */
  get(id: string): Delivery | undefined {
    this.#deriveRows();
    return this.#entries.get(id)?.row;
  }

  /** The facts of one request, and of all deliveries of its bytes. */
  facts({ id = '', eventId = '' }: Partial<Pick<Delivery, 'id' | 'eventId'>>): Fact[] {
    const entries = new Set([this.#entries.get(id), ...(this.#ofEvent.get(eventId) ?? [])]);
    const found = [...entries].map((entry) => entry?.facts);
    return [...found, this.#withoutRequest.get(eventId)]
      .flatMap((facts) => [...(facts?.values() ?? [])])
      .sort((a, b) => a.at - b.at);
  }

  history(delivery: Pick<Delivery, 'id' | 'eventId'>): History {
    return deriveHistory(this.facts(delivery));
  }

  effects(eventId: string): Effect[] {
    return this.facts({ eventId }).flatMap((fact) => (fact.kind === 'effect' ? [fact.effect] : []));
  }

  /** Matching deliveries, newest first. */
  list({ search = '', ids }: DeliveryFilter = {}): Delivery[] {
    this.#deriveRows();
    const pattern = search === '' ? undefined : new RegExp(RegExp.escape(search), 'iu');
    const wanted = ids?.map((id) => this.#entries.get(id)) ?? [...this.#entries.values()];
    const found = wanted.flatMap((entry) => {
      if (entry?.row === undefined) return [];
      return pattern === undefined || isMatch(entry, pattern) ? [entry.row] : [];
    });
    return found.sort(newestFirst);
  }

  /**
   * @param listener called with the ids of the rows that were added, changed or removed
   * @returns a function that unsubscribes
   */
  subscribe(listener: (ids: readonly string[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #change(entry: Entry): void {
    this.#dirty.add(entry);
    this.#timer ??= setTimeout(() => this.#deriveRows(), DERIVE_INTERVAL);
  }

  #deriveRows(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const changed: string[] = [];
    // The set grows meanwhile, if a row concerns others.
    for (const entry of this.#dirty) if (this.#deriveRow(entry)) changed.push(entry.id);
    this.#dirty.clear();
    if (this.#entries.size > MAX_DELIVERIES) changed.push(...this.#removeOldest());
    if (changed.length > 0) for (const listener of this.#listeners) listener(changed);
  }

  /** @returns whether the row is another one now */
  #deriveRow(entry: Entry): boolean {
    const { id, facts, row } = entry;
    const own = [...facts.values()];
    const ofEvent = this.#withoutRequest.get(own.find((fact) => fact.eventId !== undefined)?.eventId ?? '');
    const history = deriveHistory([...own, ...ofKind([...(ofEvent?.values() ?? [])], 'effect')]);
    const others = [...(this.#ofEvent.get(history.eventId ?? '') ?? [])].filter((other) => other !== entry);
    const rows = others.flatMap((other) => other.row ?? []);
    const delivery: Delivery = { ...deliveryOf(id, own, history, rows), preview: entry.preview };
    const { eventId, event, shopId, error } = delivery;
    const ofSteps = history.steps.flatMap((one) => [one.messageId, one.error]);
    const texts = [id, eventId, event, shopId, error, ...ofSteps];
    entry.texts = new Set(texts.filter((text) => text !== undefined));
    if (JSON.stringify(delivery) === JSON.stringify(row)) return false;
    entry.row = delivery;
    if (delivery.state !== row?.state) {
      for (const other of others) if (dependsOnOthers(other)) this.#dirty.add(other);
    }
    return true;
  }

  #removeOldest(): string[] {
    const oldest = [...this.#entries.values()]
      .sort((a, b) => firstTime(a) - firstTime(b))
      .slice(0, this.#entries.size - MAX_DELIVERIES + REMOVED_AT_A_TIME);
    for (const entry of oldest) {
      this.#removePayload(entry);
      this.#entries.delete(entry.id);
      this.#removedUntil = Math.max(this.#removedUntil, firstTime(entry));
      for (const { eventId = '' } of entry.facts.values()) {
        const ofEvent = this.#ofEvent.get(eventId);
        ofEvent?.delete(entry);
        if (ofEvent?.size !== 0) continue;
        this.#ofEvent.delete(eventId);
        this.#withoutRequest.delete(eventId);
      }
    }
    return oldest.map(({ id }) => id);
  }

  /** The preview stays, unless the payload was forgotten. */
  #removePayload(entry: Entry): void {
    this.#payloadBytes -= entry.payload?.length ?? 0;
    entry.payload = undefined;
  }
}

const keyOf = (fact: Fact) => hash('md5', identityOf(fact), 'base64url');

const firstTime = ({ facts }: Entry) => facts.values().next().value?.at ?? 0;

const lastTime = (facts: Entry['facts']) => Math.max(0, ...[...facts.values()].map(({ at }) => at));

const newestFirst = (a: Delivery, b: Delivery) =>
  Date.parse(b.receivedAt) - Date.parse(a.receivedAt) || (a.id < b.id ? 1 : -1);

function isMatch({ preview = '', payload, texts }: Entry, pattern: RegExp): boolean {
  const all = [preview, payload === undefined ? '' : searchableText(payload), ...texts];
  return all.some((text) => pattern.test(text));
}

/** Whether a row says something about other deliveries of the same bytes. */
const dependsOnOthers = ({ row }: Entry) =>
  row?.reason === 'answer-lost' || row?.reason === 'already-processed';
