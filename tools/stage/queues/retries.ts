import { paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import * as z from 'zod/mini';
import { catalogue, type EventName } from '../../../lambda/events/catalogue.ts';
import { DEAD_LETTERED, FAILED } from '../../../lambda/log-messages.ts';
import { CRASHED, messageIs } from '../../../lib/alarms/log-patterns.ts';
import { jsonOf } from '../history/json.ts';
import { lineFact } from '../history/log-line.ts';
import type { Stage } from '../stage.ts';

/** Milliseconds of an hour. */
const HOUR = 60 * 60 * 1000;

/**
 * Maximum hours for which a message is tried. Ten attempts take about three hours, and up to three days if CloudFront
 * has too many invalidations in progress (`lambda/consumer/retry.ts`). One hour more: if the archive rejects the
 * record, the message is retried for about that time.
 */
export const hoursOfTries = (event: EventName) => (catalogue[event].effect === 'shop-cache' ? 73 : 4);

/**
 * Hours of the log that are searched, one after the other. SQS hides a message for 12 hours at most. Source: SQS
 * developer guide, "Amazon SQS visibility timeout".
 */
const SEARCHED_HOURS = [1, 12];

/** Maximum number of log pages read per event. Each holds up to 1 MB. */
const MAX_PAGES = 10;

/** Matches log lines about failed attempts (`lambda/consumer/consume.ts`) and crashes. */
const FAILURES = `{ ${messageIs(FAILED, DEAD_LETTERED)} || ${CRASHED} }`;

interface LoggedFailure {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Without payload data. */
  readonly error: string;
}

/**
 * The last failed attempt of an event's messages, or crash of its consumer. SQS gives only the number of messages in
 * flight, so this may be why they are.
 * @throws MissingOutputError or the AWS error if the log cannot be read
 */
export async function lastFailure(stage: Stage, event: EventName): Promise<LoggedFailure | undefined> {
  for (const hours of SEARCHED_HOURS) {
    const startTime = Date.now() - hours * HOUR;
    const query = { logGroupName: stage.ofEvent(event, 'LogGroup'), filterPattern: FAILURES, startTime };
    const failures: LoggedFailure[] = [];
    let pages = 0;
    for await (const { events = [] } of paginateFilterLogEvents({ client: stage.logs }, query)) {
      failures.push(...events.flatMap(({ message = '' }) => parseFailure(message) ?? []));
      pages += 1;
      if (pages === MAX_PAGES) break;
    }
    const [last] = failures.sort((a, b) => b.at - a.at);
    if (last !== undefined) return last;
  }
  return undefined;
}

function parseFailure(text: string): LoggedFailure | undefined {
  const line = lineFact(text);
  if (line !== undefined && line.message !== '') return { at: line.at, error: line.error ?? 'Error' };
  const { timestamp, time = timestamp, message, record } = crashSchema.safeParse(jsonOf(text)).data ?? {};
  const error = message?.errorType ?? record?.errorType ?? record?.status;
  return time === undefined || error === undefined ? undefined : { at: Date.parse(time), error };
}

/**
 * A line of the Lambda runtime about an error that ended an invocation, or Lambda's own. Source: Lambda telemetry API
 * reference, `platform.report`.
 */
const crashSchema = z.object({
  timestamp: z.optional(z.string()),
  time: z.optional(z.string()),
  message: z.optional(z.object({ errorType: z.string() })),
  record: z.optional(z.object({ status: z.string(), errorType: z.optional(z.string()) })),
});
