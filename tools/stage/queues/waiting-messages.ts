import { sha256Hex } from '../../../lambda/hash.ts';
import type { Stage } from '../stage.ts';
import { forEachMessage, MAX_SEARCHED } from './for-each-message.ts';
import { queueState, type WaitingQueue, waitingQueues } from './queue.ts';
import { attributesOf, bytesInMessage, describeMessage, type ReceivedMessage } from './received-message.ts';

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
