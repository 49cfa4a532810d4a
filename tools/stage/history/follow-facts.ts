import { setTimeout as sleep } from 'node:timers/promises';
import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import type { Stage } from '../stage.ts';
import { TokenBucket } from '../token-bucket.ts';
import { type LineFact, lineFact } from './facts.ts';
import { inReadingTime, readRecords } from './records.ts';

export type FunctionName = 'receiver' | EventName;

export const functionNames: readonly FunctionName[] = ['receiver', ...eventNames];

interface FollowOptions {
  readonly since: Date;
  readonly signal: AbortSignal;
  /** Called after each reading of a function's log or of the archive: with the error, or with undefined if it was read. */
  readonly onRead: (source: FunctionName | 'archive', error: Error | undefined) => void;
}

const POLL_MILLISECONDS = { aws: 2_000, local: 250 };

/** Milliseconds between two listings of archive objects. Firehose writes one every few minutes. */
const ARCHIVE_INTERVAL = { aws: 60_000, local: 2_000 };

/**
 * Maximum number of requests per second. AWS allows 5 FilterLogEvents requests per account and region, which cannot be
 * raised. The rest is left for other users. Source: CloudWatch Logs user guide, "CloudWatch Logs quotas".
 */
const REQUESTS_A_SECOND = 4;

/**
 * How far a poll reaches back before the newest known line, in milliseconds. Lambda sends lines in batches, and
 * CloudWatch Logs makes them readable some seconds later, so older lines may appear after newer ones. AWS guarantees no
 * limit. 30 s are several times the usual delay.
 */
const REACH_BACK = 30_000;

/**
 * How wrong this computer's clock may be, in milliseconds. The first poll of a quiet log begins that long ago, not at
 * its last line from yesterday. Source: IAM user guide, "AWS Signature Version 4 for API requests": a request must
 * reach AWS within five minutes of its time stamp.
 */
const CLOCK_TOLERANCE = 5 * 60_000;

/**
 * Passes the facts in log lines to `add` as they are written, until the signal is aborted. CloudWatch Logs shows some
 * lines late, so polls overlap, and a line may be passed again.
 */
export async function followLines(
  stage: Stage,
  { since, signal, onRead }: FollowOptions,
  add: (facts: readonly LineFact[]) => void,
): Promise<void> {
  const bucket = stage.local ? undefined : new TokenBucket(REQUESTS_A_SECOND);
  const times = new Map(functionNames.map((name) => [name, since.getTime()]));
  while (!signal.aborted) {
    const begun = performance.now();
    for (const [name, from] of times) {
      const next = await readLog(name, from).catch((error: Error) => error);
      if (signal.aborted) return;
      if (typeof next === 'number') times.set(name, next);
      onRead(name, typeof next === 'number' ? undefined : next);
    }
    const left = POLL_MILLISECONDS[stage.local ? 'local' : 'aws'] - (performance.now() - begun);
    await sleep(Math.max(0, left), undefined, { signal }).catch(() => {});
  }

  /** @returns where the next poll begins, in epoch milliseconds */
  async function readLog(name: FunctionName, startTime: number): Promise<number> {
    const logGroupName = name === 'receiver' ? stage.receiverLogGroup : stage.ofEvent(name, 'LogGroup');
    let newest = Date.now() - CLOCK_TOLERANCE;
    let nextToken: string | undefined;
    do {
      // Before the request, so that those that are throttled count, too.
      await bucket?.take(1, signal);
      const command = new FilterLogEventsCommand({ logGroupName, startTime, nextToken });
      const { events = [], ...page } = await stage.logs.send(command, { abortSignal: signal });
      nextToken = page.nextToken;
      for (const { timestamp = 0 } of events) newest = Math.max(newest, timestamp);
      // Lambda ends each line with a line feed.
      add(events.flatMap(({ message = '' }) => lineFact(message.trimEnd()) ?? []));
    } while (nextToken !== undefined);
    return Math.max(startTime, newest - REACH_BACK);
  }
}

/**
 * Passes records to `add` as the archive receives them, object by object, until the signal is aborted. A record may be
 * repeated, also because `forget` has removed its payload.
 */
export async function followArchive(
  stage: Stage,
  { since, signal, onRead }: FollowOptions,
  add: (record: ArchiveRecord, object: string) => void,
): Promise<void> {
  const read = new Map<string, string | undefined>();
  while (stage.hasArchive && !signal.aborted) {
    const options = { since, read, signal: inReadingTime(signal) };
    const found = await readRecords(stage, options, add).catch((error: Error) => error);
    if (signal.aborted) return;
    onRead('archive', 'objects' in found ? undefined : found);
    const interval = stage.local ? ARCHIVE_INTERVAL.local : ARCHIVE_INTERVAL.aws;
    await sleep(interval, undefined, { signal }).catch(() => {});
  }
}
