import { GetBucketLifecycleConfigurationCommand } from '@aws-sdk/client-s3';
import { RECORDS_PREFIX } from '../../../lambda/archive/record-schema.ts';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { ARCHIVE_BUFFER_SECONDS } from '../../../lambda/limits.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { ProgressDisplay } from '../../terminal/progress.ts';
import { duration, printable } from '../../terminal/text.ts';
import { orRefusal } from '../operation.ts';
import { keysUnder, listObjects, type StoredObject } from '../s3-objects.ts';
import type { Stage } from '../stage.ts';
import { ArchiveObject, downloadObject, linesOf } from './archive-object.ts';

const HOUR = 60 * 60 * 1000;
export const DAY = 24 * HOUR;

/**
 * Milliseconds by which an object's hour may be earlier than the settling of its records. The hour is that of its
 * oldest record. Firehose may buffer for longer than 900 s if it lags, and gives up after a day. Source: Firehose
 * developer guide, "Understand data delivery in Amazon Data Firehose".
 */
const EARLIER = DAY;

/**
 * Milliseconds by which an object's hour may be later than the settling of its records: a batch is archived within the
 * 900 s of its function.
 */
const LATER = HOUR;

/** Prefix of records that Firehose could not deliver. These objects have another format. */
const FAILED = new RegExp(`^${RECORDS_PREFIX}[^/]+/failed=`);

/** Objects open at the same time by default. Most of the time is spent waiting for S3. */
const PARALLEL = 8;

export interface ArchiveWindow {
  /**
   * `every` includes events that are no longer in the catalogue, and ignores the window. @default the catalogue's
   * events
   */
  readonly events?: readonly EventName[] | 'every' | undefined;
  /** Selects objects that may contain records settled in this window. These objects may contain other records, too. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

interface ReadOptions {
  /** Maximum of objects downloaded ahead. They are read one after the other, in order. @default 8 */
  readonly parallel?: number;
  /** Stops reading early, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Shows the number of objects read, and the total. @default none */
  readonly progress?: ProgressDisplay | undefined;
  /** Verb shown with the progress. @default 'Reading' */
  readonly doing?: string;
}

/**
 * Reads the archive, object by object. A damaged object ends only its own records: see `damaged`. An object that has
 * expired since it was listed has no records.
 * @throws CommandError if the stage has no archive
 * @example
 * const reading = readArchive(stage, { events: ['shop.updated'], since, until });
 * for await (const object of reading) for (const record of object.records()) count(record.outcome);
 * if (reading.damaged.length > 0) warn(reading.damaged);
 */
export const readArchive = (stage: Stage, options: ArchiveWindow & ReadOptions = {}) =>
  readObjects(stage, () => Array.fromAsync(listArchive(stage, options)), options);

/** Reads the objects of a list, in their order. Read the lines or records of each before you request the next. */
export function readObjects(
  stage: Stage,
  list: () => Promise<readonly StoredObject[]>,
  { parallel = PARALLEL, signal, progress, doing = 'Reading' }: ReadOptions,
) {
  /** Numbers of objects that were read before the signal was aborted, and of their records. */
  const read = { objects: 0, records: 0, total: 0, damaged: [] as string[] };

  async function* all(): AsyncGenerator<ArchiveObject> {
    try {
      const objects = await list();
      read.total = objects.length;
      for await (const { key, stored } of downloads(stage, objects, parallel, signal)) {
        const object = new ArchiveObject(key, await linesOf(key, (await stored)?.bytes), signal);
        if (signal?.aborted) return;
        try {
          yield object;
        } finally {
          // Counts the object even if the caller requests no further one.
          if (!signal?.aborted) count(object);
        }
      }
    } finally {
      progress?.end();
    }
  }

  function count({ count, damage }: ArchiveObject): void {
    read.objects += 1;
    read.records += count;
    if (damage !== undefined) read.damaged.push(damage);
    progress?.show({ doing, done: read.objects, total: read.total, unit: 'objects' });
  }
  return Object.assign(read, { [Symbol.asyncIterator]: all });
}

/** Downloads objects ahead. What nobody reads is aborted. */
async function* downloads(
  stage: Stage,
  objects: readonly StoredObject[],
  parallel: number,
  signal?: AbortSignal,
) {
  const ended = new AbortController();
  const untilEnd = AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]);
  const open: { key: string; stored: ReturnType<typeof downloadObject> }[] = [];
  try {
    for (const { key } of objects) {
      if (signal?.aborted) return;
      const stored = downloadObject(stage, key, untilEnd);
      // The reader of the object gets this error. Without a reader, it must not become an unhandled rejection.
      stored.catch(() => {});
      open.push({ key, stored });
      if (open.length === parallel) yield* open.splice(0, 1);
    }
    yield* open;
  } finally {
    ended.abort();
  }
}

/** The objects that may contain records of these events in this window, by event and then by time. */
export async function* listArchive(
  stage: Stage,
  { events = eventNames, since, until }: ArchiveWindow = {},
): AsyncGenerator<StoredObject> {
  if (events === 'every') {
    for await (const object of listObjects(stage, stage.archiveBucket, RECORDS_PREFIX))
      if (!FAILED.test(object.key)) yield object;
    return;
  }
  for (const event of [...new Set(events)].sort()) {
    const first = since && partition(event, since.getTime() - EARLIER);
    const last = until && partition(event, until.getTime() + LATER);
    for await (const object of listObjects(
      stage,
      stage.archiveBucket,
      `${RECORDS_PREFIX}${event}/date=`,
      first,
    )) {
      // S3 lists in the order of the keys, so no later object is in the window.
      if (last !== undefined && object.key.slice(0, last.length) > last) break;
      yield object;
    }
  }
}

/** Number of objects with records that Firehose could not deliver. */
export async function countFailedObjects(
  stage: Stage,
  { events = eventNames }: Pick<ArchiveWindow, 'events'>,
): Promise<number> {
  const prefixes =
    events === 'every' ? [RECORDS_PREFIX] : events.map((event) => `${RECORDS_PREFIX}${event}/failed=`);
  const keys = await Promise.all(prefixes.map((prefix) => keysUnder(stage, stage.archiveBucket, prefix)));
  return keys.flat().filter((key) => FAILED.test(key)).length;
}

/** Key prefix of an hour. Must match the prefix that `lib/archive/event-archive.ts` gives to Firehose. */
function partition(event: string, time: number): string {
  const [date, clock = ''] = new Date(time).toISOString().split('T');
  return `${RECORDS_PREFIX}${event}/date=${date}/hour=${clock.slice(0, 2)}`;
}

export function describeDamage(damaged: readonly string[]): string[] {
  if (damaged.length === 0) return [];
  return [
    `${damaged.length === 1 ? '1 object is' : `${damaged.length} objects are`} damaged; what cannot be read was skipped:`,
    ...damaged.map((one) => `  ${printable(one)}`),
  ];
}

/** The day in some days, such as `2026-01-31`. */
export const dateIn = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);

/**
 * Days that S3 may delay an expiry: it expires objects at the following midnight. Source: S3 user guide, "Lifecycle
 * rules".
 */
const LATE_DAYS = 1;

/** Days for which the archive keeps a record. Undefined if unknown: the archive can be read anyway. */
export async function archiveDays(stack: Stage): Promise<number | undefined> {
  const query = new GetBucketLifecycleConfigurationCommand({ Bucket: stack.archiveBucket });
  const found = await orRefusal(stack, () => stack.s3.send(query));
  const rules = 'refused' in found ? [] : (found.Rules ?? []);
  return rules.find(({ Filter, Prefix = Filter?.Prefix }) => Prefix === RECORDS_PREFIX)?.Expiration?.Days;
}

/**
 * Compares a window with the retention of the archive.
 * @returns a sentence about the expired part of the window; undefined if nothing has expired
 * @throws CommandError if the whole window has expired
 */
export async function expiredPart(
  stack: Stage,
  { since, until }: Pick<ArchiveWindow, 'since' | 'until'>,
): Promise<string | undefined> {
  if (since === undefined && until === undefined) return undefined;
  const days = await archiveDays(stack);
  if (days === undefined) return undefined;
  const oldest = new Date(Date.now() - (days + LATE_DAYS) * DAY);
  const retention = `${stack.title} keeps records for ${days} days`;
  if (until !== undefined && until <= oldest) {
    throw new CommandError(`No records settled before ${until.toISOString()} are left: ${retention}`);
  }
  return since !== undefined && since < oldest
    ? `Records settled earlier have expired: ${retention}.`
    : undefined;
}

/** How late the newest records may be, such as `15 minutes`. Undefined for the local stack, which collects none. */
export function lateness(stack: Stage): string | undefined {
  return stack.local ? undefined : duration(ARCHIVE_BUFFER_SECONDS * 1000);
}
