import { AwsError } from '../errors.ts';
import { type JsonObject, parseJsonObject, textOf, textsOf } from '../json.ts';
import type { Operations } from '../service-forms.ts';

/** Maximum number of stored queries. The oldest are removed first. */
const MAX_QUERIES = 100;

/** The first supported form of query: the newest lines that match a regular expression. */
const QUERY =
  /^fields @message \| filter @message like \/((?:\\.|[^/\\])+)\/ \| sort @timestamp desc \| limit ([1-9]\d{0,3})$/;

/** The second supported form: the newest line with a given message, of each event. */
const NEWEST_BY_EVENT =
  /^fields @timestamp, event \| filter message = "(\w+)" \| sort @timestamp desc \| dedup event$/;

interface QueriedLine {
  /** Epoch milliseconds. */
  readonly timestamp: number;
  readonly message: string;
}

interface InsightsQuery {
  status: 'Running' | 'Complete' | 'Cancelled';
  readonly results: JsonObject[][];
  readonly statistics: JsonObject;
}

/**
 * Operations of CloudWatch Logs Insights for the two forms of query that this project uses. A query is complete only at
 * the second request for its results, so that callers that do not wait fail here, too.
 * @param linesOf throws AwsError if the log group does not exist
 */
export function createQueries(linesOf: (group: string) => readonly QueriedLine[]): Operations {
  const queries = new Map<string, InsightsQuery>();

  function named(parameters: JsonObject): InsightsQuery {
    const query = queries.get(textOf(parameters, 'queryId') ?? '');
    if (query === undefined) {
      throw new AwsError('ResourceNotFoundException', 'The specified query does not exist.');
    }
    return query;
  }

  return {
    StartQuery(parameters) {
      const { matches, rows } = selectionOf(textOf(parameters, 'queryString') ?? '');
      const startTime = Number(parameters.startTime);
      const endTime = Number(parameters.endTime);
      if (endTime < startTime) {
        throw new AwsError('InvalidParameterException', 'The query needs a startTime and a later endTime.');
      }
      const groups = textsOf(parameters, 'logGroupNames') ?? [];
      if (groups.length === 0) throw new AwsError('InvalidParameterException', 'logGroupNames is needed.');
      const scanned = groups
        .flatMap(linesOf)
        .filter(({ timestamp }) => timestamp >= startTime * 1000 && timestamp <= endTime * 1000);
      const matched = scanned
        .filter(({ message }) => matches(message))
        .sort((one, other) => other.timestamp - one.timestamp);
      const queryId = crypto.randomUUID();
      queries.set(queryId, {
        status: 'Running',
        results: rows(matched),
        statistics: {
          recordsMatched: matched.length,
          recordsScanned: scanned.length,
          bytesScanned: scanned.reduce((sum, { message }) => sum + Buffer.byteLength(message), 0),
        },
      });
      const [oldest] = queries.keys();
      if (oldest !== undefined && queries.size > MAX_QUERIES) queries.delete(oldest);
      return { queryId };
    },

    GetQueryResults(parameters) {
      const query = named(parameters);
      const { status, results, statistics } = query;
      if (status === 'Running') query.status = 'Complete';
      return status === 'Complete'
        ? { status, results, statistics }
        : { status, results: [], statistics: {} };
    },

    StopQuery(parameters) {
      const query = named(parameters);
      if (query.status !== 'Running') {
        throw new AwsError('InvalidParameterException', 'The specified query is not running.');
      }
      query.status = 'Cancelled';
      return { success: true };
    },
  };
}

interface LineSelection {
  readonly matches: (message: string) => boolean;
  /** Rows of the result. @param matched lines, newest first */
  readonly rows: (matched: readonly QueriedLine[]) => JsonObject[][];
}

function selectionOf(query: string): LineSelection {
  const [, pattern = '', limit] = QUERY.exec(query) ?? [];
  if (limit !== undefined) {
    const expression = compile(pattern);
    return {
      matches: (message) => expression.test(message),
      rows: (matched) =>
        matched.slice(0, Number(limit)).map(({ message }) => [{ field: '@message', value: message }]),
    };
  }
  const wanted = NEWEST_BY_EVENT.exec(query)?.[1];
  if (wanted === undefined) throw malformed();
  const fieldsOf = (message: string) => parseJsonObject(message) ?? {};
  return {
    matches: (message) => fieldsOf(message).message === wanted,
    rows(matched) {
      const byEvent = Map.groupBy(matched, ({ message }) => textOf(fieldsOf(message), 'event') ?? '');
      return [...byEvent].map(([event, [{ timestamp = 0 } = {}]]) => [
        { field: '@timestamp', value: new Date(timestamp).toISOString().replace('T', ' ').replace('Z', '') },
        { field: 'event', value: event },
      ]);
    },
  };
}

function compile(pattern: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch {
    throw malformed();
  }
}

function malformed(): AwsError {
  return new AwsError(
    'MalformedQueryException',
    'The local AWS endpoint knows two forms of query: fields @message | filter @message like /…/ | sort @timestamp desc | limit …, and fields @timestamp, event | filter message = "…" | sort @timestamp desc | dedup event',
  );
}
