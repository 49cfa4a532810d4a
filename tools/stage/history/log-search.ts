import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeLogGroupsCommand,
  GetQueryResultsCommand,
  type GetQueryResultsResponse,
  StartQueryCommand,
  StopQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { CommandError } from '../../terminal/command-error.ts';
import { counted } from '../../terminal/text.ts';
import { requireWindow } from '../archive/record-filter.ts';
import { orRefusal } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { type LineFact, lineFact } from './facts.ts';

/**
 * Maximum number of lines that a query returns. A normal delivery has two lines, and one that fails to the end has 20.
 */
const MAX_LINES = 1_000;

/** Milliseconds between polls for the result of a query: the first wait, and the longest. A query takes seconds. */
const POLL = { first: 100, longest: 1_000 };

const DAY = 24 * 60 * 60 * 1000;

/** Days searched by default. Log queries are paid by the byte. */
const DEFAULT_DAYS = 30;

/** Price of a scanned byte, in US dollars. Source: https://aws.amazon.com/cloudwatch/pricing/, Logs Insights. */
const SCANNED_BYTE_DOLLARS = 0.005 / 2 ** 30;

interface Window {
  readonly since: Date;
  readonly until: Date;
}

export interface SearchedSource {
  /** Says what was read, and what may be missing. */
  readonly text: string;
  /** Why the source, or a part of it, could not be read. */
  readonly problem?: string | undefined;
}

/** @throws CommandError if the window is empty */
export function windowOf({
  since,
  until = new Date(),
}: {
  /** @default 30 days before `until` */
  readonly since?: Date | undefined;
  /** @default now */
  readonly until?: Date | undefined;
}): Window {
  const window = { since: since ?? new Date(until.getTime() - DEFAULT_DAYS * DAY), until };
  requireWindow(window);
  return window;
}

/**
 * Searches the logs of the receiver and of all consumers in a window. Each search is a CloudWatch Logs Insights query.
 */
export class LogSearch {
  readonly #stage: Stage;
  readonly #signal: AbortSignal;
  #window: Window;
  #lines = 0;
  #bytesScanned = 0;
  #hasMore = false;
  #refused: string | undefined;

  constructor(stage: Stage, window: Window, signal: AbortSignal) {
    this.#stage = stage;
    this.#window = window;
    this.#signal = signal;
  }

  get source(): SearchedSource {
    const problem = this.#refused;
    if (problem !== undefined) {
      const text = `The logs could not be read, so rejected requests and failed attempts are missing: ${problem}.`;
      return { text, problem };
    }
    const { since, until } = this.#window;
    const dollars = (this.#bytesScanned * SCANNED_BYTE_DOLLARS).toFixed(4);
    const cost = this.#stage.local
      ? ''
      : `, ${(this.#bytesScanned / 1e9).toFixed(3)} GB scanned for ${dollars} dollars`;
    const more = this.#hasMore ? ' There are more lines: narrow the window with --since and --until.' : '';
    const window = `${toTheMinute(since)} to ${toTheMinute(until)}`;
    return { text: `Logs from ${window}: ${counted(this.#lines, 'line')}${cost}.${more}` };
  }

  /**
   * @param pattern a regular expression
   * @returns the newest matching lines; none if the logs cannot be read
   * @throws CommandError if the query fails
   */
  async find(pattern: string): Promise<LineFact[]> {
    if (this.#refused !== undefined || this.#signal.aborted) return [];
    const found = await orRefusal(this.#stage, () => this.#query(pattern));
    if (!('refused' in found)) return found;
    this.#refused = found.refused;
    return [];
  }

  /** An interruption stops the query. The bytes scanned until then are still paid. */
  async #query(pattern: string): Promise<LineFact[]> {
    const { logs, receiverLogGroup, events } = this.#stage;
    const oldest = await this.#oldest();
    const until = this.#window.until.getTime();
    // Older times would prove nothing.
    const since = Math.min(until, Math.max(oldest, this.#window.since.getTime()));
    this.#window = { ...this.#window, since: new Date(since) };
    if (until <= oldest) return [];
    const { queryId } = await logs.send(
      new StartQueryCommand({
        logGroupNames: [receiverLogGroup, ...events.map((event) => this.#stage.ofEvent(event, 'LogGroup'))],
        queryString: `fields @message | filter @message like /${pattern}/ | sort @timestamp desc | limit ${MAX_LINES}`,
        // CloudWatch takes whole seconds. The window includes both.
        startTime: Math.floor(since / 1000),
        endTime: Math.ceil(until / 1000),
      }),
    );
    const answer = await queryResult(this.#stage, queryId, this.#signal);
    const { results = [], statistics: { bytesScanned = 0, recordsMatched = 0 } = {} } = answer ?? {};
    const texts = results.map((row) => row.find(({ field }) => field === '@message')?.value ?? '');
    const facts = texts.flatMap((text) => lineFact(text.trimEnd()) ?? []);
    this.#lines = facts.length;
    this.#bytesScanned += bytesScanned;
    this.#hasMore = recordsMatched > results.length;
    return facts;
  }

  /**
   * When the logs begin, in epoch milliseconds. AWS rejects a query that ends before. Source: CloudWatch Logs API
   * reference, `StartQuery`.
   */
  async #oldest(): Promise<number> {
    const { logs, receiverLogGroup } = this.#stage;
    const command = new DescribeLogGroupsCommand({ logGroupNamePrefix: receiverLogGroup });
    const { logGroups = [] } = await logs.send(command);
    const group = logGroups.find(({ logGroupName }) => logGroupName === receiverLogGroup);
    const { retentionInDays = Infinity, creationTime = 0 } = group ?? {};
    return Math.max(creationTime, Date.now() - retentionInDays * DAY);
  }
}

const toTheMinute = (time: Date) => `${time.toISOString().slice(0, 16)}Z`;

export const inPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/**
 * Waits for the result of a query.
 * @returns undefined if it was interrupted
 */
export async function queryResult(
  { logs }: Stage,
  queryId: string | undefined,
  signal: AbortSignal,
): Promise<GetQueryResultsResponse | undefined> {
  for (let wait = POLL.first; ; wait = Math.min(2 * wait, POLL.longest)) {
    if (signal.aborted) {
      await logs.send(new StopQueryCommand({ queryId })).catch((error: Error) => {
        // The query has ended in the meantime.
        if (error.name !== 'InvalidParameterException') throw error;
      });
      return undefined;
    }
    const answer = await logs.send(new GetQueryResultsCommand({ queryId }));
    if (answer.status === 'Complete') return answer;
    if (answer.status !== 'Scheduled' && answer.status !== 'Running') {
      throw new CommandError(
        `The query of the logs ended as ${answer.status}: narrow it with --since and --until`,
      );
    }
    await sleep(wait, undefined, { signal }).catch(() => {});
  }
}
