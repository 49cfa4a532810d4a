import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeLogGroupsCommand,
  GetQueryResultsCommand,
  type GetQueryResultsResponse,
  StartQueryCommand,
  StopQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { eventNames } from '../../../lambda/contract/catalogue.ts';
import { pascalCase } from '../../../lambda/contract/event-names.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { Stage } from '../stage.ts';
import { type LogLine, parseLogLine } from './log-line.ts';
import type { LogsSearched } from './timeline.ts';

/** From when until when something is looked for. */
export interface Window {
  readonly since: Date;
  readonly until: Date;
}

/** Lines of one event that are read: an ordinary one has two, one that fails to the end twelve. */
const MAXIMUM_LINES = 1_000;

/** Milliseconds between the first two questions whether the query is done, and the most between two: it takes seconds. */
const POLL = { first: 100, longest: 1_000 };

const DAY = 24 * 60 * 60 * 1000;

/** Days that are looked through where nothing else is said: a query is paid by the byte. */
const DEFAULT_DAYS = 30;

export const defaultSince = (until: Date) => new Date(until.getTime() - DEFAULT_DAYS * DAY);

/** What is looked for, any of both. */
export interface Searched {
  readonly eventIdPrefix?: string | undefined;
  readonly requestId?: string | undefined;
}

export interface FoundLines {
  readonly lines: readonly LogLine[];
  readonly searched: LogsSearched;
}

/**
 * The lines of the receiver and of all consumers about an event, by one query of CloudWatch Logs Insights.
 * @returns undefined where it was interrupted: the query is stopped, and costs what it has scanned
 * @throws CommandError where the query fails, or the stack lacks an output
 */
export async function queryLogs(
  stack: Stage,
  searched: Searched,
  window: Window,
  signal: AbortSignal,
): Promise<FoundLines | undefined> {
  const logGroupNames = logGroupsOf(stack);
  const { since, until } = await reachable(stack, window);
  const times = { since: since.toISOString(), until: until.toISOString() };
  if (since >= until) {
    return { lines: [], searched: { ...times, lines: 0, bytesScanned: 0, truncated: false } };
  }
  const { queryId } = await stack.logs.send(
    new StartQueryCommand({
      logGroupNames,
      queryString: queryText(searched),
      // Whole seconds, both inclusive.
      startTime: Math.floor(since.getTime() / 1000),
      endTime: Math.ceil(until.getTime() / 1000),
    }),
  );
  const answer = await resultOf(stack, queryId, signal);
  if (answer === undefined) return undefined;
  const { results = [], statistics: { bytesScanned = 0, recordsMatched = 0 } = {} } = answer;
  const lines = results.flatMap((row) => {
    const message = row.find(({ field }) => field === '@message')?.value ?? '';
    return parseLogLine(message) ?? [];
  });
  const truncated = recordsMatched > results.length;
  return { lines, searched: { ...times, lines: lines.length, bytesScanned, truncated } };
}

/** The newest lines with one of the ids, as the logger writes them. */
export function queryText({ eventIdPrefix, requestId }: Searched): string {
  const parts = [
    ...(eventIdPrefix === undefined ? [] : [`"eventId":"${eventIdPrefix}`]),
    ...(requestId === undefined ? [] : [`"requestId":"${requestId.replace(/[.+/]/g, '\\$&')}"`]),
  ];
  return `fields @message | filter @message like /${parts.join('|')}/ | sort @timestamp desc | limit ${MAXIMUM_LINES}`;
}

function logGroupsOf({ outputs }: Stage): string[] {
  const names = ['ReceiverLogGroup', ...eventNames.map((event) => `${pascalCase(event)}LogGroup`)];
  return names.map((name) => {
    const group = outputs[name];
    if (group === undefined) throw new CommandError(`The stack has no output ${name}: deploy it again`);
    return group;
  });
}

/**
 * A window as far as the logs reach back: finding nothing before that would prove nothing. A window that ends before is
 * empty, as its query would be refused. Source: CloudWatch Logs API reference, `StartQuery`.
 */
async function reachable({ logs, outputs }: Stage, { since, until }: Window): Promise<Window> {
  const { logGroups = [] } = await logs.send(
    new DescribeLogGroupsCommand({ logGroupNamePrefix: outputs.ReceiverLogGroup }),
  );
  const group = logGroups.find(({ logGroupName }) => logGroupName === outputs.ReceiverLogGroup);
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
