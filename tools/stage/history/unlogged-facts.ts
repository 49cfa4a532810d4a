import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { type EventName, isEventName } from '../../../lambda/events/catalogue.ts';
import { CRASHED } from '../../../lib/alarms/log-patterns.ts';
import { orRefusal } from '../operation.ts';
import { queueState, waitingQueue } from '../queues/queue.ts';
import { type WaitingMessage, waitingMessages } from '../queues/waiting-messages.ts';
import type { Stage } from '../stage.ts';
import type { CrashFact, DeadLetterFact, Fact } from './facts.ts';
import { fold } from './fold.ts';
import type { Step } from './history.ts';
import { parseCrash } from './log-line.ts';

/** Pages of crash lines to read. A consumer that crashes all day writes thousands of lines. */
const MAX_CRASH_PAGES = 20;

/** Milliseconds in which a first attempt usually happens. Before that, no crashes are searched for. */
const DEFAULT_WAIT = 1_000;

/**
 * Finds facts that neither lines nor records contain: the event's dead letters that SQS moved, and crashes of its
 * consumer. Searches only if an attempt is missing.
 * @param facts all that are known of the event
 * @returns also whether all messages were searched, and what could not be read
 */
export async function unloggedFacts(stage: Stage, facts: readonly Fact[], signal: AbortSignal) {
  const { event, eventId, steps, now } = fold(facts);
  const found: Fact[] = [];
  let queues: { readonly complete: boolean; readonly refused?: string } | undefined;
  let crashes: { readonly refused: string } | undefined;
  if (event === undefined || eventId === undefined || !isEventName(event)) return { facts: found };
  if (now.some(({ state }) => ['queued', 'retrying', 'dead-letter'].includes(state))) {
    const looked = await orRefusal(stage, () => deadLetters(stage, event, eventId, signal));
    if ('refused' in looked) queues = { complete: false, ...looked };
    else {
      queues = { complete: looked.complete };
      found.push(...looked.facts);
    }
  }
  for (const silence of silencesOf(event, steps)) {
    const looked = await orRefusal(stage, () => crashesIn(stage, event, silence, signal));
    if ('refused' in looked) crashes = looked;
    else found.push(...looked);
  }
  return { facts: found, queues, crashes };
}

async function deadLetters(stage: Stage, event: EventName, eventId: string, signal: AbortSignal) {
  const { messages, complete } = await waitingMessages(
    stage,
    (message) => message.eventId === eventId,
    signal,
    [waitingQueue(stage, event)],
  );
  const isMoved = messages.some(({ failureReason }) => failureReason === undefined);
  const receives = isMoved
    ? (await queueState(stage.sqs, stage.event(event).queueUrl)).maxReceives
    : undefined;
  return { facts: messages.map((message) => deadLetterFact(message, receives)), complete };
}

/** @param receives that its queue allows before SQS moves a message */
export function deadLetterFact(waiting: WaitingMessage, receives?: number): DeadLetterFact {
  const { queue, message, messageId, requestId, eventId, event, failureReason, keptUntil } = waiting;
  return {
    kind: 'dead-letter',
    at: message.sentAt.getTime(),
    event,
    eventId,
    messageId,
    requestId,
    queue: queue.kind === 'dead-letter' ? undefined : queue.kind,
    error: failureReason,
    receives: failureReason === undefined ? receives : undefined,
    until: keptUntil.toISOString(),
  };
}

/** Times during which a message was on its queue and no attempt left a line. Epoch milliseconds. */
function silencesOf(event: string, steps: readonly Step[]) {
  return steps.flatMap(({ kind, queue, requestId, at }) => {
    if (kind !== 'queued' || queue !== event) return [];
    const attempts = steps.filter(
      (step) =>
        step.attempt !== undefined &&
        step.requestId === requestId &&
        step.kind !== 'archived' &&
        step.origin?.kind !== 'replay',
    );
    const seen = attempts.find(
      (step) => step.kind !== 'crashed' && !(step.kind === 'dead-lettered' && step.error === undefined),
    );
    const since = Date.parse(at);
    const until = seen === undefined ? Date.now() : Date.parse(seen.at);
    if (until - since < DEFAULT_WAIT) return [];
    // Either an attempt is certainly missing, or the first one is late.
    return [{ since, until, isCertain: seen === undefined || attempts[0]?.kind === 'crashed' }];
  });
}

/** Crashes of a consumer. AWS does not log which messages an invocation received. */
async function crashesIn(
  stage: Stage,
  event: EventName,
  { since, until, isCertain }: ReturnType<typeof silencesOf>[number],
  signal: AbortSignal,
): Promise<CrashFact[]> {
  // If the first attempt is late, the message may have been redriven, and SQS had given up the message before it.
  const given = isCertain ? undefined : await queueState(stage.sqs, stage.event(event).queueUrl);
  if (given !== undefined && until - since < (given.maxReceives - 1) * given.visibility * 1000) return [];
  const crashes = new Map<string, CrashFact>();
  let nextToken: string | undefined;
  for (let page = 0; page < MAX_CRASH_PAGES && !signal.aborted; page += 1) {
    const found = await stage.logs.send(
      new FilterLogEventsCommand({
        logGroupName: stage.event(event).logGroup,
        filterPattern: `{ ${CRASHED} }`,
        startTime: since,
        endTime: until,
        nextToken,
      }),
    );
    for (const { message = '' } of found.events ?? []) {
      const crash = parseCrash(message, event);
      if (crash !== undefined) crashes.set(crash.invocationId, crash);
    }
    nextToken = found.nextToken;
    if (nextToken === undefined) break;
  }
  return given !== undefined && crashes.size < given.maxReceives ? [] : [...crashes.values()];
}
