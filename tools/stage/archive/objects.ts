import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { type EventName, eventNames } from '../../../lambda/contract/catalogue.ts';
import type { Stage } from '../stage.ts';

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

/** An object as S3 lists it: gzipped lines of JSON, one record each. */
export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
}

/** Which objects of the archive. */
export interface ArchiveWindow {
  /** `every`: also events that have left the catalogue; the window does not apply. @default the catalogue's */
  readonly events?: readonly EventName[] | 'every' | undefined;
  /** Lists the objects that may have records settled in this window. They may have others, too. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

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

/** The beginning of the keys of an hour. `lib/archive.ts` has Firehose write there. */
function partition(event: EventName, time: number): string {
  const [date, clock = ''] = new Date(time).toISOString().split('T');
  return `event=${event}/date=${date}/hour=${clock.slice(0, 2)}`;
}

/** With the event that its key names. */
export interface ArchivedObject extends StoredObject {
  readonly event: EventName;
}

/** As {@link listArchive}, with the event of each object. */
export async function* archiveObjects(
  stage: Stage,
  {
    events = eventNames,
    since,
    until,
  }: Omit<ArchiveWindow, 'events'> & { readonly events?: readonly EventName[] },
): AsyncGenerator<ArchivedObject> {
  for (const event of [...new Set(events)].sort()) {
    for await (const object of listArchive(stage, { events: [event], since, until }))
      yield { ...object, event };
  }
}

export const archiveBucket = ({ archiveBucket }: Stage): string => archiveBucket;
