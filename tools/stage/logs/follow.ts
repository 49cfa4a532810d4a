import { setTimeout as sleep } from 'node:timers/promises';
import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { TokenBucket } from '../replay/token-bucket.ts';
import type { Stage } from '../stage.ts';

/** The receiver, or an event for its consumer. */
export type FunctionName = 'receiver' | EventName;

/** Every function whose lines are followed. */
export const functionNames: readonly FunctionName[] = ['receiver', ...eventNames];

/** A line that a function wrote. */
export interface FollowedLine {
  readonly function: FunctionName;
  /** Epoch milliseconds, by CloudWatch Logs. */
  readonly at: number;
  readonly text: string;
}

interface FollowOptions {
  /** @default the receiver and every consumer */
  readonly functions?: readonly FunctionName[] | undefined;
  readonly since: Date;
  readonly signal: AbortSignal;
  /** Between two looks. @default 2000; of the local stack 250 */
  readonly pollMilliseconds?: number | undefined;
  /**
   * Told once of what keeps a function's log from being read, such as a permission; the others are followed. Told
   * again only where it could be read in between. Throttling is waited out, and told where that does not help.
   */
  readonly onProblem?: ((name: FunctionName, error: Error) => void) | undefined;
}

const POLL_MILLISECONDS = { aws: 2_000, local: 250 };

/**
 * Requests a second at most. AWS allows 5 FilterLogEvents for an account and region, which cannot be raised: some are
 * left to whoever else looks. Source: CloudWatch Logs user guide, "CloudWatch Logs quotas".
 */
const REQUESTS_A_SECOND = 4;

/** The longest wait between two looks, in milliseconds: each one that is throttled doubles it. */
const LONGEST_WAIT = 30_000;

/**
 * How far a look reaches back before the newest line that is known, in milliseconds. Lambda sends lines in batches, and
 * CloudWatch Logs makes them readable some seconds later: those of one environment may come after younger ones of
 * another. AWS promises no time; this is several times of what is usual.
 */
const REACH_BACK = 30_000;

/**
 * By how much this machine's clock may be wrong, in milliseconds. A look of a quiet log begins that long ago, and not at
 * its last line of yesterday. Source: IAM user guide, "AWS Signature Version 4 for API requests": a request must reach
 * AWS within five minutes of its time stamp.
 */
const CLOCK_TOLERANCE = 5 * 60_000;

/**
 * The lines of functions as they are written, each once, until the signal is aborted: those of one look together, in
 * order of time; a log that fills several pages comes page by page. CloudWatch Logs shows some lines late, so each look
 * reaches back before the one before.
 */
export async function* followLogs(
  stack: Stage,
  {
    functions = functionNames,
    since,
    signal,
    pollMilliseconds = stack.local ? POLL_MILLISECONDS.local : POLL_MILLISECONDS.aws,
    onProblem = () => {},
  }: FollowOptions,
): AsyncGenerator<readonly FollowedLine[]> {
  const bucket = stack.local ? undefined : new TokenBucket(REQUESTS_A_SECOND);
  const logs = functions.map((name) => ({ name, log: new FollowedLog(stack, name, since, bucket) }));
  const troubled = new Set<FunctionName>();
  let wait = pollMilliseconds;
  while (!signal.aborted) {
    const begun = performance.now();
    const lines: FollowedLine[] = [];
    let throttledAt: number | undefined;
    let hasMorePages = false;
    for (const [index, { name, log }] of logs.entries()) {
      const { found, hasMore, error } = await log.look(signal);
      hasMorePages ||= hasMore;
      lines.push(...found);
      if (signal.aborted) break;
      if (error === undefined) {
        troubled.delete(name);
        continue;
      }
      const isThrottled = error.name === 'ThrottlingException';
      if (!troubled.has(name) && (!isThrottled || wait === LONGEST_WAIT)) {
        troubled.add(name);
        onProblem(name, error);
      }
      if (isThrottled) {
        throttledAt = index;
        break;
      }
    }
    if (lines.length > 0) yield lines.sort((a, b) => a.at - b.at);
    // Whoever is throttled comes first the next time, as the quota is of all logs together.
    if (throttledAt !== undefined) logs.push(...logs.splice(0, throttledAt));
    wait = throttledAt === undefined ? pollMilliseconds : Math.min(2 * wait, LONGEST_WAIT);
    if (hasMorePages && throttledAt === undefined) continue;
    await sleep(Math.max(0, wait - (performance.now() - begun)), undefined, { signal }).catch(() => {});
  }
}

/** The log of one function, looked at again and again. */
class FollowedLog {
  readonly #stack: Stage;
  readonly #name: FunctionName;
  readonly #bucket: TokenBucket | undefined;
  /** Where the next look begins, in epoch milliseconds. */
  #from: number;
  #newest = 0;
  /** Of the page that comes next, and when the first one of its row was read, in epoch milliseconds. */
  #nextToken: string | undefined;
  #begun: number | undefined;
  /** When the lines were written that a look may find again, by their id. */
  readonly #known = new Map<string, number>();

  constructor(stack: Stage, name: FunctionName, since: Date, bucket: TokenBucket | undefined) {
    this.#stack = stack;
    this.#name = name;
    this.#from = since.getTime();
    this.#bucket = bucket;
  }

  /**
   * Reads one page.
   * @returns what is new, whether there are more pages, and what kept it from being read: the next look goes on there
   */
  async look(
    signal: AbortSignal,
  ): Promise<{ found: readonly FollowedLine[]; hasMore: boolean; error?: Error }> {
    const found: FollowedLine[] = [];
    this.#begun ??= Date.now();
    try {
      const page = await this.#page(this.#nextToken, signal);
      for (const { eventId = '', timestamp: at = 0, message = '' } of page.events ?? []) {
        if (this.#known.has(eventId)) continue;
        this.#known.set(eventId, at);
        this.#newest = Math.max(this.#newest, at);
        // Lambda ends each line with a line feed.
        found.push({ function: this.#name, at, text: message.trimEnd() });
      }
      this.#nextToken = page.nextToken;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      // A token that AWS no longer takes would be refused for ever.
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

  async #page(nextToken: string | undefined, signal: AbortSignal) {
    const logGroupName =
      this.#name === 'receiver' ? this.#stack.receiverLogGroup : this.#stack.event(this.#name).logGroup;
    await this.#bucket?.take(1, signal);
    return this.#stack.logs.send(
      new FilterLogEventsCommand({ logGroupName, startTime: this.#from, nextToken }),
      { abortSignal: signal },
    );
  }
}
