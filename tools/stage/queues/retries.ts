import { paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import * as z from 'zod/mini';
import { catalogue, type EventName } from '../../../lambda/events/catalogue.ts';
import { DEAD_LETTERED, FAILED } from '../../../lambda/log-messages.ts';
import { CRASHED, messageIs } from '../../../lib/alarms/log-patterns.ts';
import { duration } from '../../terminal/text.ts';
import { jsonOf } from '../history/json.ts';
import { type ParsedLogLine, parseLogLine } from '../history/log-line.ts';
import type { Stage } from '../stage.ts';

/** Milliseconds of an hour. */
const HOUR = 60 * 60 * 1000;

/**
 * Maximum hours for which a message is tried. Ten attempts take about three hours, and up to three days if CloudFront
 * has too many invalidations in progress (`lambda/consumer/retry.ts`). One hour more: if the archive rejects the
 * record, the message is retried for about that time.
 */
export const hoursOfTries = (event: EventName) => (catalogue[event].effect === 'shop-cache' ? 73 : 4);

/** Maximum hours for which SQS hides a message. Source: SQS developer guide, "Amazon SQS visibility timeout". */
const LONGEST_WAIT_HOURS = 12;

/** Maximum number of log pages read per event. Each holds up to 1 MB. */
const MAX_PAGES = 10;

/** Matches log lines about failed attempts (`lambda/consumer/consume.ts`) and crashes. */
const FAILURES = `{ ${messageIs(FAILED, DEAD_LETTERED)} || ${CRASHED} }`;

/**
 * The messages of an event that failed and wait for their next attempt. SQS hides them and gives only their number. The
 * consumer's log identifies them.
 * @returns `attempt`: attempts that failed so far; `error`: the last error, without payload data; `reason`: why other
 * messages are in flight; `crash`: the last one, if its messages may still be hidden
 * @param visibility of the queue, in seconds: a message whose consumer crashed is in flight for that time
 * @throws MissingOutputError or the AWS error if the log cannot be read
 */
export async function retriesOf(stage: Stage, event: EventName, visibility: number) {
  const logGroupName = stage.event(event).logGroup;
  const startTime = Date.now() - Math.min(hoursOfTries(event), LONGEST_WAIT_HOURS) * HOUR;
  const query = { logGroupName, filterPattern: FAILURES, startTime };
  const failures: ParsedLogLine[] = [];
  const crashes: LoggedCrash[] = [];
  let pages = 0;
  let isCut = false;
  for await (const { events = [], nextToken } of paginateFilterLogEvents({ client: stage.logs }, query)) {
    failures.push(...events.flatMap(({ message = '' }) => parseLogLine(message) ?? []));
    crashes.push(...events.flatMap(({ message = '' }) => parseCrash(jsonOf(message)) ?? []));
    pages += 1;
    isCut = pages === MAX_PAGES && nextToken !== undefined;
    if (pages === MAX_PAGES) break;
  }
  failures.sort((a, b) => a.at - b.at);
  const byMessage = Map.groupBy(failures, ({ messageId = '' }) => messageId);
  const retries = [...byMessage].flatMap(([messageId, lines]) => {
    const [first, last] = [lines[0], lines.at(-1)];
    if (first === undefined || last?.retryInSeconds === undefined) return [];
    const nextAttemptAt = new Date(last.at + last.retryInSeconds * 1000);
    if (nextAttemptAt.getTime() < Date.now()) return [];
    const { eventId, attempt = 1, error = 'Error' } = last;
    return [{ event, eventId, messageId, attempt, error, since: new Date(first.at), nextAttemptAt }];
  });
  const hiddenSince = Date.now() - visibility * 1000;
  const [crash] = crashes.filter(({ at }) => at > hiddenSince).sort((a, b) => b.at - a.at);
  const reason = isCut
    ? `not identified: its log has more failures than the ${MAX_PAGES} pages that are read`
    : reasonOfOthers(crash);
  return { retries, reason, crash };
}

/** AWS does not log which messages an invocation received, so after a crash both reasons are possible. */
function reasonOfOthers(crash: LoggedCrash | undefined): string {
  if (crash === undefined) return 'being processed';
  const age = duration(Date.now() - crash.at);
  return `in flight since its consumer crashed ${age} ago (${crash.error}), or being processed`;
}

interface LoggedCrash {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Lambda's name of the error, such as `Runtime.ExitError`. */
  readonly error: string;
  /** Lambda's id of the invocation, if the line has one. The runtime and Lambda may both report the same crash. */
  readonly requestId: string | undefined;
}

/** Log line of the Lambda runtime about an error that ended an invocation. */
const runtimeSchema = z.object({
  timestamp: z.string(),
  requestId: z.optional(z.string()),
  message: z.object({ errorType: z.string() }),
});

/** Lambda's log line about an invocation. Source: Lambda telemetry API reference, `platform.report`. */
const reportSchema = z.object({
  time: z.string(),
  type: z.literal('platform.report'),
  record: z.object({
    requestId: z.optional(z.string()),
    status: z.enum(['error', 'failure', 'timeout']),
    errorType: z.optional(z.string()),
  }),
});

/**
 * @param line of a log, parsed
 * @returns undefined if it reports no crash
 */
export function parseCrash(line: unknown): LoggedCrash | undefined {
  const runtime = runtimeSchema.safeParse(line).data;
  if (runtime !== undefined) {
    const { timestamp, requestId, message } = runtime;
    return { at: Date.parse(timestamp), error: message.errorType, requestId };
  }
  const report = reportSchema.safeParse(line).data;
  if (report === undefined) return undefined;
  const {
    status,
    requestId,
    errorType = status === 'timeout' ? 'Sandbox.Timedout' : 'Runtime error',
  } = report.record;
  return { at: Date.parse(report.time), error: errorType, requestId };
}
