import { sha256Hex } from '../../../lambda/hash.ts';
import { type HeldMessage, noted, walk } from '../queues/messages.ts';
import { readPayload } from '../queues/payload.ts';
import { queueState, type WaitingQueue, waitingQueues } from '../queues/queue.ts';
import type { Stage } from '../stage.ts';

/** Messages that a search looks at on each queue: 100 calls of 10 messages, some seconds in AWS. */
const MOST_SEARCHED = 1_000;

/** A message that waits for a person: a dead letter, in quarantine, or of an unknown kind. */
export interface WaitingMessage {
  readonly queue: WaitingQueue;
  readonly message: HeldMessage;
  readonly messageId: string;
  readonly requestId: string | undefined;
  readonly eventId: string;
  readonly event: string | undefined;
  /** The partner's text; undefined if it is too large for a queue. */
  readonly body: string | undefined;
}

/**
 * The messages that fit, on all queues that nothing consumes. Looking at them removes nothing and leaves them visible.
 * @returns `complete` is false if there may be more: too many messages, some in flight, or an interruption
 */
export async function waitingMessages(
  stage: Stage,
  fits: (message: WaitingMessage) => boolean,
  signal: AbortSignal,
): Promise<{ readonly messages: readonly WaitingMessage[]; readonly complete: boolean }> {
  const messages: WaitingMessage[] = [];
  const looks = waitingQueues(stage).map(async (queue) => {
    const { visible, inFlight } = await queueState(stage.sqs, queue.url);
    if (visible === 0) return inFlight === 0;
    const { limited } = await walk(stage, queue.url, { signal, limit: MOST_SEARCHED }, async (message) => {
      const found = await waitingMessage(stage, queue, message);
      if (fits(found)) messages.push(found);
      return 'kept';
    });
    return !limited && inFlight === 0;
  });
  const complete = await Promise.all(looks);
  return { messages, complete: !complete.includes(false) && !signal.aborted };
}

async function waitingMessage(
  stage: Stage,
  queue: WaitingQueue,
  message: HeldMessage,
): Promise<WaitingMessage> {
  const isLarge = noted(message, 'payloadKey') !== undefined;
  const bytes = isLarge ? undefined : await readPayload(stage, queue, message).catch(() => undefined);
  return {
    queue,
    message,
    messageId: message.id,
    requestId: noted(message, 'requestId'),
    // A message that was sent by hand has no attributes.
    eventId: noted(message, 'eventId') ?? sha256Hex(bytes ?? Buffer.from(message.body)),
    event: queue.kind === 'dead-letter' ? queue.name : noted(message, 'event'),
    body: bytes?.toString(),
  };
}
