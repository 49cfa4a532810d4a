import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import type { ProgressDisplay } from '../../cli/terminal/progress.ts';
import type { Stage } from '../stage.ts';
import { ArchiveObject, type DamagedObjectError } from './object.ts';

const HOUR = 60 * 60 * 1000;

/**
 * Milliseconds by which an object's hour may be before its records were settled. It is the hour of its oldest record.
 * Firehose may collect for more than its 900 s if it lags, and gives up after a day. Source: Firehose developer guide,
 * "Understand data delivery in Amazon Data Firehose".
 */
const EARLIER = 24 * HOUR;

/** And after they were: a batch is archived within the 900 s of its function. */
const LATER = HOUR;

/** Keys of what Firehose could not deliver. These objects have another form. */
const FAILED = /^event=[^/]+\/failed=/;

/** Objects that are open at a time by default. Most of the time that an object takes is the wait for S3. */
const PARALLEL = 8;

/** An object as S3 lists it: gzipped lines of JSON, one record each. */
interface StoredObject {
  readonly key: string;
  readonly bytes: number;
}

/** Which objects of the archive. */
interface ArchiveWindow {
  /** `every`: also events that have left the catalogue; the window does not apply. @default the catalogue's */
  readonly events?: readonly EventName[] | 'every' | undefined;
  /** Lists the objects that may have records settled in this window. They may have others, too. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

interface ReadOptions extends ArchiveWindow {
  /** By event and then by time, or the newest hour first for all events together. @default 'by-event' */
  readonly order?: 'by-event' | 'newest-first';
  /** Objects that are open at a time. They are still read in order, one after the other. @default 8 */
  readonly parallel?: number;
  /** The most to read. Bytes are counted as they are stored. @default no limit */
  readonly limits?: { readonly objects: number; readonly bytes: number } | undefined;
  /** Whether an object is left out. It counts nowhere. */
  readonly skip?: (key: string) => boolean;
  /** Ends the reading early, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Shows how many objects have been read, and of how many. @default nowhere */
  readonly progress?: ProgressDisplay | undefined;
  /** What the progress says. @default 'Reading' */
  readonly doing?: string;
}

/**
 * Reads the archive, object by object. Memory stays flat, except that `newest-first` holds the list of objects.
 * A damaged object ends its own records only: see `damaged` and the object's `damage`. An object that has expired since it
 * was listed has no records.
 * @throws CommandError if the stage has no archive
 */
export const readArchive = (stage: Stage, options: ReadOptions = {}) => new ArchiveReading(stage, options);

class ArchiveReading {
  /** Objects that have been read to their end or their damage, and their bytes as they are stored. */
  objects = 0;
  bytes = 0;
  /** Records of these objects. */
  records = 0;
  /** Objects to read: known with `progress` or `newest-first`. */
  total = 0;
  readonly damaged: DamagedObjectError[] = [];
  /** The first object in order that a limit or the signal left unread; an hour's keys if it is not known. */
  unread: StoredObject | undefined;
  readonly #stage: Stage;
  readonly #options: ReadOptions;

  constructor(stage: Stage, options: ReadOptions) {
    this.#stage = stage;
    this.#options = options;
  }

  /** Yields each object. Read its lines or records before you ask for the next one. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ArchiveObject> {
    const { parallel = PARALLEL, limits, signal, progress } = this.#options;
    const ended = new AbortController();
    const untilEnd = AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]);
    const open: ArchiveObject[] = [];
    let [objects, bytes] = [0, 0];
    let beyond: StoredObject | undefined;
    try {
      for await (const stored of this.#list()) {
        objects += 1;
        bytes += stored.bytes;
        if (signal?.aborted || (limits && (objects > limits.objects || bytes > limits.bytes))) {
          beyond = stored;
          break;
        }
        open.push(new ArchiveObject(this.#stage, stored.key, stored.bytes, untilEnd));
        if (open.length === parallel) yield* this.#next(open);
      }
      while (open.length > 0) yield* this.#next(open);
      this.unread ??= beyond;
    } finally {
      ended.abort();
      progress?.end();
    }
  }

  async *#next(open: ArchiveObject[]): AsyncGenerator<ArchiveObject> {
    const { signal, progress, doing = 'Reading' } = this.#options;
    const object = open.shift();
    if (object === undefined) return;
    try {
      if (!signal?.aborted) yield object;
    } finally {
      // Also if nobody asks for another object.
      if (object.isRead && !signal?.aborted) {
        this.objects += 1;
        this.bytes += object.bytes;
        this.records += object.count;
        if (object.damage !== undefined) this.damaged.push(object.damage);
        const total = Math.max(this.total, this.objects);
        progress?.show({ doing, done: this.objects, total, unit: 'objects' });
      } else {
        this.unread ??= object;
      }
    }
  }

  async *#list(): AsyncGenerator<StoredObject> {
    const { order, progress, signal, until = new Date() } = this.#options;
    if (order === 'newest-first') {
      const all: StoredObject[] = [];
      for await (const object of this.#wanted()) {
        if (signal?.aborted) {
          // The newest object may not be listed yet, so nothing before the end of the window was read.
          this.unread = { key: partition(String(eventNames[0]), until.getTime()), bytes: 0 };
          return;
        }
        all.push(object);
      }
      all.sort((one, other) => {
        const [hour, otherHour] = [hourOf(one), hourOf(other)];
        if (hour === otherHour) return 0;
        return hour < otherHour ? 1 : -1;
      });
      this.total = all.length;
      yield* all;
      return;
    }
    // Counted first, because a list of all keys would grow with the archive.
    if (progress) for await (const _ of this.#wanted()) this.total += 1;
    yield* this.#wanted();
  }

  async *#wanted(): AsyncGenerator<StoredObject> {
    const { skip } = this.#options;
    for await (const object of listArchive(this.#stage, this.#options)) {
      if (!skip?.(object.key)) yield object;
    }
  }
}

/** `/date=2026-01-31/hour=09/…`: sorts by time for all events. */
const hourOf = ({ key }: StoredObject) => key.slice(key.indexOf('/date='));

/** The objects that may hold records of these events and this window, by event and then by time. */
export async function* listArchive(
  stage: Stage,
  { events = eventNames, since, until }: ArchiveWindow = {},
): AsyncGenerator<StoredObject> {
  if (events === 'every') {
    for await (const object of listObjects(stage, 'event=')) if (!FAILED.test(object.key)) yield object;
    return;
  }
  for (const event of [...new Set(events)].sort()) {
    const first = since && partition(event, since.getTime() - EARLIER);
    const last = until && partition(event, until.getTime() + LATER);
    for await (const object of listObjects(stage, `event=${event}/date=`, first)) {
      // S3 lists by key, so no later object is in the window either.
      if (last !== undefined && object.key.slice(0, last.length) > last) break;
      yield object;
    }
  }
}

/** The number of objects with what Firehose could not deliver. */
export async function countFailedObjects(
  stage: Stage,
  { events = eventNames }: Pick<ArchiveWindow, 'events'>,
): Promise<number> {
  let count = 0;
  const prefixes = events === 'every' ? ['event='] : events.map((event) => `event=${event}/failed=`);
  for (const prefix of prefixes) {
    for await (const { key } of listObjects(stage, prefix)) if (FAILED.test(key)) count += 1;
  }
  return count;
}

/**
 * The objects of the archive's bucket under a prefix, in the order of their keys, page by page.
 * @param after a key, or the beginning of keys, before which nothing is listed
 */
export async function* listObjects(
  stage: Stage,
  prefix: string,
  after?: string,
): AsyncGenerator<StoredObject> {
  let token: string | undefined;
  do {
    const { Contents = [], NextContinuationToken } = await stage.s3.send(
      new ListObjectsV2Command({
        Bucket: stage.archiveBucket,
        Prefix: prefix,
        StartAfter: after,
        ContinuationToken: token,
      }),
    );
    for (const { Key = '', Size = 0 } of Contents) yield { key: Key, bytes: Size };
    token = NextContinuationToken;
  } while (token !== undefined);
}

/** The beginning of the keys of an hour. `lib/archive/archive.ts` has Firehose write there. */
function partition(event: string, time: number): string {
  const [date, clock = ''] = new Date(time).toISOString().split('T');
  return `event=${event}/date=${date}/hour=${clock.slice(0, 2)}`;
}

/** The damage of a reading, for people. */
export function describeDamage(damaged: readonly Pick<DamagedObjectError, 'message'>[]): string[] {
  if (damaged.length === 0) return [];
  return [
    `${damaged.length === 1 ? '1 object is' : `${damaged.length} objects are`} damaged; what cannot be read was skipped:`,
    ...damaged.map(({ message }) => `  ${message}`),
  ];
}
