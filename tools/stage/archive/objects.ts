import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { type EventName, eventNames } from '../../../lambda/contract/catalogue.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { Stage } from '../stage.ts';
import type { RecordFilter } from './filter.ts';

/** An object of the archive: gzipped lines of JSON, a record each. */
export interface ArchivedObject {
  readonly key: string;
  readonly event: EventName;
  /** As it is stored. */
  readonly bytes: number;
}

const HOUR = 60 * 60 * 1000;

/**
 * Milliseconds by which an object's hour may be before its records were settled. It is that of its oldest record; Firehose
 * collects for more than its 900 s where it lags, and gives up after a day. Source: Firehose developer guide, "Understand
 * data delivery in Amazon Data Firehose".
 */
const EARLIER = 24 * HOUR;

/** And after they were: a batch is archived within the 900 s of its function. */
const LATER = HOUR;

/** Keys of what Firehose could not deliver. */
const FAILED = /^event=[^/]+\/failed=/;

/** @throws CommandError where the stack keeps no archive */
export function archiveBucket({ outputs, title }: Stage): string {
  if (outputs.ArchiveBucket) return outputs.ArchiveBucket;
  throw new CommandError(
    `There is no archive in ${title}: its setting archive.days is 0, or it was deployed before there were archives`,
  );
}

/**
 * The objects that may hold records of a filter's events and window, sorted by event, then by key, which is by time.
 * @throws CommandError where the stack keeps no archive
 */
export async function* archiveObjects(
  stack: Stage,
  { events = eventNames, since, until }: Pick<RecordFilter, 'events' | 'since' | 'until'>,
): AsyncGenerator<ArchivedObject> {
  for (const event of [...new Set(events)].sort()) {
    const first = since && partition(event, since.getTime() - EARLIER);
    const last = until && partition(event, until.getTime() + LATER);
    for await (const { key, bytes } of listed(stack, `event=${event}/date=`, first)) {
      // S3 lists by key, so no later one is in the window either.
      if (last !== undefined && key.slice(0, last.length) > last) break;
      yield { key, event, bytes };
    }
  }
}

/** How many objects of these events hold what Firehose could not deliver. They are not in the form of records. */
export async function countFailedObjects(
  stack: Stage,
  { events = eventNames }: Pick<RecordFilter, 'events'>,
): Promise<number> {
  let count = 0;
  for (const event of events) {
    for await (const _ of listed(stack, `event=${event}/failed=`)) count += 1;
  }
  return count;
}

/**
 * Every object of every event, also of one that has left the catalogue.
 * @param failed what Firehose could not deliver; false: records
 */
export async function* everyObject(
  stack: Stage,
  { failed }: { readonly failed: boolean },
): AsyncGenerator<{ key: string; bytes: number }> {
  for await (const object of listed(stack, 'event=')) {
    if (FAILED.test(object.key) === failed) yield object;
  }
}

/** Beginning of the keys of an hour. `lib/archive.ts` has Firehose write there. */
function partition(event: EventName, time: number): string {
  const [date, clock = ''] = new Date(time).toISOString().split('T');
  return `event=${event}/date=${date}/hour=${clock.slice(0, 2)}`;
}

/**
 * The objects under a prefix in the order of their keys, page by page.
 * @param after a key, or the beginning of keys, before which nothing is listed
 */
export async function* listed(
  stack: Stage,
  prefix: string,
  after?: string,
): AsyncGenerator<{ key: string; bytes: number }> {
  const Bucket = archiveBucket(stack);
  let token: string | undefined;
  do {
    const { Contents = [], NextContinuationToken } = await stack.s3.send(
      new ListObjectsV2Command({ Bucket, Prefix: prefix, StartAfter: after, ContinuationToken: token }),
    );
    for (const { Key = '', Size = 0 } of Contents) yield { key: Key, bytes: Size };
    token = NextContinuationToken;
  } while (token !== undefined);
}
