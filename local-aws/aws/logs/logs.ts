import { AwsError } from '../errors.ts';
import { type JsonObject, objectsOf, textOf } from '../json.ts';
import { arnOf, type Operations } from '../service-forms.ts';
import { logFilter } from './log-filter.ts';
import { createQueries } from './logs-query.ts';

/** Maximum lines of each group, about 600 bytes each. The oldest are removed first. */
const MAX_LINES = 5_000;

/** Lines in an answer of FilterLogEvents. Source: CloudWatch Logs API reference. */
const DEFAULT_PAGE_SIZE = 10_000;

/**
 * Maximum bytes of lines that FilterLogEvents reads for one page. AWS answers with 1 MB at most and may stop earlier. A
 * page may be empty although more follow. Source: CloudWatch Logs API reference, `FilterLogEvents`.
 */
const MAX_PAGE_BYTES = 1024 * 1024;

/**
 * Bytes that CloudWatch counts per line, besides its text. Source: CloudWatch Logs API reference,
 * `PutLogEvents`.
 */
const LINE_OVERHEAD = 26;

/** Number of digits of a log line's id. */
const ID_LENGTH = 56;

/** Name of the only log stream of each group: this stack does not tell execution environments apart. */
const STREAM = 'local';

interface StoredLine {
  /** Sequence number of the line, across all groups. */
  readonly number: number;
  /** Time of writing, epoch milliseconds. */
  readonly timestamp: number;
  /** Time when the line was added, epoch milliseconds. */
  readonly ingestionTime: number;
  readonly message: string;
}

/** CloudWatch Logs, in memory. The functions' log lines are written to it. */
export function createLogs() {
  const groups = new Map<string, StoredLine[]>();
  /** Streams that were created by a call: the group's name and its own. */
  const streams = new Set<string>();
  let count = 0;

  const groupArn = (name: string) => arnOf('logs', `log-group:${name}`);

  const linesOf = ({ logGroupName: name, logGroupIdentifier: identifier = '' }: JsonObject) =>
    linesOfGroup(String(name ?? identifier).replace(/^arn:.*:log-group:|:\*$/g, ''));

  function linesOfGroup(name: string): readonly StoredLine[] {
    const lines = groups.get(name);
    if (lines === undefined) {
      throw new AwsError('ResourceNotFoundException', 'The specified log group does not exist.');
    }
    return lines;
  }

  const operations: Operations = {
    ...createQueries(linesOfGroup),

    DescribeLogGroups(parameters) {
      const prefix = textOf(parameters, 'logGroupNamePrefix') ?? '';
      const names = [...groups.keys()].filter((name) => name.startsWith(prefix)).sort();
      return {
        logGroups: names.map((logGroupName) => ({
          logGroupName,
          arn: `${groupArn(logGroupName)}:*`,
          logGroupArn: groupArn(logGroupName),
        })),
      };
    },

    CreateLogStream(parameters) {
      linesOf(parameters);
      const name = streamOf(parameters);
      if (streams.has(name)) {
        throw new AwsError('ResourceAlreadyExistsException', 'The specified log stream already exists');
      }
      streams.add(name);
      return {};
    },

    PutLogEvents(parameters) {
      linesOf(parameters);
      if (!streams.has(streamOf(parameters))) {
        throw new AwsError('ResourceNotFoundException', 'The specified log stream does not exist.');
      }
      for (const { message, timestamp } of validEvents(parameters)) {
        write(textOf(parameters, 'logGroupName') ?? '', message, timestamp);
      }
      return {};
    },

    FilterLogEvents: (parameters) => filteredPage(linesOf(parameters), parameters),
  };

  const streamOf = (parameters: JsonObject) =>
    `${textOf(parameters, 'logGroupName')}:${textOf(parameters, 'logStreamName')}`;

  function create(group: string): StoredLine[] {
    const lines = groups.get(group) ?? [];
    groups.set(group, lines);
    return lines;
  }

  /** Adds a line to a group. @param at time of writing; CloudWatch may show a line later. @default now */
  function write(group: string, message: string, at?: number): void {
    const lines = create(group);
    const now = Date.now();
    const one: StoredLine = { number: count, timestamp: at ?? now, ingestionTime: now, message };
    lines.splice(lines.findLastIndex(({ timestamp }) => timestamp <= one.timestamp) + 1, 0, one);
    count += 1;
    if (lines.length > MAX_LINES) lines.shift();
  }

  return { create, write, operations };
}

/** The lines of PutLogEvents. Source of the limits: CloudWatch Logs API reference, `PutLogEvents`. */
function validEvents(parameters: JsonObject): { readonly message: string; readonly timestamp: number }[] {
  const events = objectsOf(parameters, 'logEvents').map((event) => ({
    message: textOf(event, 'message') ?? '',
    timestamp: Number(event.timestamp),
  }));
  const bytes = events.reduce((sum, { message }) => sum + Buffer.byteLength(message) + LINE_OVERHEAD, 0);
  if (bytes > MAX_PAGE_BYTES)
    throw invalid(`Upload too large: ${bytes} bytes exceeds limit of ${MAX_PAGE_BYTES}`);
  if (events.some(({ timestamp }, index) => timestamp < (events[index - 1]?.timestamp ?? 0))) {
    throw invalid('Log events in a single PutLogEvents request must be in chronological order.');
  }
  return events;
}

function filteredPage(lines: readonly StoredLine[], parameters: JsonObject): JsonObject {
  if (parameters.logStreamNames !== undefined || parameters.logStreamNamePrefix !== undefined) {
    throw invalid('The local AWS endpoint does not filter by log stream.');
  }
  const matches = logFilter(textOf(parameters, 'filterPattern') ?? '');
  const from = Number(parameters.startTime ?? 0);
  const to = Number(parameters.endTime ?? Number.POSITIVE_INFINITY);
  const limit = Number(parameters.limit ?? DEFAULT_PAGE_SIZE);
  const token = textOf(parameters, 'nextToken');
  if (token !== undefined && !/^\d+$/.test(token)) throw invalid('The specified nextToken is invalid.');
  // The token is the last line of the page before. If that line was removed meanwhile, all lines follow it.
  const next = lines.findIndex(({ number }) => String(number) === token) + 1;
  const left = lines.slice(next).filter(({ timestamp }) => timestamp >= from && timestamp <= to);
  const { events, last } = firstPage(left, limit, matches);
  return {
    events: events.map(({ number, timestamp, ingestionTime, message }) => ({
      logStreamName: STREAM,
      timestamp,
      message,
      ingestionTime,
      eventId: idOf(timestamp, number),
    })),
    searchedLogStreams: [],
    ...(last !== undefined && last !== left.at(-1) && { nextToken: String(last.number) }),
  };
}

/** @returns the matching lines of one page, and the last line that the page covers */
function firstPage(
  lines: readonly StoredLine[],
  limit: number,
  matches: (message: string) => boolean,
): { events: StoredLine[]; last: StoredLine | undefined } {
  const events: StoredLine[] = [];
  let bytes = 0;
  let last: StoredLine | undefined;
  for (const line of lines) {
    bytes += Buffer.byteLength(line.message) + LINE_OVERHEAD;
    if (events.length === limit || (last !== undefined && bytes > MAX_PAGE_BYTES)) break;
    if (matches(line.message)) events.push(line);
    last = line;
  }
  return { events, last };
}

/** Id of a log line. The id begins with the time, so that no id is repeated after a restart of the stack. */
const idOf = (timestamp: number, number: number) =>
  `${timestamp}${String(number).padStart(ID_LENGTH - String(timestamp).length, '0')}`;

const invalid = (text: string) => new AwsError('InvalidParameterException', text);
