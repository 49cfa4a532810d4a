import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { CommandError } from '../../terminal/command-error.ts';
import type { Pace } from '../replay/pace.ts';
import type { FoundStack } from '../stack.ts';

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
  readonly #stack: FoundStack;
  readonly #output: string;
  readonly #pace: Pace | undefined;
  /** Where the next look begins, in epoch milliseconds. */
  #from: number;
  #newest = 0;
  /** When the lines were written that a look may find again, by their id. */
  readonly #known = new Map<string, number>();

  constructor(stack: FoundStack, { output, since, pace }: FollowedLogOptions) {
    this.#stack = stack;
    this.#output = output;
    this.#from = since.getTime();
    this.#pace = pace;
  }

  /** @returns what is new, and what kept the look from its end: the next one finds the rest */
  async look(signal: AbortSignal): Promise<{ found: readonly Found[]; error?: Error }> {
    const found: Found[] = [];
    const begun = Date.now();
    try {
      let nextToken: string | undefined;
      do {
        const page = await this.#page(nextToken, signal);
        for (const { eventId = '', timestamp: at = 0, message = '' } of page.events ?? []) {
          if (this.#known.has(eventId)) continue;
          this.#known.set(eventId, at);
          this.#newest = Math.max(this.#newest, at);
          // Lambda ends each line with a line feed.
          found.push({ at, text: message.trimEnd() });
        }
        nextToken = page.nextToken;
      } while (nextToken !== undefined);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return { found, error };
    }
    this.#from = Math.max(this.#from, Math.max(this.#newest, begun - CLOCK_TOLERANCE) - REACH_BACK);
    for (const [id, at] of this.#known) if (at < this.#from) this.#known.delete(id);
    return { found };
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
