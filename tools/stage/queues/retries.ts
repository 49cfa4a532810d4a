import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import * as z from 'zod/mini';
import { type EventName, eventNames } from '../../../lambda/contract/catalogue.ts';
import { pascalCase } from '../../../lambda/contract/event-names.ts';
import { errorOf, loggedErrorSchema } from '../history/log-line.ts';
import type { Stage } from '../stage.ts';
import { queueState } from './queue.ts';

/** How long a message is tried at most, in milliseconds: ten attempts last some three hours. */
export const LONGEST_TRIES = 4 * 60 * 60 * 1000;

/** Pages of a log that are read of one event, at most: each holds up to 1 MB, and may hold less. */
const MAXIMUM_PAGES = 10;

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

/** What is being retried, and what else is hidden. */
export interface Retries {
  readonly retries: readonly Retry[];
  /** By event: how many more messages are hidden, and why its log does not say which. */
  readonly unknown: readonly {
    readonly event: EventName;
    readonly hidden: number;
    readonly reason: string;
  }[];
}

/** The lines that say how an attempt ended, but for the one that ended well (`lambda/consumers/consume.ts`). */
const FAILURES = '{ $.message = "Failed" || $.message = "DeadLettered" }';

const failureSchema = z.object({
  message: z.enum(['Failed', 'DeadLettered']),
  eventId: z.string(),
  messageId: z.string(),
  attempt: z.number(),
  ...loggedErrorSchema.shape,
  retryInSeconds: z.optional(z.number()),
});

type Failure = z.infer<typeof failureSchema> & { readonly at: number };

/**
 * The messages that back off, of every event. SQS hides them, and tells no more than how many: which they are, and
 * since when, the consumers' logs say.
 */
export async function retriesOf(stack: Stage): Promise<Retries> {
  const found = await Promise.all(eventNames.map((event) => retriesOfEvent(stack, event)));
  return {
    retries: found
      .flatMap(({ retries = [] }) => retries)
      .sort((a, b) => a.nextAttemptAt.getTime() - b.nextAttemptAt.getTime()),
    unknown: found.flatMap(({ unknown }) => (unknown === undefined ? [] : [unknown])),
  };
}

async function retriesOfEvent(stack: Stage, event: EventName) {
  const url = stack.outputs[`${pascalCase(event)}QueueUrl`];
  const hidden = url === undefined ? 0 : (await queueState(stack.sqs, url)).inFlight;
  if (hidden === 0) return {};
  try {
    const { failures, complete } = await failuresOf(stack, event);
    const retries = backingOff(event, failures);
    const others = hidden - retries.length;
    if (others <= 0) return { retries };
    const reason = complete
      ? 'in work, or about to be tried again'
      : `its log has more failures than the ${MAXIMUM_PAGES} pages that are read`;
    return { retries, unknown: { event, hidden: others, reason } };
  } catch (error) {
    return { unknown: { event, hidden, reason: (error as Error).message } };
  }
}

/** @throws Error where the log cannot be read */
async function failuresOf({ logs, outputs }: Stage, event: EventName) {
  const output = `${pascalCase(event)}LogGroup`;
  const logGroupName = outputs[output];
  if (logGroupName === undefined) throw new Error(`the stack has no output ${output}: deploy it again`);
  const failures: Failure[] = [];
  let nextToken: string | undefined;
  for (let page = 0; page < MAXIMUM_PAGES; page += 1) {
    const answer = await logs.send(
      new FilterLogEventsCommand({
        logGroupName,
        filterPattern: FAILURES,
        startTime: Date.now() - LONGEST_TRIES,
        nextToken,
      }),
    );
    for (const { message = '', timestamp: at = 0 } of answer.events ?? []) {
      const parsed = failureSchema.safeParse(JSON.parse(message));
      if (parsed.success) failures.push({ ...parsed.data, at });
    }
    nextToken = answer.nextToken;
    if (nextToken === undefined) break;
  }
  return { failures: failures.sort((a, b) => a.at - b.at), complete: nextToken === undefined };
}

/** Of each message its last failure, where its next attempt is still to come. */
function backingOff(event: EventName, failures: readonly Failure[]): Retry[] {
  const byMessage = Map.groupBy(failures, ({ messageId }) => messageId);
  return [...byMessage].flatMap(([messageId, ofMessage]) => {
    const [first, last] = [ofMessage[0], ofMessage.at(-1)];
    if (first === undefined || last?.retryInSeconds === undefined) return [];
    const nextAttemptAt = new Date(last.at + last.retryInSeconds * 1000);
    if (nextAttemptAt.getTime() < Date.now()) return [];
    const { eventId, attempt } = last;
    return [
      {
        event,
        eventId,
        messageId,
        attempt,
        error: errorOf(last),
        since: new Date(first.at),
        nextAttemptAt,
      },
    ];
  });
}
