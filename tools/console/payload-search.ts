import type { ArchiveRecord } from '../../lambda/archive/record.ts';
import type { ArchivedObject } from '../stage/archive/objects.ts';
import { readArchive } from '../stage/archive/reader.ts';
import type { Stage } from '../stage/stage.ts';
import type { PayloadSearch } from './api.ts';
import { needlesOf } from './needles.ts';
import type { SearchWindow } from './source.ts';

/**
 * What one run reads at most, so that typing a word does not cost the download of a month. Bytes are counted as they are
 * stored.
 */
const LIMITS = { objects: 1_000, bytes: 256 * 1024 * 1024, seconds: 20 };

/** A search for one text. It reads no object twice: the next run continues it. */
export class TextSearch {
  readonly #text: string;
  readonly #limits: typeof LIMITS;
  readonly #found = new Set<string>();
  readonly #read = new Set<string>();
  #records = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(text: string, limits = LIMITS) {
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
   * Searches the archive from the newest hour on, once earlier runs have ended. Payloads in the payload bucket, which are too
   * large for a record, are not searched.
   * @param onFound called with each record that has the text
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
    const reading = readArchive(stack, {
      since,
      until,
      order: 'newest-first',
      limits: this.#limits,
      skip: (key) => this.#read.has(key),
      signal: enough,
    });
    for await (const object of reading) {
      const { key, bytes } = object;
      for await (const { record } of object.records()) {
        if (this.see(record)) onFound(record, { key, bytes, event: record.event });
      }
      // An object that was broken off is read again from its beginning.
      if (enough.aborted) break;
      this.#read.add(key);
      this.#records += object.count;
    }
    const { unread } = reading;
    return {
      objects: this.#read.size,
      records: this.#records,
      since: (unread === undefined ? since : endOfHour(unread.key, since)).toISOString(),
      limited: unread !== undefined,
    };
  }
}

const HOUR = 60 * 60 * 1000;

/** The time from which on everything was read, if this object is the newest unread one. */
function endOfHour(key: string, since: Date): Date {
  const [, date, hour] = /\/date=(\d{4}-\d{2}-\d{2})\/hour=(\d{2})/.exec(key) ?? [];
  const start = Date.parse(`${date}T${hour}:00:00Z`);
  return Number.isNaN(start)
    ? since
    : new Date(Math.max(since.getTime(), Math.min(start + HOUR, Date.now())));
}
