import { hash } from 'node:crypto';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { bytesAsSent } from './bytes-as-sent.ts';
import { condition, type DeliveryFilter } from './delivery-filter.ts';
import { deliveryOf, deriveHistory } from './derive-history.ts';
import { type Effect, type Fact, identityOf, recordFact } from './facts.ts';
import type { Delivery, History } from './history.ts';
import { payloadPreview } from './payload-preview.ts';
import { deliveryText, searchableText } from './searchable-text.ts';
import { matchIn, searchPattern } from './text-match.ts';

/** Maximum number of deliveries stored. The oldest are removed first. */
export const MAX_DELIVERIES = 20_000;

/** Deliveries that are removed together when the store is full, so that most additions remove nothing. */
const REMOVED_AT_A_TIME = 200;

/** Maximum number of facts per delivery: the first and the newest. A delivery that fails to the end has about 40. */
const MAX_FACTS = 200;
const FIRST_FACTS = 20;

/**
 * Maximum number of payloads stored, the newest, and of their bytes: about 60 of the largest that API Gateway and
 * Lambda accept.
 */
export const MAX_PAYLOADS = 10_000;
export const MAX_PAYLOAD_BYTES = 256 * 1024 * 1024;

/** Characters of texts that one list reads to show where a search matches. More would block the process for seconds. */
const MATCHED_LENGTH = 32 * 1024 * 1024;

/** Milliseconds for which facts are collected before rows are derived from them. */
const DERIVE_INTERVAL = 25;

/** KiB of the database that are in memory. The rest is in a temporary file. */
const CACHE_KIB = 32 * 1024;

/**
 * A delivery is identified by its number `n`. The search index contains two texts for each delivery: that of its row
 * has the id 2n, that of its payload 2n + 1.
 */
const TABLES = `
CREATE TABLE deliveries (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, event_id TEXT, event TEXT, shop TEXT, state TEXT,
  received_at TEXT, sequence INTEGER NOT NULL DEFAULT 0, row TEXT, text TEXT, preview TEXT
);
CREATE INDEX deliveries_time ON deliveries (received_at, id);
CREATE INDEX deliveries_sequence ON deliveries (sequence);
CREATE INDEX deliveries_event ON deliveries (event_id);
CREATE TABLE facts (key TEXT PRIMARY KEY, n INTEGER, event_id TEXT, at INTEGER NOT NULL, fact TEXT NOT NULL);
CREATE INDEX facts_delivery ON facts (n);
CREATE INDEX facts_event ON facts (event_id);
CREATE TABLE payloads (n INTEGER PRIMARY KEY, size INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'trigram');`;

interface StoredRow {
  readonly id: string;
  readonly row: string | null;
  readonly text: string | null;
  readonly preview: string | null;
}

/** A delivery, and the number of its last change. */
export interface ChangedDelivery {
  readonly sequence: number;
  readonly id: string;
  /** The delivery as it is now. Undefined if it was removed. */
  readonly delivery: Delivery | undefined;
}

/**
 * Stores facts about deliveries by request, and derives one row for each request. Facts may come in any order and
 * more than once. Changes of rows are numbered consecutively.
 */
export class HistoryStore implements Disposable {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #listeners = new Set<(id: string) => void>();
  /** Numbers of deliveries with new facts. */
  readonly #dirty = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  #sequence = 0;
  /** Number of the last change up to which removals are no longer known. */
  #forgotten = 0;
  #size = 0;
  #payloads = { count: 0, bytes: 0 };

  constructor() {
    // The empty name stands for a temporary file, which SQLite deletes when it is closed.
    this.#database = new DatabaseSync('');
    this.#database.exec(
      `PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = FILE; PRAGMA journal_mode = MEMORY; ${TABLES}`,
    );
  }

  add(...facts: readonly Fact[]): void {
    if (facts.length === 0 || !this.#database.isOpen) return;
    this.#begin();
    for (const fact of facts) {
      const { requestId, eventId = null, at } = fact;
      const n = requestId === undefined ? null : this.#number(requestId);
      if (n === undefined) continue;
      const key = hash('md5', identityOf(fact), 'base64url');
      // A fact may be added again with more details, for example that a record was forgotten.
      const sql = `INSERT INTO facts (key, n, event_id, at, fact) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (key) DO UPDATE SET fact = excluded.fact`;
      this.#run(sql, key, n, eventId, at, JSON.stringify(fact));
      if (n !== null) this.#dirty.add(n);
    }
  }

  /** @param id of the request that brought the payload */
  addPayload(id: string, bytes: Uint8Array): void {
    if (!this.#database.isOpen) return;
    this.#begin();
    const n = this.#number(id);
    if (n === undefined) return;
    const sql = 'INSERT OR IGNORE INTO payloads (n, size, bytes) VALUES (?, ?, ?)';
    if (this.#run(sql, n, bytes.length, bytes).changes === 0) return;
    this.#run('INSERT INTO texts (rowid, text) VALUES (?, ?)', 2 * n + 1, searchableText(bytes));
    this.#setPreview(n, payloadPreview(bytes));
    this.#payloads.count += 1;
    this.#payloads.bytes += bytes.length;
    while (this.#payloads.count > MAX_PAYLOADS || this.#payloads.bytes > MAX_PAYLOAD_BYTES) {
      this.#removePayload(this.#one<{ n: number }>('SELECT min(n) AS n FROM payloads').n);
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
    if (body !== undefined) this.addPayload(requestId, bytesAsSent(body, eventId));
    const n = forgottenAt === undefined ? undefined : this.#number(requestId);
    if (n === undefined) return;
    this.#removePayload(n);
    this.#setPreview(n, null);
  }

  /** The bytes that the partner sent. Undefined if they are not stored. */
  payload(id: string): Uint8Array | undefined {
    const sql = 'SELECT bytes FROM payloads JOIN deliveries USING (n) WHERE id = ?';
    return this.#all<{ bytes: Uint8Array }>(sql, id)[0]?.bytes;
  }

  /** @returns undefined if the delivery is unknown or was removed */
  get(id: string): Delivery | undefined {
    this.#deriveHistory();
    return this.#changed('sequence > 0 AND id = ?', id)[0]?.delivery;
  }

  /** The facts of one request, and of all deliveries of its bytes. */
  facts({ id, eventId }: Partial<Pick<Delivery, 'id' | 'eventId'>>): Fact[] {
    const sql = `SELECT fact FROM facts WHERE n = (SELECT n FROM deliveries WHERE id = ?) OR event_id = ?
      ORDER BY at, key`;
    return this.#all<{ fact: string }>(sql, id ?? null, eventId ?? null).map(({ fact }) => JSON.parse(fact));
  }

  /** The history of a delivery and of all others with the same bytes. */
  history(delivery: Pick<Delivery, 'id' | 'eventId'>): History {
    return deriveHistory(this.facts(delivery));
  }

  /** The changes that an event made, in order of time. */
  effects(eventId: string): Effect[] {
    return this.facts({ eventId }).flatMap((fact) => (fact.kind === 'effect' ? [fact.effect] : []));
  }

  /** Matching deliveries, newest first, and their total number. With a search, each says where the text was found. */
  list(filter: DeliveryFilter, limit = MAX_DELIVERIES): { deliveries: Delivery[]; total: number } {
    this.#deriveHistory();
    const { where, values } = condition(filter);
    const sql = `SELECT n, row FROM deliveries WHERE ${where} ORDER BY received_at DESC, id DESC LIMIT ?`;
    const rows = this.#all<{ n: number; row: string }>(sql, ...values, limit);
    const matchOf = this.#matches(filter.search);
    const deliveries = rows.map(({ n, row }) => {
      const delivery: Delivery = JSON.parse(row);
      const match = matchOf(n, delivery);
      return match === undefined ? delivery : { ...delivery, match };
    });
    if (deliveries.length < limit) return { deliveries, total: deliveries.length };
    const count = `SELECT count(*) AS total FROM deliveries WHERE ${where}`;
    return { deliveries, total: this.#one<{ total: number }>(count, ...values).total };
  }

  /**
   * The rows that changed after this change, each as it is now, in the order of their last changes.
   * @returns undefined if the changes since then are no longer known
   */
  changedSince(sequence: number): ChangedDelivery[] | undefined {
    this.#deriveHistory();
    if (sequence > this.#sequence || (sequence > 0 && sequence < this.#forgotten)) return undefined;
    return this.#changed(sequence === 0 ? 'sequence > ? AND row IS NOT NULL' : 'sequence > ?', sequence);
  }

  /**
   * @param listener called with the id of each row that was added, changed or removed
   * @returns a function that unsubscribes
   */
  subscribe(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Facts that are added later are dropped. */
  close(): void {
    clearTimeout(this.#timer);
    if (!this.#database.isOpen) return;
    try {
      this.#deriveHistory();
    } finally {
      this.#database.close();
    }
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Facts are collected and written together, at the latest after {@link DERIVE_INTERVAL}. */
  #begin(): void {
    if (!this.#database.isTransaction) this.#database.exec('BEGIN');
    this.#timer ??= setTimeout(() => {
      try {
        this.#deriveHistory();
      } catch (error) {
        // A write fails if the disk is full, for example. The stack continues without a history.
        warn('The history of deliveries cannot be written', error);
      }
    }, DERIVE_INTERVAL);
  }

  #deriveHistory(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#database.isTransaction) return;
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    const changed = dirty.flatMap((n) => this.#deriveRow(n) ?? []);
    while (this.#size > MAX_DELIVERIES) changed.push(...this.#removeOldest());
    this.#database.exec('COMMIT');
    for (const id of changed) for (const listener of this.#listeners) listener(id);
  }

  /** @returns the id of the delivery if its row is new or has changed */
  #deriveRow(n: number): string | undefined {
    const known = 'SELECT key, fact FROM facts WHERE n = ? ORDER BY at, key';
    const facts = this.#all<{ key: string; fact: string }>(known, n);
    for (const { key } of facts.splice(FIRST_FACTS, facts.length - MAX_FACTS)) {
      this.#run('DELETE FROM facts WHERE key = ?', key);
    }
    // A payload may be added before the first fact.
    if (facts.length === 0) return undefined;
    const before = 'SELECT id, row, text, preview FROM deliveries WHERE n = ?';
    const { id, row, text, preview } = this.#one<StoredRow>(before, n);
    const own = facts.map(({ fact }) => JSON.parse(fact) as Fact);
    const history = deriveHistory(own);
    const delivery: Delivery = { ...deliveryOf(id, own, history), preview: preview ?? undefined };
    const newRow = JSON.stringify(delivery);
    const newText = deliveryText(delivery, history);
    if (newText !== text) {
      this.#run('INSERT OR REPLACE INTO texts (rowid, text) VALUES (?, ?)', 2 * n, newText);
    }
    if (newRow === row && newText === text) return undefined;
    this.#sequence += 1;
    if (row === null) this.#size += 1;
    const { eventId = null, event = null, shopId = null, state, receivedAt } = delivery;
    this.#run(
      `UPDATE deliveries SET event_id = ?, event = ?, shop = ?, state = ?, received_at = ?, sequence = ?, row = ?, text = ?
        WHERE n = ?`,
      ...[eventId, event, shopId, state, receivedAt, this.#sequence, newRow, newText, n],
    );
    return id;
  }

  /** @returns ids of the deliveries that were removed */
  #removeOldest(): string[] {
    const oldest = this.#all<{ n: number; id: string; event_id: string | null }>(
      'SELECT n, id, event_id FROM deliveries WHERE row IS NOT NULL ORDER BY received_at, id LIMIT ?',
      REMOVED_AT_A_TIME,
    );
    for (const { n, event_id: eventId } of oldest) {
      this.#sequence += 1;
      this.#size -= 1;
      const emptied =
        'UPDATE deliveries SET row = NULL, text = NULL, preview = NULL, event_id = NULL, sequence = ? WHERE n = ?';
      this.#run(emptied, this.#sequence, n);
      this.#run('DELETE FROM facts WHERE n = ?', n);
      this.#run(
        `DELETE FROM facts WHERE n IS NULL AND event_id = ?1
          AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.event_id = ?1)`,
        eventId,
      );
      this.#run('DELETE FROM texts WHERE rowid = ?', 2 * n);
      this.#removePayload(n);
    }
    const sql = `SELECT n, sequence FROM deliveries WHERE row IS NULL AND sequence > 0
      ORDER BY sequence DESC LIMIT -1 OFFSET ?`;
    for (const { n, sequence } of this.#all<{ n: number; sequence: number }>(sql, MAX_DELIVERIES)) {
      this.#forgotten = Math.max(this.#forgotten, sequence);
      this.#run('DELETE FROM deliveries WHERE n = ?', n);
    }
    return oldest.map(({ id }) => id);
  }

  #setPreview(n: number, preview: string | null): void {
    this.#run('UPDATE deliveries SET preview = ? WHERE n = ?', preview, n);
    this.#dirty.add(n);
  }

  /** The preview stays, unless the payload was forgotten. */
  #removePayload(n: number): void {
    const [payload] = this.#all<{ size: number }>('SELECT size FROM payloads WHERE n = ?', n);
    if (payload === undefined) return;
    this.#run('DELETE FROM payloads WHERE n = ?', n);
    this.#run('DELETE FROM texts WHERE rowid = ?', 2 * n + 1);
    this.#payloads.count -= 1;
    this.#payloads.bytes -= payload.size;
  }

  /**
   * @returns a function that finds the searched text in a delivery. It reads no more texts after
   * {@link MATCHED_LENGTH} characters, so call it for the newest delivery first.
   */
  #matches(search = ''): (n: number, delivery: Delivery) => Delivery['match'] {
    if (search === '') return () => undefined;
    const pattern = searchPattern(search);
    let read = 0;
    return (n, { preview = '' }) => {
      const match = matchIn(preview, pattern);
      if (match !== undefined || read > MATCHED_LENGTH) return match;
      const sql = 'SELECT text FROM texts WHERE rowid = ?';
      const [payload = '', own = ''] = [2 * n + 1, 2 * n].map(
        (id) => this.#all<{ text: string }>(sql, id)[0]?.text ?? '',
      );
      read += payload.length;
      // Each line of this text is an id or an error.
      return [payload, ...own.split('\n')]
        .map((text) => matchIn(text, pattern))
        .find((one) => one !== undefined);
    };
  }

  /** @returns undefined for a delivery that was removed: later facts must not restore it */
  #number(id: string): number | undefined {
    this.#run('INSERT OR IGNORE INTO deliveries (id) VALUES (?)', id);
    const sql = 'SELECT n, row IS NULL AND sequence > 0 AS isRemoved FROM deliveries WHERE id = ?';
    const { n, isRemoved } = this.#one<{ n: number; isRemoved: 0 | 1 }>(sql, id);
    return isRemoved ? undefined : n;
  }

  #changed(where: string, value: SQLInputValue): ChangedDelivery[] {
    const sql = `SELECT id, sequence, row FROM deliveries WHERE ${where} ORDER BY sequence`;
    return this.#all<{ id: string; sequence: number; row: string | null }>(sql, value).map(
      ({ id, sequence, row }) => ({ id, sequence, delivery: row === null ? undefined : JSON.parse(row) }),
    );
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }

  #run(sql: string, ...values: readonly SQLInputValue[]) {
    return this.#statement(sql).run(...values);
  }

  #all<Row>(sql: string, ...values: readonly SQLInputValue[]): Row[] {
    return this.#statement(sql).all(...values) as Row[];
  }

  #one<Row>(sql: string, ...values: readonly SQLInputValue[]): Row {
    return this.#statement(sql).get(...values) as Row;
  }
}

const warn = (what: string, error: unknown) =>
  process.emitWarning(`${what}: ${String(error).split('\n')[0]}`);
