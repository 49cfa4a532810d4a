import * as z from 'zod/mini';
import { AwsError } from './aws-error.ts';
import { type JsonObject, textOf } from './json.ts';
import type { KeptState } from './kept/kept-state.ts';
import { logFilter } from './log-filter.ts';
import { createQueries } from './logs-query.ts';

/** Lines that are kept of each group, some 600 bytes each: the oldest go first. */
const LINES_KEPT = 5_000;

/** The most that FilterLogEvents answers with at a time, by AWS' quota. */
const MAXIMUM_PAGE = 10_000;

/** All lines of a group are in one stream: nobody here looks for an instance. */
const STREAM = 'local';

const line = z.object({
  /** Counts up from the first line of all. */
  number: z.number(),
  /** Epoch milliseconds. */
  timestamp: z.number(),
  message: z.string(),
});

type Line = Readonly<z.infer<typeof line>>;

const keptLine = z.extend(line, { group: z.string() });

/** CloudWatch Logs, in memory: what functions write, to be read. */
export interface Logs {
  /** Makes a group, which is empty but for what was kept of it. */
  create(group: string): void;
  /** Adds a line to a group. */
  write(group: string, message: string): void;
  answer(operation: string, parameters: JsonObject): JsonObject;
}

interface LogsOptions {
  region: string;
  accountId: string;
  /** @default nothing is kept */
  kept?: KeptState | undefined;
}

export function createLogs({ region, accountId, kept }: LogsOptions): Logs {
  const groups = new Map<string, Line[]>();
  const shelf = kept?.shelf('log line', keptLine);
  const before = (shelf?.entries() ?? []).map(([, one]) => one).sort((a, b) => a.number - b.number);
  let count = (before.at(-1)?.number ?? -1) + 1;

  const arnOf = (name: string) => `arn:aws:logs:${region}:${accountId}:log-group:${name}`;

  function linesOf(parameters: JsonObject): readonly Line[] {
    const named = textOf(parameters, 'logGroupName') ?? textOf(parameters, 'logGroupIdentifier') ?? '';
    return linesOfGroup(named.replace(/^arn:.*:log-group:/, '').replace(/:\*$/, ''));
  }

  function linesOfGroup(name: string): readonly Line[] {
    const lines = groups.get(name);
    if (lines === undefined) {
      throw new AwsError('ResourceNotFoundException', 'The specified log group does not exist.');
    }
    return lines;
  }

  const operations: Record<string, (parameters: JsonObject) => JsonObject> = {
    ...createQueries(linesOfGroup),

    DescribeLogGroups(parameters) {
      const prefix = textOf(parameters, 'logGroupNamePrefix') ?? '';
      const names = [...groups.keys()].filter((name) => name.startsWith(prefix)).sort();
      return {
        logGroups: names.map((logGroupName) => ({
          logGroupName,
          arn: `${arnOf(logGroupName)}:*`,
          logGroupArn: arnOf(logGroupName),
        })),
      };
    },

    FilterLogEvents(parameters) {
      const lines = linesOf(parameters);
      const matches = logFilter(textOf(parameters, 'filterPattern') ?? '');
      const from = Number(parameters.startTime ?? 0);
      const to = Number(parameters.endTime ?? Number.POSITIVE_INFINITY);
      const after = Number(textOf(parameters, 'nextToken') ?? -1);
      const limit = Math.min(Number(parameters.limit ?? MAXIMUM_PAGE), MAXIMUM_PAGE);
      const found = lines.filter(
        ({ number, timestamp, message }) =>
          number > after && timestamp >= from && timestamp <= to && matches(message),
      );
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return {
        events: page.map(({ number, timestamp, message }) => ({
          logStreamName: STREAM,
          timestamp,
          message,
          ingestionTime: timestamp,
          eventId: String(number),
        })),
        searchedLogStreams: [],
        ...(last !== undefined && page.length < found.length && { nextToken: String(last.number) }),
      };
    },
  };

  function create(group: string): Line[] {
    const lines = groups.get(group) ?? [];
    groups.set(group, lines);
    return lines;
  }

  for (const { group, ...one } of before) create(group).push(one);

  return {
    create,

    write(group, message) {
      const lines = create(group);
      const one: Line = { number: count, timestamp: Date.now(), message };
      lines.push(one);
      shelf?.put(String(one.number), { ...one, group });
      count += 1;
      const oldest = lines.length > LINES_KEPT ? lines.shift() : undefined;
      if (oldest !== undefined) shelf?.delete(String(oldest.number));
    },

    answer(operation, parameters) {
      const carryOut = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
      if (carryOut === undefined) {
        throw new AwsError(
          'UnknownOperationException',
          `The local AWS endpoint does not offer CloudWatch Logs' ${operation}.`,
        );
      }
      return carryOut(parameters);
    },
  };
}
