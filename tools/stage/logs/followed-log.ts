import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { CommandError } from '../../terminal/command-error.ts';
import type { Pace } from '../replay/pace.ts';
import type { Stage } from '../stage.ts';

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

interface FollowedLogOptions {
  /** Output of the stack that names the log group. */
  readonly output: string;
  readonly since: Date;
  /** Of requests. @default none */
  readonly pace: Pace | undefined;
}

interface Found {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly text: string;
}

/** The log of one function, looked at again and again. */
export class FollowedLog {
  readonly #stack: Stage;
  readonly #output: string;
  readonly #pace: Pace | undefined;
  /** Where the next look begins, in epoch milliseconds. */
  #from: number;
  #newest = 0;
  /** Of the page that comes next, and when the first one of its row was read, in epoch milliseconds. */
  #nextToken: string | undefined;
  #begun: number | undefined;
  /** When the lines were written that a look may find again, by their id. */
  readonly #known = new Map<string, number>();

  constructor(stack: Stage, { output, since, pace }: FollowedLogOptions) {
    this.#stack = stack;
    this.#output = output;
    this.#from = since.getTime();
    this.#pace = pace;
  }

  /**
   * Reads one page.
   * @returns what is new, whether there are more pages, and what kept it from being read: the next look goes on there
   */
  async look(signal: AbortSignal): Promise<{ found: readonly Found[]; hasMore: boolean; error?: Error }> {
    const found: Found[] = [];
    this.#begun ??= Date.now();
    try {
      const page = await this.#page(this.#nextToken, signal);
      for (const { eventId = '', timestamp: at = 0, message = '' } of page.events ?? []) {
        if (this.#known.has(eventId)) continue;
        this.#known.set(eventId, at);
        this.#newest = Math.max(this.#newest, at);
        // Lambda ends each line with a line feed.
        found.push({ at, text: message.trimEnd() });
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
    const logGroupName = this.#stack.outputs[this.#output];
    if (logGroupName === undefined) {
      throw new CommandError(`The stack has no output ${this.#output}: deploy it again`);
    }
    await this.#pace?.take(1, signal);
    return this.#stack.logs.send(
      new FilterLogEventsCommand({ logGroupName, startTime: this.#from, nextToken }),
      { abortSignal: signal },
    );
  }
}
