import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { settledOutcomes } from '../../../lambda/archive/record-schema.ts';
import { isEventName } from '../../../lambda/events/catalogue.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import { ARCHIVE_BUFFER_SECONDS } from '../../../lambda/limits.ts';
import type { ProgressDisplay } from '../../terminal/progress.ts';
import { counted, printable } from '../../terminal/text.ts';
import { matchingRecords } from '../archive/archive-object.ts';
import { type ArchiveWindow, listArchive, readObjects } from '../archive/read-archive.ts';
import { matches } from '../archive/record-filter.ts';
import { orRefusal } from '../operation.ts';
import { storedPayload } from '../queues/received-message.ts';
import type { StoredObject } from '../s3-objects.ts';
import type { Stage } from '../stage.ts';
import { type LineFact, type RecordFact, recordFact } from './facts.ts';
import type { SearchedSource } from './log-search.ts';
import { isOf, LINE_TO_RECORD } from './messages.ts';

/** Maximum milliseconds that one search reads, so that searching for one word does not read a month of the archive. */
const LONGEST = 20_000;

/** Ends a reading of the archive. To continue it, call the function again with the same `read`. */
export const inReadingTime = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(LONGEST)]);

interface ReadingOptions extends ArchiveWindow {
  readonly signal?: AbortSignal;
  readonly progress?: ProgressDisplay | undefined;
  /**
   * Keys and ETags of objects to skip. The function adds those that it reads. An object that `forget` has rewritten has
   * another ETag, so it is read again.
   */
  readonly read?: Map<string, string | undefined>;
  /** Called after each object. True stops reading. */
  readonly isEnough?: () => boolean;
}

/**
 * Passes the records that were settled in a window to `visit`, newest object first.
 * @returns the counts, and the key of the newest object that was not read
 */
export async function readRecords(
  stage: Stage,
  { read = new Map(), signal, progress, isEnough = () => false, ...window }: ReadingOptions,
  visit: (record: ArchiveRecord, object: string) => void,
) {
  const news = (await Array.fromAsync(listArchive(stage, window)))
    .filter(({ key, etag }) => !read.has(key) || read.get(key) !== etag)
    .sort((a, b) => Number(timeOf(a) < timeOf(b)) - Number(timeOf(a) > timeOf(b)));
  const reading = readObjects(stage, async () => news, { signal, progress, doing: 'Reading the archive' });
  for await (const object of reading) {
    for (const record of object.records()) {
      if (matches({ since: window.since, until: window.until }, record)) visit(record, object.key);
    }
    if (isEnough()) break;
  }
  const { objects, records, damaged } = reading;
  for (const { key, etag } of news.slice(0, objects)) read.set(key, etag);
  return { objects, records, damaged: damaged.map(printable), unread: news[objects]?.key };
}

/**
 * The part of a key that sorts by time across all events: `/date=2026-01-31/hour=09/` and the file name, which begins
 * with the time.
 */
const timeOf = ({ key }: StoredObject) => key.slice(key.indexOf('/date='));

/** @param isEnough called after each object; true stops reading */
export async function findRecords(
  stage: Stage,
  options: ReadingOptions,
  fits: (record: ArchiveRecord) => boolean,
  isEnough: (found: readonly RecordFact[]) => boolean = () => false,
): Promise<{ readonly found: readonly RecordFact[]; readonly source: SearchedSource }> {
  const found: RecordFact[] = [];
  if (!stage.hasArchive) return { found, source: { text: 'The stage has no archive (archive.days is 0).' } };
  const read = await orRefusal(stage, () =>
    readRecords(stage, { ...options, isEnough: () => isEnough(found) }, (record, object) => {
      if (fits(record)) found.push(recordFact(record, object));
    }),
  );
  if ('refused' in read) {
    const problem = read.refused;
    return { found, source: { text: `The archive could not be read: ${problem}.`, problem } };
  }
  const { objects, records, damaged, unread } = read;
  const hour = options.signal?.aborted ? unread?.split('/').slice(1, 3).join('/') : undefined;
  const text = [
    `Archive: ${counted(records, 'record')} read in ${counted(objects, 'object')}.`,
    ...damaged.map((fault) => `Damaged, and skipped from there on: ${fault}.`),
    ...(hour === undefined ? [] : [`It was read back to ${hour} only.`]),
  ].join(' ');
  return { found, source: { text, problem: damaged[0] } };
}

/**
 * The records that belong to log lines. Reads only objects near the times of these lines, and stops when all records
 * are found.
 */
export async function recordsOfLines(stage: Stage, lines: readonly LineFact[], signal: AbortSignal) {
  const settled = lines.filter(({ message }) => settledOutcomes.some((outcome) => outcome === message));
  const [{ eventId, event = '' } = {}] = settled.filter((line) => line.event !== undefined);
  if (!isEventName(event)) return undefined;
  const times = settled.map(({ at }) => at);
  const since = new Date(Math.min(...times) - LINE_TO_RECORD);
  const until = new Date(Math.max(...times) + LINE_TO_RECORD);
  const hasAll = (found: readonly RecordFact[]) =>
    settled.every((line) => found.some(({ record }) => isOf(record, line)));
  const options = { events: [event], since, until, signal };
  const fits = (record: ArchiveRecord) => record.eventId === eventId;
  const { found, source } = await findRecords(stage, options, fits, hasAll);
  if (!stage.hasArchive || source.problem !== undefined || hasAll(found)) return { found, source };
  const late = `A record may be missing: Firehose collects for up to ${ARCHIVE_BUFFER_SECONDS / 60} minutes.`;
  return { found, source: { text: `${source.text} ${late}` } };
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
  const stored = readObjects(stage, async () => [{ key: object }], { signal });
  for await (const record of matchingRecords(stage, stored, {})) {
    const { body, payloadKey } = record;
    // The record of a replay has no payload.
    if (record.requestId !== requestId || record.eventId !== eventId || record.replay !== undefined) continue;
    if (body !== undefined) return { record, bytes: bytesAsSent(Buffer.from(body), eventId) };
    return { record, bytes: payloadKey === undefined ? undefined : await storedPayload(stage, payloadKey) };
  }
  return undefined;
}

/**
 * Restores the partner's bytes. The archive and the queues store two characters escaped because SQS rejects them
 * (decision D14).
 */
export function bytesAsSent(stored: Buffer, eventId: string): Buffer {
  if (sha256Hex(stored) === eventId) return stored;
  const unescaped = stored
    .toString()
    .replace(/\\u(fff[ef])/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  const sent = Buffer.from(unescaped);
  return sha256Hex(sent) === eventId ? sent : stored;
}
