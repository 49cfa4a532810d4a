import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeLogGroupsCommand,
  GetQueryResultsCommand,
  type GetQueryResultsResponse,
  StartQueryCommand,
  StopQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { CommandError } from '../../terminal/command-error.ts';
import type { Stage } from '../stage.ts';
import type { LineFact } from './facts.ts';
import { parseLogLine } from './log-line.ts';

/** From when until when something is looked for. */
export interface Window {
  readonly since: Date;
  readonly until: Date;
}

/** Lines that a query returns: an ordinary delivery has two, one that fails to the end twelve. */
export const MAXIMUM_LINES = 1_000;

/** Milliseconds between the first two questions whether the query is done, and the most between two: it takes seconds. */
const POLL = { first: 100, longest: 1_000 };

const DAY = 24 * 60 * 60 * 1000;

/** What was looked through in the logs. */
export interface LogsSearched {
  /** ISO 8601. */
  readonly since: string;
  readonly until: string;
  readonly lines: number;
  /** What the queries are paid by. */
  readonly bytesScanned: number;
  /** There are more lines than a query returns. */
  readonly truncated: boolean;
}

/**
 * The newest lines of the receiver and of all consumers that a regular expression matches, by one query of CloudWatch
 * Logs Insights.
 * @returns undefined if it was interrupted: the query is stopped, and costs what it has scanned
 * @throws CommandError if the query fails, or the stack lacks an output
 */
export async function queryLines(
  stage: Stage,
  pattern: string,
  window: Window,
  signal: AbortSignal,
): Promise<{ readonly facts: LineFact[]; readonly searched: LogsSearched } | undefined> {
  const logGroupNames = [stage.receiverLogGroup, ...stage.events.map((event) => stage.event(event).logGroup)];
  const { since, until } = await reachable(stage, window);
  const times = { since: since.toISOString(), until: until.toISOString() };
  if (since >= until) {
    return { facts: [], searched: { ...times, lines: 0, bytesScanned: 0, truncated: false } };
  }
  const { queryId } = await stage.logs.send(
    new StartQueryCommand({
      logGroupNames,
      queryString: `fields @message | filter @message like /${pattern}/ | sort @timestamp desc | limit ${MAXIMUM_LINES}`,
      // Whole seconds, both inclusive.
      startTime: Math.floor(since.getTime() / 1000),
      endTime: Math.ceil(until.getTime() / 1000),
    }),
  );
  const answer = await resultOf(stage, queryId, signal);
  if (answer === undefined) return undefined;
  const { results = [], statistics: { bytesScanned = 0, recordsMatched = 0 } = {} } = answer;
  const facts = results.flatMap((row) => {
    const text = row.find(({ field }) => field === '@message')?.value?.trimEnd() ?? '';
    return lineFact(text) ?? [];
  });
  const truncated = recordsMatched > results.length;
  return { facts, searched: { ...times, lines: facts.length, bytesScanned, truncated } };
}

/** @returns undefined if the line is not about an event */
export function lineFact(text: string): LineFact | undefined {
  const line = parseLogLine(text);
  if (line === undefined) return undefined;
  const { at, requestId, eventId, event, messageId } = line;
  const name = messageId === undefined ? 'receiver' : (event ?? '');
  return { kind: 'line', at, requestId, eventId, event, function: name, text };
}

/** A text as a part of a query's regular expression. */
export const inPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/**
 * A window as far as the logs reach back: finding nothing before that would prove nothing. A window that ends before is
 * empty, as its query would be refused. Source: CloudWatch Logs API reference, `StartQuery`.
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

async function resultOf(
  { logs }: Stage,
  queryId: string | undefined,
  signal: AbortSignal,
): Promise<GetQueryResultsResponse | undefined> {
  for (let wait = POLL.first; ; wait = Math.min(2 * wait, POLL.longest)) {
    if (signal.aborted) {
      await logs.send(new StopQueryCommand({ queryId })).catch((error: Error) => {
        // It has just ended by itself.
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
