import { setTimeout as sleep } from 'node:timers/promises';
import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { TokenBucket } from '../replay/token-bucket.ts';
import type { Stage } from '../stage.ts';
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

type AddLines = (facts: readonly LineFact[]) => void;

/**
 * Passes the facts in log lines to `add` as they are written, until the signal is aborted. CloudWatch Logs shows some
 * lines late, so polls overlap, and a line may be passed again.
 */
export async function followLines(
  stage: Stage,
  { since, signal, onRead }: FollowOptions,
  add: AddLines,
): Promise<void> {
  const bucket = stage.local ? undefined : new TokenBucket(REQUESTS_A_SECOND);
  const logs = functionNames.map((name): FollowedLog => ({ name, from: since.getTime() }));
  while (!signal.aborted) {
    const begun = performance.now();
    for (const log of logs) {
      const error = await readLog(stage, log, { signal, bucket, add }).catch((failure: Error) => failure);
      if (signal.aborted) return;
      onRead(log.name, error);
    }
    const left = POLL_MILLISECONDS[stage.local ? 'local' : 'aws'] - (performance.now() - begun);
    await sleep(Math.max(0, left), undefined, { signal }).catch(() => {});
  }
}

interface FollowedLog {
  readonly name: FunctionName;
  /** Where the next poll begins, in epoch milliseconds. */
  from: number;
}

/** @throws the error of AWS */
async function readLog(
  stage: Stage,
  log: FollowedLog,
  { signal, bucket, add }: { signal: AbortSignal; bucket: TokenBucket | undefined; add: AddLines },
): Promise<undefined> {
  const { name, from: startTime } = log;
  const logGroupName = name === 'receiver' ? stage.receiverLogGroup : stage.ofEvent(name, 'LogGroup');
  let newest = Date.now() - CLOCK_TOLERANCE;
  let nextToken: string | undefined;
  do {
    // Before the request, so that those that are throttled count, too.
    await bucket?.take(1, signal);
    const command = new FilterLogEventsCommand({ logGroupName, startTime, nextToken });
    const page = await stage.logs.send(command, { abortSignal: signal });
    nextToken = page.nextToken;
    for (const { timestamp = 0 } of page.events ?? []) newest = Math.max(newest, timestamp);
    // Lambda ends each line with a line feed.
    add((page.events ?? []).flatMap(({ message = '' }) => lineFact(message.trimEnd()) ?? []));
  } while (nextToken !== undefined);
  log.from = Math.max(startTime, newest - REACH_BACK);
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
    const reading = readRecords(stage, { since, read, signal: inReadingTime(signal) }, add);
    const error = await reading.then(
      () => undefined,
      (failure: Error) => failure,
    );
    if (signal.aborted) return;
    onRead('archive', error);
    const interval = stage.local ? ARCHIVE_INTERVAL.local : ARCHIVE_INTERVAL.aws;
    await sleep(interval, undefined, { signal }).catch(() => {});
  }
}
