import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeLogGroupsCommand,
  GetQueryResultsCommand,
  type GetQueryResultsResponse,
  StartQueryCommand,
  StopQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { CommandError, UsageError } from '../../terminal/command-error.ts';
import { orRefusal } from '../operation.ts';
import type { Stage } from '../stage.ts';
import type { LineFact } from './facts.ts';
import { lineFact } from './log-line.ts';

/**
 * Maximum number of lines that a query returns. A normal delivery has two lines, and one that fails to the end has 20.
 */
export const MAX_LINES = 1_000;

/** Milliseconds between polls for the result of a query: the first wait, and the longest. A query takes seconds. */
const POLL = { first: 100, longest: 1_000 };

const DAY = 24 * 60 * 60 * 1000;

/** Days searched by default. Log queries are paid by the byte. */
const DEFAULT_DAYS = 30;

interface Window {
  readonly since: Date;
  readonly until: Date;
}

/** Which part of the logs was searched. */
interface LogsSearched {
  /** ISO 8601. */
  readonly since: string;
  readonly until: string;
  readonly lines: number;
  /** Queries are paid by these bytes. */
  readonly bytesScanned: number;
  /** Whether there are more lines than a query returns. */
  readonly truncated: boolean;
  /** Why the logs could not be read. */
  readonly refused?: string;
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
  if (window.until > window.since) return window;
  throw new UsageError(
    `--until must be after --since: ${until.toISOString()} is not after ${window.since.toISOString()}`,
  );
}

/**
 * Searches the logs of the receiver and of all consumers in a window. Each search is a CloudWatch Logs Insights query.
 */
export class LogSearch {
  searched: LogsSearched;
  readonly #stage: Stage;
  readonly #window: Window;
  readonly #signal: AbortSignal;

  constructor(stage: Stage, window: Window, signal: AbortSignal) {
    this.#stage = stage;
    this.#window = window;
    this.#signal = signal;
    this.searched = { ...isoTimes(window), lines: 0, bytesScanned: 0, truncated: false };
  }

  /**
   * @param pattern a regular expression; undefined if there is nothing to search for
   * @returns the newest matching lines; none if the logs cannot be read
   * @throws CommandError if the query fails
   */
  async find(pattern: string | undefined): Promise<LineFact[]> {
    if (pattern === undefined || this.searched.refused !== undefined || this.#signal.aborted) return [];
    const found = await orRefusal(this.#stage, () => this.#query(pattern));
    if (!('refused' in found)) return found;
    this.searched = { ...this.searched, ...found };
    return [];
  }

  /** An interruption stops the query. The bytes scanned until then are still paid. */
  async #query(pattern: string): Promise<LineFact[]> {
    const { logs, receiverLogGroup, events } = this.#stage;
    const window = await reachable(this.#stage, this.#window);
    this.searched = { ...this.searched, ...isoTimes(window), lines: 0, truncated: false };
    if (window.since >= window.until) return [];
    const { queryId } = await logs.send(
      new StartQueryCommand({
        logGroupNames: [receiverLogGroup, ...events.map((event) => this.#stage.event(event).logGroup)],
        queryString: `fields @message | filter @message like /${pattern}/ | sort @timestamp desc | limit ${MAX_LINES}`,
        // CloudWatch takes whole seconds. The window includes both.
        startTime: Math.floor(window.since.getTime() / 1000),
        endTime: Math.ceil(window.until.getTime() / 1000),
      }),
    );
    const answer = await queryResult(this.#stage, queryId, this.#signal);
    if (answer === undefined) return [];
    const { results = [], statistics: { bytesScanned = 0, recordsMatched = 0 } = {} } = answer;
    const facts = results.flatMap((row) => {
      const text = row.find(({ field }) => field === '@message')?.value?.trimEnd() ?? '';
      return lineFact(text) ?? [];
    });
    const allScanned = this.searched.bytesScanned + bytesScanned;
    const truncated = recordsMatched > results.length;
    this.searched = { ...this.searched, lines: facts.length, bytesScanned: allScanned, truncated };
    return facts;
  }
}

const isoTimes = ({ since, until }: Window) => ({ since: since.toISOString(), until: until.toISOString() });

/** Escapes a text for the regular expression of a query. */
export const inPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/**
 * Limits a window to the retention of the logs: an empty result for older times would prove nothing. A window that is
 * too old becomes empty, because AWS would reject its query. Source: CloudWatch Logs API reference, `StartQuery`.
 */
async function reachable(stage: Stage, { since, until }: Window): Promise<Window> {
  const { receiverLogGroup } = stage;
  const { logGroups = [] } = await stage.logs.send(
    new DescribeLogGroupsCommand({ logGroupNamePrefix: receiverLogGroup }),
  );
  const group = logGroups.find(({ logGroupName }) => logGroupName === receiverLogGroup);
  const { retentionInDays, creationTime = 0 } = group ?? {};
  const oldest = retentionInDays === undefined ? 0 : Date.now() - retentionInDays * DAY;
  if (until.getTime() <= Math.max(oldest, creationTime)) return { since: until, until };
  return { since: new Date(Math.max(since.getTime(), oldest)), until };
}

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
