import { sha256Hex } from '../../../lambda/hash.ts';
import { DEAD_LETTER_RETENTION_SECONDS } from '../../../lambda/limits.ts';
import { counted } from '../../terminal/text.ts';
import { orRefusal } from '../operation.ts';
import { forEachMessage, MAX_SEARCHED } from '../queues/for-each-message.ts';
import { queueState, type WaitingQueue, waitingQueues } from '../queues/queue.ts';
import { bytesInMessage, knownEvent, type ReadMessage } from '../queues/received-message.ts';
import type { Stage } from '../stage.ts';
import { deriveHistory } from './derive-history.ts';
import { type DeadLetterFact, type Fact, isoTime } from './facts.ts';
import { isWaiting, queueOf } from './history.ts';
import type { SearchedSource } from './log-search.ts';

/** Milliseconds in which SQS may not count a new message yet. Source: SQS API reference, `GetQueueAttributes`. */
const COUNTS_LATE = { local: 2_000, aws: 60_000 };

/** A message that waits for a person: a dead letter, or a quarantined or parked message. */
export interface WaitingMessage {
  readonly message: ReadMessage;
  readonly fact: DeadLetterFact & { readonly eventId: string };
}

/** @param seenAt when the queue was read, in epoch milliseconds */
export function deadLetterFact(message: ReadMessage, seenAt: number): DeadLetterFact {
  const { eventId, requestId, failureReason: error } = message.attributes;
  const at = message.sentAt.getTime();
  return {
    ...{ kind: 'dead-letter', at, seenAt, queue: message.queue.name, messageId: message.id },
    ...{ event: knownEvent(message), eventId, requestId, error },
    until: isoTime(at + DEAD_LETTER_RETENTION_SECONDS * 1000),
  };
}

/**
 * Searches the queues that nothing consumes. Removes nothing and leaves the messages visible.
 * @param queues @default all
 * @returns `complete` is false if there may be more: too many messages, some in flight, an interruption, or a missing
 * permission
 */
export async function waitingMessages(
  stage: Stage,
  fits: (fact: WaitingMessage['fact']) => boolean,
  signal: AbortSignal,
  queues = waitingQueues(stage),
) {
  const messages: WaitingMessage[] = [];
  const read = await orRefusal(stage, () => Promise.all(queues.map(readQueue)));
  if ('refused' in read) {
    const source = { text: `The queues could not be read: ${read.refused}.`, problem: read.refused };
    return { messages, complete: false, source };
  }
  const complete = !read.includes(false) && !signal.aborted;
  const text = `Dead letters, quarantined and parked messages: ${counted(messages.length, 'message')}.`;
  const source: SearchedSource = { text: complete ? text : `${text} Some could not be checked.` };
  return { messages, complete, source };

  /** @returns false if there may be more */
  async function readQueue(queue: WaitingQueue): Promise<boolean> {
    const seenAt = Date.now();
    const { visible, inFlight } = await queueState(stage.sqs, queue.url);
    if (visible === 0) return inFlight === 0;
    const options = { signal, limit: MAX_SEARCHED };
    const { limited } = await forEachMessage(stage, queue, options, async (message) => {
      const fact = deadLetterFact(message, seenAt);
      // A message that was sent by hand has no attributes.
      const bytes = bytesInMessage(message) ?? Buffer.from(message.body);
      const found = { message, fact: { ...fact, eventId: fact.eventId ?? sha256Hex(bytes) } };
      if (fits(found.fact)) messages.push(found);
      return 'stays';
    });
    return !limited && inFlight === 0;
  }
}

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
  const open = now.filter(({ state }) => isWaiting(state) || queueOf({ state }) !== undefined);
  const queues = waitingQueues(stage).filter(({ name }) => open.some(({ queue }) => queue === name));
  if (eventId === undefined || queues.length === 0) return undefined;
  const isOwn = (fact: WaitingMessage['fact']) => fact.eventId === eventId;
  const { messages, complete, source } = await waitingMessages(stage, isOwn, signal, queues);
  const facts = messages.map(({ fact }) => fact);
  const at = Date.now();
  const latest = at - (stage.local ? COUNTS_LATE.local : COUNTS_LATE.aws);
  const left = open.flatMap(({ state, since, requestId, queue = '' }): Fact[] => {
    const isExpected = !isWaiting(state) && Date.parse(since) < latest;
    const isThere = !complete || facts.some((fact) => fact.requestId === requestId);
    return isExpected && !isThere ? [{ kind: 'left', at, requestId, eventId, queue }] : [];
  });
  return { facts: [...facts, ...left], source };
}
