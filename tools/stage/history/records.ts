import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { ArchiveObject } from '../archive/archive-object.ts';
import { readArchive } from '../archive/read-archive.ts';
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

type ReadingOptions = NonNullable<Parameters<typeof readArchive>[1]> & {
  /**
   * Keys and ETags of objects to skip. The function adds those that it reads. An object that `forget` has rewritten has
   * another ETag, so it is read again.
   */
  readonly read?: Map<string, string | undefined>;
};

/**
 * Called with the records of one object.
 * @returns true to stop reading
 */
type Visit = (records: readonly ArchiveRecord[], object: string) => unknown;

/** Whether a record was settled in a window. An object may contain other records, too. */
export function isIn(
  { since, until }: { readonly since: Date; readonly until: Date },
  { settledAt }: ArchiveRecord,
): boolean {
  const at = Date.parse(settledAt);
  return at >= since.getTime() && at < until.getTime();
}

/**
 * Reads the archive, newest object first.
 * @returns the counts, and the key of the newest object that was not read
 */
export async function readRecords(
  stage: Stage,
  { read = new Map(), ...options }: ReadingOptions,
  visit: Visit,
) {
  const etags = new Map<string, string | undefined>();
  const skip = (key: string, etag: string | undefined) => {
    etags.set(key, etag);
    return read.has(key) && read.get(key) === etag;
  };
  const reading = readArchive(stage, {
    ...options,
    order: 'newest-first',
    skip,
    doing: 'Reading the archive',
  });
  for await (const object of reading) {
    const records: ArchiveRecord[] = [];
    for await (const { record } of object.records()) records.push(record);
    if (object.isRead) read.set(object.key, etags.get(object.key));
    if (visit(records, object.key) === true) break;
  }
  const { objects, records, damaged, unread } = reading;
  return { objects, records, damaged: damaged.map(({ message }) => message), unread: unread?.key };
}

/** Reads the archive, newest object first, up to {@link LIMITS}. To continue, call this again with the same `read`. */
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
  for await (const { record } of new ArchiveObject(stage, object, 0, signal).records()) {
    const { body, payloadKey } = record;
    // The record of a replay has no payload.
    if (record.requestId !== requestId || record.eventId !== eventId || record.replay !== undefined) continue;
    if (body !== undefined) return { record, bytes: bytesAsSent(body, eventId) };
    return { record, bytes: payloadKey === undefined ? undefined : await storedPayload(stage, payloadKey) };
  }
  return undefined;
}
