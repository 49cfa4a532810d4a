import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { isEventName } from '../../lambda/events/catalogue.ts';
import { DISCARDED } from '../../lambda/log-messages.ts';
import { itemNow, itemOfEvent, plainItem } from '../stage/history/effects.ts';
import type { Effect, ExchangeFact, Fact, RecordFact } from '../stage/history/facts.ts';
import { findFacts } from '../stage/history/find-facts.ts';
import { followArchive, followLines } from '../stage/history/follow-facts.ts';
import { type Delivery, isSettled } from '../stage/history/history.ts';
import { searchLogs, windowOf } from '../stage/history/log-search.ts';
import { storedRecord } from '../stage/history/records.ts';
import { type HistoryStore, MAX_PAYLOAD_BYTES } from '../stage/history/store.ts';
import { locate } from '../stage/history/trace.ts';
import { refusalOf } from '../stage/operation.ts';
import type { Stage } from '../stage/stage.ts';
import type { DeliveryDetail, Notice } from './api.ts';
import { linesByReason, problemOf } from './server/api-problem.ts';

const HOUR = 60 * 60 * 1000;

/** The deliveries that a console shows: a store, and the stage that fills it. */
export class Source {
  readonly stage: Stage;
  readonly store: HistoryStore;
  /**
   * The store has only deliveries from this time on. Undefined for a local stack, which is observed from its
   * start.
   */
  readonly since: Date | undefined;
  readonly #closing = new AbortController();
  #following: Promise<unknown> = Promise.resolve();

  /**
   * @param stage is closed together with this object
   * @param store is closed by its owner
   * @param since for a deployed stage: time from which its logs are read
   */
  constructor(stage: Stage, store: HistoryStore, since?: Date) {
    this.stage = stage;
    this.store = store;
    this.since = since;
  }

  /**
   * Starts to read the stage: logs and archive in AWS, only the archive on the local stack.
   * @param notify called when one of them cannot be read
   */
  follow(notify: (notice: Notice) => void): void {
    this.#following = this.#follow(notify);
  }

  /** What is known of a delivery, and why a part of it may be missing. */
  async detail(row: Delivery, signal: AbortSignal): Promise<DeliveryDetail> {
    const problem = await this.#find(row, signal);
    const before = this.#now(row);
    const history = await locate(this.stage, this.store.history(before));
    const body = await this.#body(row).catch((error) => refusalOf(error, this.stage.local));
    const isStored = body instanceof Uint8Array;
    const { effects, unread } =
      this.since === undefined
        ? { effects: this.#observedEffects(row) }
        : await this.#effectsNow(row, isStored ? body : undefined);
    const exchange = this.store.facts({ id: row.id }).find((fact) => fact.kind === 'exchange');
    // Building the history may have changed the row.
    const now = this.#now(row);
    return {
      ...now,
      // If it settled meanwhile, its history does not show that yet.
      settled: isSettled(before.state) && isSettled(now.state),
      bytes: isStored ? body.length : now.bytes,
      bodyMissing: isStored ? undefined : (body ?? whyMissing(exchange)),
      exchange,
      history,
      problems: [problem, unread].filter((line) => line !== undefined),
      effects,
      logs: this.#logs(now),
    };
  }

  /** The bytes that the partner sent. Undefined if they are not stored anywhere. */
  async body(delivery: Delivery): Promise<Uint8Array | undefined> {
    const isKnown = this.store.payload(delivery.id) !== undefined || this.#record(delivery) !== undefined;
    if (!isKnown && isInArchive(delivery)) await this.#find(delivery, this.#closing.signal);
    const body = await this.#body(delivery);
    return body instanceof Uint8Array ? body : undefined;
  }

  #now = (row: Delivery): Delivery => this.store.get(row.id) ?? row;

  #observedEffects({ eventId = '' }: Delivery): readonly Effect[] {
    const names = new Map(Object.entries(this.stage.outputs).map(([name, value]) => [value, name]));
    const nameOf = (resource: string) => names.get(resource) ?? resource;
    return this.store
      .effects(eventId)
      .map((effect) =>
        effect.kind === 'item'
          ? { ...effect, table: nameOf(effect.table) }
          : { ...effect, topic: nameOf(effect.topic) },
      );
  }

  /** Log lines about a delivery. Empty for a stage, whose lines are in CloudWatch. */
  #logs(delivery: Delivery): DeliveryDetail['logs'] {
    if (this.since !== undefined) return [];
    const lines = this.store.facts(delivery).filter((fact) => fact.kind === 'line');
    return lines.filter(({ requestId = delivery.id }) => requestId === delivery.id);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
    this.stage.close();
  }

  async #follow(notify: (notice: Notice) => void): Promise<void> {
    const problems = new Map<string, string>();
    const onRead = (name: string, error: Error | undefined) => {
      const problem = error && (problemOf(error)?.message ?? String(error));
      if (problem === problems.get(name)) return;
      if (problem === undefined) problems.delete(name);
      else problems.set(name, problem);
      notify(noticeOf(name === 'archive' ? 'archive' : 'logs', problems));
    };
    const { stage, store } = this;
    const signal = this.#closing.signal;
    if (this.since === undefined) {
      const options = { since: new Date(Date.now() - HOUR), signal, onRead };
      // On the local stack, deliveries are observed. The archive may contain more, from a time without this console.
      return followArchive(stage, options, (record, object) => {
        if (store.get(record.requestId ?? '') !== undefined) store.addRecord(record, object);
      });
    }
    const options = { since: this.since, signal, onRead };
    await Promise.all([
      followLines(stage, options, (facts) => store.add(...facts)),
      followArchive(stage, options, (record, object) => store.addRecord(record, object)),
    ]);
  }

  /**
   * Reads what a stage's logs and archive know of a delivery, and adds it to the store.
   * @returns why that failed or is incomplete
   */
  async #find({ id, eventId, state }: Delivery, signal: AbortSignal): Promise<string | undefined> {
    // On the local stack, all but one line was observed: that of the command that discarded the message.
    const isObserved = this.since === undefined && state !== 'removed';
    if (isObserved || eventId === undefined) return undefined;
    try {
      if (this.since === undefined) {
        const pattern = `"message":"${DISCARDED}".*${eventId}`;
        const { lines, source } = await searchLogs(this.stage, pattern, windowOf({}), signal);
        this.store.add(...lines);
        return source.problem;
      }
      const found = await findFacts(this.stage, id, { signal });
      if (found === undefined) return undefined;
      this.store.add(...found.facts);
      const problems = new Set(found.sources.flatMap(({ problem }) => problem ?? []));
      return problems.size > 0 ? [...problems].join('; ') : undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      // Not fatal: the page shows what the store already has.
      return problemOf(error)?.message ?? String(error);
    }
  }

  /** The archive record with a delivery's payload. A replay writes a record without the payload. */
  #record({ id, eventId }: Delivery): RecordFact | undefined {
    const records = this.store.facts({ id, eventId }).filter(isDelivered);
    // Any record of a repeated delivery has the same bytes.
    return records.find(({ requestId }) => requestId === id) ?? records[0];
  }

  /** @returns the bytes, or a sentence from the archive that says why they are not stored */
  async #body(delivery: Delivery): Promise<Uint8Array | string | undefined> {
    const kept = this.store.payload(delivery.id);
    if (kept !== undefined) return kept;
    const fact = this.#record(delivery);
    if (fact === undefined) return undefined;
    const stored = await storedRecord(this.stage, fact, this.#closing.signal);
    if (stored === undefined) return undefined;
    const { bytes, record } = stored;
    if (bytes !== undefined) this.store.addPayload(delivery.id, bytes);
    if (bytes !== undefined) return bytes;
    if (record.forgottenAt === undefined)
      return 'The body was too large for the archive record, and is no longer stored';
    // The record no longer has the payload, so the store drops its preview, too.
    this.store.addRecord(record, fact.object);
    return `A person's data was removed from the archive at ${record.forgottenAt}`;
  }

  async #effectsNow(
    row: Delivery,
    payload: Uint8Array | undefined,
  ): Promise<{ effects: readonly Effect[]; unread?: string }> {
    const record = this.#record(row)?.record;
    const item = record && payload && itemOfEvent(record, payload);
    if (item === undefined) return { effects: [] };
    try {
      const Key = { [item.id]: { S: item.key } };
      const { Item } = await this.stage.dynamodb.send(
        new GetItemCommand({ TableName: this.stage.outputs[item.table], Key, ConsistentRead: true }),
      );
      return { effects: [itemNow(item, row.eventId ?? '', Item && plainItem(Item))] };
    } catch (error) {
      const refused = refusalOf(error, this.stage.local);
      return { effects: [], unread: `The item as it is now cannot be read: ${refused}` };
    }
  }
}

const isDelivered = (fact: Fact): fact is RecordFact =>
  fact.kind === 'record' && fact.record.replay === undefined;

const isInArchive = ({ event, state }: Delivery) =>
  event !== undefined && isEventName(event) && ['processed', 'skipped', 'dead-letter'].includes(state);

function whyMissing(exchange: ExchangeFact | undefined): string {
  if (exchange === undefined) {
    return 'The archive does not have it. It has an event some minutes after its effect, until its retention ends';
  }
  return exchange.bytes === undefined
    ? 'It was not read: no route accepts it, or it is too large'
    : `It is no longer stored: only the newest ${MAX_PAYLOAD_BYTES / 1024 ** 2} MiB of bodies are`;
}

/** @param problems why sources cannot be read, by their names: `archive`, or a function whose log it is */
function noticeOf(about: 'archive' | 'logs', problems: ReadonlyMap<string, string>): Notice {
  const unread = [...problems].filter(([name]) => (name === 'archive') === (about === 'archive'));
  if (unread.length === 0) return { about, level: 'info', text: `The ${about} can be read again` };
  return { about, level: 'error', text: `Not everything can be read: ${linesByReason(unread).join('; ')}` };
}
