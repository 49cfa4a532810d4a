import { isEventName } from '../../../lambda/events/catalogue.ts';
import { orRefusal } from '../operation.ts';
import { queueState, waitingQueue } from '../queues/queue.ts';
import { type WaitingMessage, waitingMessages } from '../queues/waiting-messages.ts';
import type { Stage } from '../stage.ts';
import { deriveHistory } from './derive-history.ts';
import type { DeadLetterFact, Fact } from './facts.ts';

interface DeadLettersFound {
  readonly facts: readonly DeadLetterFact[];
  /**
   * Whether all messages were searched, and why the queue could not be read. Absent if the queues were not searched,
   * because no message can be there.
   */
  readonly queues?: { readonly complete: boolean; readonly refused?: string };
}

/**
 * Finds dead letters of an event that SQS moved itself: neither log lines nor archive records contain them. Searches
 * only if a message may be on the dead-letter queue.
 * @param known all facts that are known of the event
 * @returns also whether all messages were searched, and why the queue could not be read
 */
export async function deadLettersOf(
  stage: Stage,
  known: readonly Fact[],
  signal: AbortSignal,
): Promise<DeadLettersFound> {
  const { event, eventId, now } = deriveHistory(known);
  const mayBeThere = now.some(({ state }) => ['queued', 'retrying', 'dead-letter'].includes(state));
  if (event === undefined || eventId === undefined || !isEventName(event) || !mayBeThere)
    return { facts: [] };
  const found = await orRefusal(stage, async () => {
    const queues = [waitingQueue(stage, event)];
    const isOwn = (message: { readonly eventId?: string | undefined }) => message.eventId === eventId;
    const { messages, complete } = await waitingMessages(stage, isOwn, signal, queues);
    const isMoved = messages.some(({ failureReason }) => failureReason === undefined);
    const { maxReceives } = isMoved ? await queueState(stage.sqs, stage.event(event).queueUrl) : {};
    return { facts: messages.map((message) => deadLetterFact(message, maxReceives)), queues: { complete } };
  });
  return 'refused' in found ? { facts: [], queues: { complete: false, ...found } } : found;
}

/** @param receives receives of a message that the queue allows before SQS moves it */
export function deadLetterFact(waiting: WaitingMessage, receives?: number): DeadLetterFact {
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
    // Infinite if somebody has removed the redrive policy since then.
    receives: failureReason === undefined && Number.isFinite(receives) ? receives : undefined,
    until: expiresAt.toISOString(),
  };
}
