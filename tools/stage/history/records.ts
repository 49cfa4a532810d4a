import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import type { ProgressDisplay } from '../../terminal/progress.ts';
import { ArchiveObject, downloadObject } from '../archive/archive-object.ts';
import {
  ArchiveReading,
  type ArchiveWindow,
  listArchive,
  partition,
  type StoredObject,
} from '../archive/read-archive.ts';
import { matches } from '../archive/record-filter.ts';
import { storedPayload } from '../queues/received-message.ts';
import type { Stage } from '../stage.ts';
import { bytesAsSent } from './bytes-as-sent.ts';
import type { RecordFact } from './facts.ts';

/**
 * Maximum that one search reads, so that searching for one word does not read a month of the archive. Each object costs
 * a call, and all of its bytes are transferred.
 */
const LIMITS = { objects: 1_000, bytes: 256 * 1024 * 1024 };

/** Maximum milliseconds that one search reads. */
const LONGEST = 20_000;

export interface ReadingOptions extends ArchiveWindow {
  /**
   * Keys and ETags of objects to skip. The function adds those that it reads. An object that `forget` has rewritten has
   * another ETag, so it is read again.
   */
  readonly read?: Map<string, string | undefined>;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ProgressDisplay | undefined;
  /** Maximum number of objects and of their compressed bytes. @default no limit */
  readonly limits?: typeof LIMITS;
  /** Asked after each object; true stops reading. */
  readonly isEnough?: () => boolean;
}

type Visit = (record: ArchiveRecord, object: string) => void;

/**
 * Passes the records that were settled in a window to `visit`, newest object first.
 * @returns the counts, and the key of the newest object that was not read, or the key prefix of its hour
 */
export async function readRecords(
  stage: Stage,
  { read = new Map(), signal, progress, limits, isEnough = () => false, ...window }: ReadingOptions,
  visit: Visit,
) {
  const listed: StoredObject[] = [];
  for await (const object of listArchive(stage, window)) {
    if (signal?.aborted) {
      // The newest object may not be listed yet. So everything before the end of the window counts as unread.
      const unread = partition(String(eventNames[0]), Number(window.until ?? Date.now()));
      return { objects: 0, records: 0, damaged: [], unread };
    }
    if (!read.has(object.key) || read.get(object.key) !== object.etag) listed.push(object);
  }
  listed.sort((a, b) => Number(timeOf(a) < timeOf(b)) - Number(timeOf(a) > timeOf(b)));
  const options = { signal, progress, doing: 'Reading the archive' };
  const reading = new ArchiveReading(stage, () => firstOf(listed, limits), options);
  const unread = new Map(listed.map((object) => [object.key, object]));
  for await (const object of reading) {
    visitRecords(object, window, visit);
    if (!signal?.aborted) {
      read.set(object.key, unread.get(object.key)?.etag);
      unread.delete(object.key);
    }
    if (isEnough()) break;
  }
  const { objects, records, damaged } = reading;
  const [newest] = unread.keys();
  return { objects, records, damaged: damaged.map(({ message }) => message), unread: newest };
}

function visitRecords(object: ArchiveObject, { since, until }: ArchiveWindow, visit: Visit): void {
  for (const { record } of object.records()) {
    if (matches({ since, until }, record)) visit(record, object.key);
  }
}

function firstOf(listed: readonly StoredObject[], limits: ReadingOptions['limits']) {
  if (limits === undefined) return listed;
  let bytes = 0;
  const beyond = listed.findIndex((object) => {
    bytes += object.bytes;
    return bytes > limits.bytes;
  });
  return listed.slice(0, Math.min(limits.objects, beyond === -1 ? listed.length : beyond));
}

/**
 * The part of a key that sorts by time across all events: `/date=2026-01-31/hour=09/` and the file name, which begins
 * with the time.
 */
const timeOf = ({ key }: StoredObject) => key.slice(key.indexOf('/date='));

/** {@link readRecords}, up to {@link LIMITS}. To continue, call this again with the same `read`. */
export function readNewestRecords(
  stage: Stage,
  { signal, ...options }: ReadingOptions & { readonly signal: AbortSignal },
  visit: Visit,
) {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(LONGEST)]);
  return readRecords(stage, { ...options, limits: LIMITS, signal: inTime }, visit);
}

/**
 * A record as it is now, and the bytes that the partner sent.
 * @returns undefined if the record has expired; no bytes if they were forgotten or have expired
 */
export async function storedRecord(
  stage: Stage,
  { record: { requestId, eventId }, object }: RecordFact,
  signal: AbortSignal,
): Promise<{ readonly record: ArchiveRecord; readonly bytes: Buffer | undefined } | undefined> {
  const stored = await ArchiveObject.read(object, downloadObject(stage, object, signal), signal);
  for (const { record } of stored.records()) {
    const { body, payloadKey } = record;
    // The record of a replay has no payload.
    if (record.requestId !== requestId || record.eventId !== eventId || record.replay !== undefined) continue;
    if (body !== undefined) return { record, bytes: bytesAsSent(body, eventId) };
    return { record, bytes: payloadKey === undefined ? undefined : await storedPayload(stage, payloadKey) };
  }
  return undefined;
}
