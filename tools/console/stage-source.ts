import type { ArchiveRecord } from '../../lambda/archive/record.ts';
import { isEventName } from '../../lambda/contract/catalogue.ts';
import { WEBHOOK_PATH } from '../../lambda/contract/webhook-path.ts';
import { sha256Hex } from '../../lambda/hash.ts';
import { type ArchivedObject, archiveBucket } from '../stage/archive/objects.ts';
import { storedPayload } from '../stage/archive/payload.ts';
import { readObject } from '../stage/archive/records.ts';
import { recordsOfLines } from '../stage/history/archive-search.ts';
import { type LogLine, parseLogLine } from '../stage/history/log-line.ts';
import { followLogs } from '../stage/logs/follow.ts';
import { refusalOf } from '../stage/refusal.ts';
import type { Stage } from '../stage/stage.ts';
import type {
  Delivery,
  DeliveryState,
  FunctionLine,
  Notice,
  PayloadSearch,
  RecordedEffect,
  RecordedRequest,
} from './api.ts';
import { feedFromArchive } from './archive-feed.ts';
import { Deliveries } from './deliveries.ts';
import { TextSearch } from './payload-search.ts';
import { rowNow, rowOfEvent } from './row-now.ts';
import type { SearchWindow, Source } from './source.ts';
import { TableReader } from './table-reader.ts';

/** Texts that were searched for and are known of what comes in, the newest. */
const SEARCHES = 20;

/** Payloads that are kept, and bytes of all of them: whoever looks at one looks at it again. */
const PAYLOADS = 50;
const PAYLOADS_BYTES = 32 * 1024 * 1024;

/** Lines of which the archive has a record. */
const SETTLED = new Set(['Processed', 'Stale', 'Duplicate', 'DeadLettered']);

/** Deliveries of which it may have one. */
const SETTLED_STATES: readonly DeliveryState[] = ['processed', 'stale', 'duplicate', 'dead'];

/** The record of a delivery, and what the partner sent. */
interface Payload {
  readonly record: ArchiveRecord;
  /** Undefined where it is not kept any more, or was forgotten. */
  readonly bytes: Uint8Array | undefined;
}

/** What logs, archive and tables of a deployed stage tell, with the rights of whoever runs the console. */
export class StageSource implements Source {
  readonly stack: Stage;
  readonly deliveries = new Deliveries();
  readonly since: Date;
  readonly #tables: TableReader;
  readonly #closing = new AbortController();
  readonly #searches = new Map<string, TextSearch>();
  readonly #payloads = new Map<string, Payload>();
  /** Lines that say how a delivery was settled, by request: by their times its record is found. */
  readonly #settled = new Map<string, LogLine[]>();
  /** Objects of the archive that have a delivery's record, by request, as far as they were read. */
  readonly #objects = new Map<string, ArchivedObject>();
  readonly #reading = new Map<string, Promise<Payload | undefined>>();
  #following: Promise<unknown> = Promise.resolve();
  #notify: (notice: Notice) => void = () => {};

  /** @param stack closed with this. @param since deliveries are followed from then on */
  constructor(stack: Stage, since: Date) {
    this.stack = stack;
    this.since = since;
    this.#tables = new TableReader(stack);
    this.deliveries.onGone = (id) => {
      this.#settled.delete(id);
      this.#objects.delete(id);
      this.#payloads.delete(id);
    };
  }

  /** Begins to read. @param notify told of what may not be read; the rest is */
  follow(notify: (notice: Notice) => void): void {
    this.#notify = notify;
    this.#following = Promise.all([this.#followLogs(), this.#followArchive()]);
  }

  async request(delivery: Delivery): Promise<RecordedRequest | undefined> {
    const payload = await this.#payload(delivery).catch((error) => this.#unreadable(error));
    const bytes = typeof payload === 'string' ? undefined : payload?.bytes;
    return {
      method: 'POST',
      path: WEBHOOK_PATH,
      headers: [],
      bytes: bytes?.length ?? delivery.bytes ?? 0,
      ...(bytes === undefined && {
        bodyMissing: typeof payload === 'string' ? payload : whyMissing(payload),
      }),
    };
  }

  /** AWS keeps no answers; the timeline has its status. */
  async answer(): Promise<undefined> {
    return undefined;
  }

  async body(delivery: Delivery): Promise<Uint8Array | undefined> {
    return (await this.#payload(delivery))?.bytes;
  }

  async effects(delivery: Delivery): Promise<readonly RecordedEffect[]> {
    try {
      const payload = await this.#payload(delivery);
      const row = payload?.bytes && rowOfEvent(payload.record, payload.bytes);
      return row === undefined ? [] : [rowNow(row, await this.#tables.row(row.table, row.key))];
    } catch (error) {
      this.#notice('effects', `What a row is now cannot be read: ${refusalOf(error, this.stack.local)}`);
      return [];
    }
  }

  logs(): readonly FunctionLine[] {
    return [];
  }

  contains(id: string, text: string): boolean {
    return this.#searches.get(text)?.has(id) ?? false;
  }

  async search(text: string, window: SearchWindow): Promise<PayloadSearch> {
    const since = window.since ?? this.since;
    try {
      return await this.#searchFor(text).run(this.stack, { ...window, since }, (record, object) =>
        this.#addRecord(record, object),
      );
    } catch (error) {
      const refused = refusalOf(error, this.stack.local);
      return { objects: 0, records: 0, since: since.toISOString(), limited: false, refused };
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
    this.stack.close();
  }

  async #followLogs(): Promise<void> {
    /** Why a function's log cannot be read. */
    const problems = new Map<string, string>();
    const say = () => {
      const names = Map.groupBy(problems.keys(), (name) => problems.get(name));
      const all = [...names].map(([why, ofThese]) => `${ofThese.join(', ')}: ${why}`);
      if (all.length === 0) this.#notice('logs', 'All logs can be read again', 'info');
      else this.#notice('logs', `Logs that cannot be read: ${all.join('; ')}`);
    };
    const options = {
      since: this.since,
      signal: this.#closing.signal,
      onProblem: (name: string, error: Error) => {
        problems.set(name, this.#whyNot(error));
        say();
      },
    };
    for await (const lines of followLogs(this.stack, options)) {
      for (const { text } of lines) this.#addLine(text);
      // A log that has lines is read again.
      const isBetter = lines.filter(({ function: name }) => problems.delete(name)).length > 0;
      if (isBetter) say();
    }
  }

  #addLine(text: string): void {
    const line = parseLogLine(text);
    if (line === undefined) return;
    this.deliveries.addLine(line);
    const { requestId, message } = line;
    if (requestId === undefined || !SETTLED.has(message)) return;
    this.#settled.set(requestId, [...(this.#settled.get(requestId) ?? []), line]);
  }

  #addRecord(record: ArchiveRecord, object: ArchivedObject): void {
    const { requestId, replay } = record;
    // A replay's record has no payload.
    if (requestId !== undefined && replay === undefined) this.#objects.set(requestId, object);
    this.deliveries.addRecord(record);
  }

  async #followArchive(): Promise<void> {
    if (this.stack.outputs.ArchiveBucket === undefined) return;
    let isUnreadable = false;
    await feedFromArchive(this.stack, {
      since: this.since,
      signal: this.#closing.signal,
      onRecord: (record, object) => {
        for (const search of this.#searches.values()) search.see(record);
        this.#addRecord(record, object);
      },
      onLook: (error) => {
        const wasUnreadable = isUnreadable;
        isUnreadable = error !== undefined;
        if (!isUnreadable) {
          if (wasUnreadable) this.#notice('archive', 'The archive can be read again', 'info');
          return;
        }
        const reason = this.#whyNot(error);
        this.#notice('archive', `The archive, which knows shops and payloads, cannot be read: ${reason}`);
      },
    });
  }

  #searchFor(text: string): TextSearch {
    const search = this.#searches.get(text) ?? new TextSearch(text);
    this.#searches.delete(text);
    this.#searches.set(text, search);
    for (const oldest of this.#searches.keys()) {
      if (this.#searches.size <= SEARCHES) break;
      this.#searches.delete(oldest);
    }
    return search;
  }

  /** @returns undefined where the archive has no record of it */
  async #payload(delivery: Delivery): Promise<Payload | undefined> {
    const { id } = delivery;
    const known = this.#payloads.get(id);
    if (known !== undefined) return known;
    const reading = this.#reading.get(id) ?? this.#read(delivery);
    this.#reading.set(id, reading);
    return await reading.finally(() => this.#reading.delete(id));
  }

  async #read(delivery: Delivery): Promise<Payload | undefined> {
    const record = await this.#record(delivery);
    if (record === undefined) return undefined;
    const payload = { record, bytes: await this.#bytesOf(record) };
    if (payload.bytes !== undefined) this.#keep(delivery.id, payload);
    return payload;
  }

  async #record(delivery: Delivery): Promise<ArchiveRecord | undefined> {
    const { id, event, eventId, receivedAt, state, latencyMs = 0 } = delivery;
    if (event === undefined || eventId === undefined || !isEventName(event)) return undefined;
    if (!this.#settled.has(id) && !SETTLED_STATES.includes(state)) return undefined;
    archiveBucket(this.stack);
    const signal = this.#closing.signal;
    const object = this.#objects.get(id);
    if (object !== undefined) {
      for await (const { record } of readObject(this.stack, object, signal)) {
        if (record.requestId === id && record.replay === undefined) return record;
      }
    }
    // Without a line, which the log may have lost, it is looked for where its effect was.
    const lines = this.#settled.get(id) ?? [
      { at: Date.parse(receivedAt) + latencyMs, level: '', message: 'Processed', eventId, requestId: id },
    ];
    const { found } = await recordsOfLines(this.stack, event, lines, { signal });
    const records = found.map(({ record }) => record).filter((record) => record.replay === undefined);
    // A repeated delivery has the same bytes, but a receipt of its own.
    return records.find(({ requestId }) => requestId === id) ?? records[0];
  }

  async #bytesOf({ body, payloadKey, eventId }: ArchiveRecord): Promise<Uint8Array | undefined> {
    if (body !== undefined) return asSent(body, eventId);
    return payloadKey === undefined ? undefined : await storedPayload(this.stack, payloadKey);
  }

  #keep(id: string, payload: Payload): void {
    this.#payloads.set(id, payload);
    let bytes = 0;
    for (const kept of this.#payloads.values()) bytes += kept.bytes?.length ?? 0;
    for (const [oldest, kept] of this.#payloads) {
      if (this.#payloads.size <= PAYLOADS && bytes <= PAYLOADS_BYTES) break;
      bytes -= kept.bytes?.length ?? 0;
      this.#payloads.delete(oldest);
    }
  }

  /** Whatever it is: nobody else would say it, and the rest goes on. */
  #whyNot(error: unknown): string {
    try {
      return refusalOf(error, this.stack.local);
    } catch {
      return String(error).split('\n')[0] ?? '';
    }
  }

  /** @returns why, where it is AWS or a missing archive that keeps a payload from being read */
  #unreadable(error: unknown): string {
    return refusalOf(error, this.stack.local);
  }

  #notice(about: string, text: string, level: Notice['level'] = 'error'): void {
    this.#notify({ about, level, text });
  }
}

function whyMissing(payload: Payload | undefined): string {
  if (payload === undefined) {
    return 'The archive does not have it: it has what was settled, some minutes later and for as long as it keeps it';
  }
  const { forgottenAt } = payload.record;
  return forgottenAt === undefined
    ? 'It was large, and is not kept any more'
    : `A person's data was taken out of the archive at ${forgottenAt}`;
}

/** The bytes of a text that the archive keeps with two characters escaped, which SQS does not take (decision D14). */
function asSent(body: string, eventId: string): Uint8Array {
  const kept = Buffer.from(body);
  if (sha256Hex(kept) === eventId) return kept;
  const unescaped = body.replace(/\\u(fff[ef])/g, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const sent = Buffer.from(unescaped);
  return sha256Hex(sent) === eventId ? sent : kept;
}
