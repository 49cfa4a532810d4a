import { paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { type LogLine, parseLogLine } from '../history/log-line.ts';
import type { Stage } from '../stage.ts';

/** How long a message is tried at most, in milliseconds: ten attempts last some three hours. */
export const LONGEST_TRIES = 4 * 60 * 60 * 1000;

/** Pages of a log that are read of one event, at most: each holds up to 1 MB, and may hold less. */
export const MAXIMUM_PAGES = 10;

/** A message that a consumer failed with, and that waits for its next attempt. */
export interface Retry {
  readonly event: EventName;
  readonly eventId: string;
  readonly messageId: string;
  /** Attempts that failed so far. */
  readonly attempt: number;
  /** What the last one failed with: name and message, nothing of the payload. */
  readonly error: string;
  readonly since: Date;
  readonly nextAttemptAt: Date;
}

/** The lines that say how an attempt ended, except the one that ended well (`lambda/consumers/consume.ts`). */
const FAILURES = '{ $.message = "Failed" || $.message = "DeadLettered" }';

/**
 * The messages of an event that back off. SQS hides them, and only says how many: its consumer's log says which.
 * @returns `complete` is false if the log has more failures than {@link MAXIMUM_PAGES} pages
 * @throws MissingOutputError or what AWS answers if the log cannot be read
 */
export async function retriesOf(
  stage: Stage,
  event: EventName,
): Promise<{ readonly retries: readonly Retry[]; readonly complete: boolean }> {
  const logGroupName = stage.event(event).logGroup;
  const query = { logGroupName, filterPattern: FAILURES, startTime: Date.now() - LONGEST_TRIES };
  const failures: LogLine[] = [];
  let pages = 0;
  let complete = true;
  for await (const { events = [], nextToken } of paginateFilterLogEvents({ client: stage.logs }, query)) {
    failures.push(...events.flatMap(({ message = '' }) => parseLogLine(message) ?? []));
    pages += 1;
    complete = nextToken === undefined;
    if (pages === MAXIMUM_PAGES) break;
  }
  const byMessage = Map.groupBy(
    failures.sort((a, b) => a.at - b.at),
    ({ messageId = '' }) => messageId,
  );
  const retries = [...byMessage].flatMap(([messageId, lines]) => retryOf(event, messageId, lines));
  return { retries, complete };
}

/** A message backs off if its last failure says when it is tried again, and that is still to come. */
function retryOf(event: EventName, messageId: string, failures: readonly LogLine[]): Retry[] {
  const [first, last] = [failures[0], failures.at(-1)];
  if (first === undefined || last?.retryInSeconds === undefined) return [];
  const nextAttemptAt = new Date(last.at + last.retryInSeconds * 1000);
  if (nextAttemptAt.getTime() < Date.now()) return [];
  const { eventId, attempt = 1 } = last;
  const since = new Date(first.at);
  return [{ event, eventId, messageId, attempt, error: last.error ?? 'Error', since, nextAttemptAt }];
}
