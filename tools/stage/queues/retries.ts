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
 * messages are in flight
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
    crashes.push(...events.flatMap(({ message = '' }) => parseCrash(message) ?? []));
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
  const reason = isCut
    ? `not identified: its log has more failures than the ${MAX_PAGES} pages that are read`
    : reasonOfOthers(crashes, visibility);
  return { retries, reason };
}

/** AWS does not log which messages an invocation received, so after a crash both reasons are possible. */
function reasonOfOthers(crashes: readonly LoggedCrash[], visibility: number): string {
  const now = Date.now();
  const last = crashes.filter(({ at }) => at > now - visibility * 1000).sort((a, b) => b.at - a.at)[0];
  if (last === undefined) return 'being processed';
  return `in flight since its consumer crashed ${duration(now - last.at)} ago (${last.error}), or being processed`;
}

interface LoggedCrash {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Lambda's name of the error, such as `Runtime.ExitError`. */
  readonly error: string;
}

/** Log line of the Lambda runtime about an error that ended an invocation. */
const runtimeSchema = z.object({ timestamp: z.string(), message: z.object({ errorType: z.string() }) });

/** Lambda's log line about an invocation. Source: Lambda telemetry API reference, `platform.report`. */
const reportSchema = z.object({
  time: z.string(),
  type: z.literal('platform.report'),
  record: z.object({ status: z.enum(['error', 'failure', 'timeout']), errorType: z.optional(z.string()) }),
});

/** @returns undefined if the line reports no crash */
function parseCrash(text: string): LoggedCrash | undefined {
  const line = jsonOf(text);
  const runtime = runtimeSchema.safeParse(line).data;
  if (runtime !== undefined) return { at: Date.parse(runtime.timestamp), error: runtime.message.errorType };
  const report = reportSchema.safeParse(line).data;
  if (report === undefined) return undefined;
  const { status, errorType = status === 'timeout' ? 'Sandbox.Timedout' : 'Runtime error' } = report.record;
  return { at: Date.parse(report.time), error: errorType };
}
