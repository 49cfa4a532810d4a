import type { ArchiveRecord } from '../../lambda/archive/record.ts';
import { DamagedObjectError } from '../stage/archive/lines.ts';
import type { ArchivedObject } from '../stage/archive/objects.ts';
import { readObject } from '../stage/archive/records.ts';
import type { Stage } from '../stage/stage.ts';
import type { PayloadSearch } from './api.ts';
import { newestFirst, readSome } from './archive-feed.ts';
import { needlesOf } from './needles.ts';
import type { SearchWindow } from './source.ts';

/** What one search reads at most, so that nobody pays for a month by a word that is typed. */
export interface SearchLimits {
  readonly objects: number;
  /** As they are stored. */
  readonly bytes: number;
  readonly seconds: number;
}

const LIMITS: SearchLimits = { objects: 1_000, bytes: 256 * 1024 * 1024, seconds: 20 };

/** A search for one text, which reads no object twice: asked again, it goes on. */
export class TextSearch {
  readonly #text: string;
  readonly #limits: SearchLimits;
  readonly #found = new Set<string>();
  readonly #read = new Set<string>();
  #records = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(text: string, limits: SearchLimits = LIMITS) {
    this.#text = text;
    this.#limits = limits;
  }

  /** Whether the delivery is one of those that were found. */
  has(id: string): boolean {
    return this.#found.has(id);
  }

  /** Holds a record against the text. @returns whether it has it */
  see({ requestId, body }: ArchiveRecord): boolean {
    if (requestId === undefined || body === undefined) return false;
    const payload = body.toLowerCase();
    const has = needlesOf(this.#text).some((needle) => payload.includes(needle));
    if (has) this.#found.add(requestId);
    return has;
  }

  /**
   * Looks through the archive from the newest hour on, after whoever asked before. A payload that is too large for a
   * record, and so in a bucket of its own, is not looked at.
   * @param onFound is given each record that has the text
   */
  async run(
    stack: Stage,
    window: SearchWindow & { readonly since: Date },
    onFound: (record: ArchiveRecord, object: ArchivedObject) => void,
  ): Promise<PayloadSearch> {
    const run = this.#last.then(() => this.#run(stack, window, onFound));
    this.#last = run.catch(() => {});
    return await run;
  }

  async #run(
    stack: Stage,
    { since, until, signal }: SearchWindow & { readonly since: Date },
    onFound: (record: ArchiveRecord, object: ArchivedObject) => void,
  ): Promise<PayloadSearch> {
    const enough = AbortSignal.any([signal, AbortSignal.timeout(this.#limits.seconds * 1000)]);
    const objects = await newestFirst(stack, { since, ...(until && { until }) });
    const left = objects.filter(({ key }) => !this.#read.has(key));
    await readSome(left, this.#limits, enough, (object) => this.#readObject(stack, object, enough, onFound));
    const missed = objects.find(({ key }) => !this.#read.has(key));
    return {
      objects: objects.filter(({ key }) => this.#read.has(key)).length,
      records: this.#records,
      since: (missed === undefined ? since : endOfHour(missed, since)).toISOString(),
      limited: missed !== undefined,
    };
  }

  async #readObject(
    stack: Stage,
    object: ArchivedObject,
    signal: AbortSignal,
    onFound: (record: ArchiveRecord, object: ArchivedObject) => void,
  ): Promise<void> {
    let records = 0;
    try {
      for await (const { record } of readObject(stack, object, signal)) {
        records += 1;
        if (this.see(record)) onFound(record, object);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof DamagedObjectError)) throw error;
    }
    // One that was broken off is read anew.
    if (signal.aborted) return;
    this.#read.add(object.key);
    this.#records += records;
  }
}

const HOUR = 60 * 60 * 1000;

/** Everything from then on was looked at, where this object was the newest that was not. */
function endOfHour({ key }: ArchivedObject, since: Date): Date {
  const [, date, hour] = /\/date=(\d{4}-\d{2}-\d{2})\/hour=(\d{2})/.exec(key) ?? [];
  const start = Date.parse(`${date}T${hour}:00:00Z`);
  return Number.isNaN(start)
    ? since
    : new Date(Math.max(since.getTime(), Math.min(start + HOUR, Date.now())));
}
