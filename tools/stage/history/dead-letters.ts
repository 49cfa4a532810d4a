import { sha256Hex } from '../../../lambda/hash.ts';
import { counted } from '../../terminal/text.ts';
import { orRefusal } from '../operation.ts';
import { forEachMessage, MAX_SEARCHED } from '../queues/for-each-message.ts';
import { queueState, type WaitingQueue, waitingQueues } from '../queues/queue.ts';
import {
  attributesOf,
  bytesInMessage,
  describeMessage,
  type ReceivedMessage,
} from '../queues/received-message.ts';
import type { Stage } from '../stage.ts';
import { deriveHistory } from './derive-history.ts';
import type { DeadLetterFact, Fact } from './facts.ts';
import { queueOf } from './history.ts';
import type { SearchedSource } from './log-search.ts';

/** Milliseconds in which SQS may not count a new message yet. Source: SQS API reference, `GetQueueAttributes`. */
const COUNTS_LATE = { local: 2_000, aws: 60_000 };

export async function findMessages(
  stage: Stage,
  fits: (message: WaitingMessage) => boolean,
  signal: AbortSignal,
  queues = waitingQueues(stage),
): Promise<{ messages: readonly WaitingMessage[]; complete: boolean; source: SearchedSource }> {
  const found = await orRefusal(stage, () => waitingMessages(stage, fits, signal, queues));
  if ('refused' in found) {
    const source = { text: `The queues could not be read: ${found.refused}.`, problem: found.refused };
    return { messages: [], complete: false, source };
  }
  const { messages, complete } = found;
  const text = `Dead letters, quarantined and parked messages: ${counted(messages.length, 'message')}.`;
  return { ...found, source: { text: complete ? text : `${text} Some could not be checked.` } };
}

const MAY_BE_THERE: ReadonlySet<string> = new Set(['queued', 'retrying', 'dead-letter', 'invalid', 'parked']);

/**
 * Looks for the messages of an event on the queues that may have them and that nothing consumes: a log line may be
 * missing, and a message may have left its queue.
 * @param known all facts that are known of the event
 * @returns undefined if no message can be there
 */
export async function deadLettersOf(
  stage: Stage,
  known: readonly Fact[],
  signal: AbortSignal,
): Promise<{ readonly facts: readonly Fact[]; readonly source: SearchedSource } | undefined> {
  const { eventId, now } = deriveHistory(known);
  const open = now.filter(({ state }) => MAY_BE_THERE.has(state));
  const queues = waitingQueues(stage).filter(({ name }) => open.some(({ queue }) => queue === name));
  if (eventId === undefined || queues.length === 0) return undefined;
  const isOwn = (message: WaitingMessage) => message.eventId === eventId;
  const { messages, complete, source } = await findMessages(stage, isOwn, signal, queues);
  const there = messages.map(deadLetterFact);
  const at = Date.now();
  const latest = at - (stage.local ? COUNTS_LATE.local : COUNTS_LATE.aws);
  const left = open.flatMap(({ state, since, requestId, queue = '' }): Fact[] => {
    const isExpected = queueOf({ state, event: queue }) !== undefined && Date.parse(since) < latest;
    const isThere = !complete || there.some((fact) => fact.requestId === requestId);
    return isExpected && !isThere ? [{ kind: 'left', at, requestId, eventId, queue }] : [];
  });
  return { facts: [...there, ...left], source };
}

export function deadLetterFact(waiting: WaitingMessage): DeadLetterFact {
  const { queue, message, messageId, requestId, eventId, event, failureReason, expiresAt } = waiting;
  return {
    kind: 'dead-letter',
    at: message.sentAt.getTime(),
    event,
    eventId,
    messageId,
    requestId,
    queue: queue.kind === 'dead-letter' ? undefined : queue.kind,
    error: failureReason,
    until: expiresAt.toISOString(),
  };
}

/** A message that waits for a person: a dead letter, or a quarantined or parked message. */
export type WaitingMessage = ReturnType<typeof waitingMessage>;

/**
 * Searches the queues that nothing consumes. Removes nothing and leaves the messages visible.
 * @param queues @default all
 * @returns `complete` is false if there may be more: too many messages, some in flight, or an interruption
 */
export async function waitingMessages(
  stage: Stage,
  fits: (message: WaitingMessage) => boolean,
  signal: AbortSignal,
  queues = waitingQueues(stage),
): Promise<{ readonly messages: readonly WaitingMessage[]; readonly complete: boolean }> {
  const messages: WaitingMessage[] = [];
  const searches = queues.map(async (queue) => {
    const { visible, inFlight, retention } = await queueState(stage.sqs, queue.url);
    const isAllVisible = inFlight === 0;
    if (visible === 0) return isAllVisible;
    const options = { signal, limit: MAX_SEARCHED };
    const { limited } = await forEachMessage(stage, queue.url, options, async (message) => {
      const found = waitingMessage(queue, message, retention);
      if (fits(found)) messages.push(found);
      return 'stays';
    });
    return !limited && isAllVisible;
  });
  const complete = await Promise.all(searches);
  return { messages, complete: !complete.includes(false) && !signal.aborted };
}

function waitingMessage(queue: WaitingQueue, message: ReceivedMessage, retention: number) {
  const bytes = bytesInMessage(queue, message);
  const described = describeMessage(queue, message);
  return {
    ...described,
    queue,
    message,
    /** When SQS deletes the message. */
    expiresAt: new Date(message.sentAt.getTime() + retention * 1000),
    // A message that was sent by hand has no attributes.
    eventId: described.eventId ?? sha256Hex(bytes ?? Buffer.from(message.body)),
    /** Why the consumer gave it up. Undefined if SQS moved it. */
    failureReason: attributesOf(message).failureReason,
    /** The partner's text. Undefined if it is too large for a queue. */
    body: bytes?.toString(),
  };
}
