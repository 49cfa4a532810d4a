import { setTimeout as sleep } from 'node:timers/promises';
import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { TokenBucket } from '../replay/token-bucket.ts';
import type { Stage } from '../stage.ts';
import type { LineFact } from './facts.ts';
import { lineFact } from './log-line.ts';
import { readNewestRecords } from './records.ts';

/** `receiver`, or the event of a consumer. */
export type FunctionName = 'receiver' | EventName;

export const functionNames: readonly FunctionName[] = ['receiver', ...eventNames];

interface FollowOptions {
  readonly since: Date;
  readonly signal: AbortSignal;
  /**
   * Called once with the error if a function's log or the archive cannot be read, and with undefined when it can be
   * read again. The others are still followed. Throttling is retried first, and reported only if that does not help.
   */
  readonly onProblem: (source: FunctionName | 'archive', error: Error | undefined) => void;
}

interface FollowLinesOptions extends FollowOptions {
  /** @default the receiver and every consumer */
  readonly functions?: readonly FunctionName[] | undefined;
  /** Milliseconds between two polls. @default 2000; for the local stack 250 */
  readonly pollMilliseconds?: number | undefined;
}

const POLL_MILLISECONDS = { aws: 2_000, local: 250 };

/** Milliseconds between two listings of archive objects. Firehose writes one every few minutes. */
const ARCHIVE_INTERVAL = { aws: 60_000, local: 2_000 };

/**
 * Maximum number of requests per second. AWS allows 5 FilterLogEvents requests per account and region, which cannot be
 * raised. The rest is left for other users. Source: CloudWatch Logs user guide, "CloudWatch Logs quotas".
 */
const REQUESTS_A_SECOND = 4;

/** Longest wait between two polls, in milliseconds. Each throttled poll doubles the wait. */
const LONGEST_WAIT = 30_000;

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
 * Passes the facts in log lines to `add` as they are written, each once, until the signal is aborted. CloudWatch Logs
 * shows some lines late, so polls overlap.
 */
export async function followLines(
  stage: Stage,
  options: FollowLinesOptions,
  add: (facts: readonly LineFact[]) => void,
): Promise<void> {
  const { functions = functionNames, since, signal, onProblem } = options;
  const { pollMilliseconds = stage.local ? POLL_MILLISECONDS.local : POLL_MILLISECONDS.aws } = options;
  const bucket = stage.local ? undefined : new TokenBucket(REQUESTS_A_SECOND);
  const logs = functions.map((name) => new FollowedLog(stage, name, since, bucket));
  const troubled = new Set<FunctionName>();
  let wait = pollMilliseconds;
  while (!signal.aborted) {
    const begun = performance.now();
    const { hasMore, isThrottled } = await readRound();
    wait = isThrottled ? Math.min(2 * wait, LONGEST_WAIT) : pollMilliseconds;
    if (hasMore && !isThrottled) continue;
    await sleep(Math.max(0, wait - (performance.now() - begun)), undefined, { signal }).catch(() => {});
  }

  /** Reads a page of each log, up to the first one that is throttled: all logs share the quota. */
  async function readRound() {
    const pages: Awaited<ReturnType<FollowedLog['readPage']>>[] = [];
    let isThrottled = false;
    for (const log of [...logs]) {
      const page = await log.readPage(signal);
      pages.push(page);
      if (signal.aborted) break;
      isThrottled = page.error?.name === 'ThrottlingException';
      report(log.name, page.error, isThrottled);
      if (isThrottled) break;
      // The next round begins with the log that was throttled.
      logs.push(...logs.splice(0, 1));
    }
    const facts = pages.flatMap((page) => page.facts).sort((a, b) => a.at - b.at);
    if (facts.length > 0) add(facts);
    return { hasMore: pages.some((page) => page.hasMore), isThrottled };
  }

  function report(name: FunctionName, error: Error | undefined, isThrottled: boolean): void {
    if (error === undefined) {
      if (troubled.delete(name)) onProblem(name, undefined);
    } else if (!troubled.has(name) && (!isThrottled || wait === LONGEST_WAIT)) {
      troubled.add(name);
      onProblem(name, error);
    }
  }
}

class FollowedLog {
  readonly name: FunctionName;
  readonly #stage: Stage;
  readonly #bucket: TokenBucket | undefined;
  /** Where the next poll begins, in epoch milliseconds. */
  #from: number;
  #newest = 0;
  /** Token of the next page, and when the first page of this series was read, in epoch milliseconds. */
  #nextToken: string | undefined;
  #begun: number | undefined;
  /** Times of the lines that a later poll may find again, by line id. */
  readonly #known = new Map<string, number>();

  constructor(stage: Stage, name: FunctionName, since: Date, bucket: TokenBucket | undefined) {
    this.#stage = stage;
    this.name = name;
    this.#from = since.getTime();
    this.#bucket = bucket;
  }

  /** Reads one page. If that fails, the next call continues there. */
  async readPage(
    signal: AbortSignal,
  ): Promise<{ facts: readonly LineFact[]; hasMore: boolean; error?: Error }> {
    const facts: LineFact[] = [];
    this.#begun ??= Date.now();
    try {
      const page = await this.#fetchPage(signal);
      for (const { eventId = '', timestamp: at = 0, message = '' } of page.events ?? []) {
        if (this.#known.has(eventId)) continue;
        this.#known.set(eventId, at);
        this.#newest = Math.max(this.#newest, at);
        // Lambda ends each line with a line feed.
        const fact = lineFact(message.trimEnd());
        if (fact !== undefined) facts.push(fact);
      }
      this.#nextToken = page.nextToken;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      // AWS would reject an expired token on every further call.
      if (error.name === 'InvalidParameterException') this.#nextToken = undefined;
      return { facts, hasMore: false, error };
    }
    if (this.#nextToken !== undefined) return { facts, hasMore: true };
    const reach = Math.max(this.#newest, this.#begun - CLOCK_TOLERANCE) - REACH_BACK;
    this.#from = Math.max(this.#from, reach);
    this.#begun = undefined;
    for (const [id, at] of this.#known) if (at < this.#from) this.#known.delete(id);
    return { facts, hasMore: false };
  }

  async #fetchPage(abortSignal: AbortSignal) {
    const { name } = this;
    const logGroupName =
      name === 'receiver' ? this.#stage.receiverLogGroup : this.#stage.event(name).logGroup;
    await this.#bucket?.take(1, abortSignal);
    const page = { logGroupName, startTime: this.#from, nextToken: this.#nextToken };
    return this.#stage.logs.send(new FilterLogEventsCommand(page), { abortSignal });
  }
}

/**
 * Passes records to `add` as the archive receives them, object by object, until the signal is aborted. A record may be
 * repeated, also because `forget` has removed its payload.
 */
export async function followArchive(
  stage: Stage,
  { since, signal, onProblem }: FollowOptions,
  add: (record: ArchiveRecord, object: string) => void,
): Promise<void> {
  const read = new Map<string, string | undefined>();
  let isUnreadable = false;
  while (stage.hasArchive && !signal.aborted) {
    try {
      await readNewestRecords(stage, { since, read, signal }, add);
      if (isUnreadable) onProblem('archive', undefined);
      isUnreadable = false;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (!isUnreadable && !signal.aborted) onProblem('archive', error);
      isUnreadable = true;
    }
    const interval = stage.local ? ARCHIVE_INTERVAL.local : ARCHIVE_INTERVAL.aws;
    await sleep(interval, undefined, { signal }).catch(() => {});
  }
}
