import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeLogGroupsCommand,
  GetQueryResultsCommand,
  type GetQueryResultsResponse,
  StartQueryCommand,
  type StartQueryCommandInput,
  StopQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { CommandError } from '../../terminal/command-error.ts';
import { counted } from '../../terminal/text.ts';
import { requireWindow } from '../archive/record-filter.ts';
import { orRefusal } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { lineFact } from './facts.ts';

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
 * Searches the logs of the receiver and of all consumers with a CloudWatch Logs Insights query.
 * @param pattern a regular expression
 * @param before bytes that earlier searches have scanned, for the costs
 * @returns the newest matching lines, none if it was interrupted or the logs cannot be read; `scanned`: bytes that all
 * searches have scanned
 * @throws CommandError if the query fails
 */
export async function searchLogs(
  stage: Stage,
  pattern: string,
  window: Window,
  signal: AbortSignal,
  before = 0,
) {
  const found = await orRefusal(stage, () => queryLogs(stage, pattern, window, signal));
  if ('refused' in found) {
    const problem = found.refused;
    const text = `The logs could not be read, so rejected requests and failed attempts are missing: ${problem}.`;
    return { lines: [], source: { text, problem }, scanned: before };
  }
  const { lines, since, hasMore } = found;
  const scanned = before + found.scanned;
  const dollars = (scanned * SCANNED_BYTE_DOLLARS).toFixed(4);
  const cost = stage.local ? '' : `, ${(scanned / 1e9).toFixed(3)} GB scanned for ${dollars} dollars`;
  const more = hasMore ? ' There are more lines: narrow the window with --since and --until.' : '';
  const times = `${toTheMinute(since)} to ${toTheMinute(window.until)}`;
  const source: SearchedSource = {
    text: `Logs from ${times}: ${counted(lines.length, 'line')}${cost}.${more}`,
  };
  return { lines, source, scanned };
}

/** An interruption stops the query. The bytes scanned until then are still paid. */
async function queryLogs(stage: Stage, pattern: string, window: Window, signal: AbortSignal) {
  const oldest = await whenLogsBegin(stage);
  // Older times would prove nothing.
  const since = new Date(Math.min(window.until.getTime(), Math.max(oldest, window.since.getTime())));
  const nothing = { lines: [], since, hasMore: false, scanned: 0 };
  if (window.until.getTime() <= oldest || signal.aborted) return nothing;
  const query = {
    logGroupNames: [stage.receiverLogGroup, ...stage.events.map((event) => stage.ofEvent(event, 'LogGroup'))],
    queryString: `fields @message | filter @message like /${pattern}/ | sort @timestamp desc | limit ${MAX_LINES}`,
    // CloudWatch takes whole seconds. The window includes both.
    startTime: Math.floor(since.getTime() / 1000),
    endTime: Math.ceil(window.until.getTime() / 1000),
  };
  const answer = await runQuery(stage, query, signal);
  const { results = [], statistics: { bytesScanned = 0, recordsMatched = 0 } = {} } = answer ?? {};
  const texts = results.map((row) => row.find(({ field }) => field === '@message')?.value ?? '');
  const lines = texts.flatMap((text) => lineFact(text.trimEnd()) ?? []);
  return { lines, since, hasMore: recordsMatched > results.length, scanned: bytesScanned };
}

/**
 * When the logs begin, in epoch milliseconds. AWS rejects a query that ends before. Source: CloudWatch Logs API
 * reference, `StartQuery`.
 */
async function whenLogsBegin({ logs, receiverLogGroup }: Stage): Promise<number> {
  const command = new DescribeLogGroupsCommand({ logGroupNamePrefix: receiverLogGroup });
  const { logGroups = [] } = await logs.send(command);
  const group = logGroups.find(({ logGroupName }) => logGroupName === receiverLogGroup);
  const { retentionInDays = Infinity, creationTime = 0 } = group ?? {};
  return Math.max(creationTime, Date.now() - retentionInDays * DAY);
}

const toTheMinute = (time: Date) => `${time.toISOString().slice(0, 16)}Z`;

export const inPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** @returns undefined if it was interrupted */
export async function runQuery(
  { logs }: Stage,
  query: StartQueryCommandInput,
  signal: AbortSignal,
): Promise<GetQueryResultsResponse | undefined> {
  const { queryId } = await logs.send(new StartQueryCommand(query));
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
