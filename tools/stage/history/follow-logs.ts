import { setTimeout as sleep } from 'node:timers/promises';
import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { TokenBucket } from '../replay/token-bucket.ts';
import type { Stage } from '../stage.ts';

/** `receiver`, or the event of a consumer. */
export type FunctionName = 'receiver' | EventName;

export const functionNames: readonly FunctionName[] = ['receiver', ...eventNames];

export interface FollowedLine {
  readonly function: FunctionName;
  /** Time from CloudWatch Logs. Epoch milliseconds. */
  readonly at: number;
  readonly text: string;
}

interface FollowLogsOptions {
  /** @default the receiver and every consumer */
  readonly functions?: readonly FunctionName[] | undefined;
  readonly since: Date;
  readonly signal: AbortSignal;
  /** Milliseconds between two polls. @default 2000; for the local stack 250 */
  readonly pollMilliseconds?: number | undefined;
  /**
   * Called once if a function's log cannot be read, for example because of a missing permission. The other logs are
   * still followed. Called again only if the log could be read in between. Throttling is retried first, and reported
   * only if that does not help.
   */
  readonly onProblem?: ((name: FunctionName, error: Error) => void) | undefined;
}

const POLL_MILLISECONDS = { aws: 2_000, local: 250 };

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
 * Yields the log lines of functions as they are written, each once, until the signal is aborted. The lines of one poll
 * come together, in order of time. A log with several pages comes page by page. CloudWatch Logs shows some lines late,
 * so polls overlap.
 */
export async function* followLogs(
  stack: Stage,
  {
    functions = functionNames,
    since,
    signal,
    pollMilliseconds = stack.local ? POLL_MILLISECONDS.local : POLL_MILLISECONDS.aws,
    onProblem = () => {},
  }: FollowLogsOptions,
): AsyncGenerator<readonly FollowedLine[]> {
  const bucket = stack.local ? undefined : new TokenBucket(REQUESTS_A_SECOND);
  const logs = functions.map((name) => new FollowedLog(stack, name, since, bucket));
  const troubled = new Set<FunctionName>();
  let wait = pollMilliseconds;
  const onPage = (name: FunctionName, error: Error | undefined) => {
    if (error === undefined) troubled.delete(name);
    else if (!troubled.has(name) && (!isThrottling(error) || wait === LONGEST_WAIT)) {
      troubled.add(name);
      onProblem(name, error);
    }
  };
  while (!signal.aborted) {
    const begun = performance.now();
    const { lines, hasMore, isThrottled } = await readPages(logs, signal, onPage);
    if (lines.length > 0) yield lines.sort((a, b) => a.at - b.at);
    wait = isThrottled ? Math.min(2 * wait, LONGEST_WAIT) : pollMilliseconds;
    if (hasMore && !isThrottled) continue;
    await sleep(Math.max(0, wait - (performance.now() - begun)), undefined, { signal }).catch(() => {});
  }
}

const isThrottling = ({ name }: Error) => name === 'ThrottlingException';

/**
 * Reads a page of each log, up to the first one that is throttled. The next call begins with that log, because all logs
 * share the quota.
 * @param logs is put into its new order
 */
async function readPages(
  logs: FollowedLog[],
  signal: AbortSignal,
  onPage: (name: FunctionName, error: Error | undefined) => void,
): Promise<{ lines: FollowedLine[]; hasMore: boolean; isThrottled: boolean }> {
  const lines: FollowedLine[] = [];
  let hasMore = false;
  for (const [index, log] of logs.entries()) {
    const page = await log.readPage(signal);
    hasMore ||= page.hasMore;
    lines.push(...page.found);
    if (signal.aborted) break;
    onPage(log.name, page.error);
    if (page.error !== undefined && isThrottling(page.error)) {
      logs.push(...logs.splice(0, index));
      return { lines, hasMore, isThrottled: true };
    }
  }
  return { lines, hasMore, isThrottled: false };
}

class FollowedLog {
  readonly name: FunctionName;
  readonly #stack: Stage;
  readonly #bucket: TokenBucket | undefined;
  /** Where the next poll begins, in epoch milliseconds. */
  #from: number;
  #newest = 0;
  /** Token of the next page, and when the first page of this series was read, in epoch milliseconds. */
  #nextToken: string | undefined;
  #begun: number | undefined;
  /** Times of the lines that a later poll may find again, by line id. */
  readonly #known = new Map<string, number>();

  constructor(stack: Stage, name: FunctionName, since: Date, bucket: TokenBucket | undefined) {
    this.#stack = stack;
    this.name = name;
    this.#from = since.getTime();
    this.#bucket = bucket;
  }

  /**
   * Reads one page.
   * @returns the new lines, whether there are more pages, and the error if the page could not be read. The next call
   * continues there
   */
  async readPage(
    signal: AbortSignal,
  ): Promise<{ found: readonly FollowedLine[]; hasMore: boolean; error?: Error }> {
    const found: FollowedLine[] = [];
    this.#begun ??= Date.now();
    try {
      const page = await this.#fetchPage(this.#nextToken, signal);
      for (const { eventId = '', timestamp: at = 0, message = '' } of page.events ?? []) {
        if (this.#known.has(eventId)) continue;
        this.#known.set(eventId, at);
        this.#newest = Math.max(this.#newest, at);
        // Lambda ends each line with a line feed.
        found.push({ function: this.name, at, text: message.trimEnd() });
      }
      this.#nextToken = page.nextToken;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      // AWS would reject an expired token on every further call.
      if (error.name === 'InvalidParameterException') this.#nextToken = undefined;
      return { found, hasMore: false, error };
    }
    if (this.#nextToken !== undefined) return { found, hasMore: true };
    const reach = Math.max(this.#newest, this.#begun - CLOCK_TOLERANCE) - REACH_BACK;
    this.#from = Math.max(this.#from, reach);
    this.#begun = undefined;
    for (const [id, at] of this.#known) if (at < this.#from) this.#known.delete(id);
    return { found, hasMore: false };
  }

  async #fetchPage(nextToken: string | undefined, signal: AbortSignal) {
    const logGroupName =
      this.name === 'receiver' ? this.#stack.receiverLogGroup : this.#stack.event(this.name).logGroup;
    await this.#bucket?.take(1, signal);
    return this.#stack.logs.send(
      new FilterLogEventsCommand({ logGroupName, startTime: this.#from, nextToken }),
      { abortSignal: signal },
    );
  }
}
