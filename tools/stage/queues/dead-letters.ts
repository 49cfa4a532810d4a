import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import type { Stage } from '../stage.ts';
import { failureNote, noted, walk } from './messages.ts';
import { queueState } from './queue.ts';

/** Messages that a search looks at: 100 calls of 10 messages each, some seconds in AWS. */
const MOST_SEARCHED = 1_000;

/** A message on the dead-letter queue of its event. Times are in epoch milliseconds. */
export interface DeadLetter {
  readonly messageId: string;
  /** API Gateway's id of the request that brought it; undefined if it was sent by hand. */
  readonly requestId: string | undefined;
  /** When it was sent to this queue; if SQS moved it here, when it was sent to the event's queue. */
  readonly sentAt: number;
  /** Why its consumer gave it up; undefined if SQS moved it, because then no consumer could note a reason. */
  readonly reason: string | undefined;
  readonly movedBySqs: boolean;
  /** Receives that the event's queue allows before SQS moves a message; undefined if the queue moves none. */
  readonly maxReceiveCount: number | undefined;
  /** When SQS deletes it. */
  readonly keptUntil: number;
}

/**
 * The dead letters of a delivery. Looking at them removes nothing and leaves them visible.
 * @param delivery without a request id, or if a message has none, the event id decides: equal bytes share it
 * @returns `complete` is false if there may be more: too many messages, an interruption, or some in flight
 */
export async function deadLettersOf(
  stage: Stage,
  event: EventName,
  { requestId, eventId }: { readonly requestId?: string | undefined; readonly eventId: string },
  signal: AbortSignal,
): Promise<{ readonly deadLetters: readonly DeadLetter[]; readonly complete: boolean }> {
  const { queueUrl, deadLetterQueueUrl: url } = stage.event(event);
  const { visible, inFlight, delayed, retention } = await queueState(stage.sqs, url);
  const complete = inFlight + delayed === 0;
  if (visible === 0) return { deadLetters: [], complete };
  const maxReceiveCount = await receivesAllowed(stage, queueUrl);
  const deadLetters: DeadLetter[] = [];
  const { limited } = await walk(stage, url, { signal, limit: MOST_SEARCHED }, async (message) => {
    const ownRequestId = noted(message, 'requestId');
    const isIts =
      requestId === undefined || ownRequestId === undefined
        ? noted(message, 'eventId') === eventId
        : ownRequestId === requestId;
    if (!isIts) return 'kept';
    const reason = failureNote(message, 'failureReason');
    deadLetters.push({
      messageId: message.id,
      requestId: ownRequestId,
      sentAt: message.sentAt.getTime(),
      reason,
      movedBySqs: reason === undefined,
      maxReceiveCount,
      keptUntil: message.sentAt.getTime() + retention * 1000,
    });
    return 'kept';
  });
  return { deadLetters, complete: complete && !limited && !signal.aborted };
}

async function receivesAllowed({ sqs }: Stage, QueueUrl: string): Promise<number | undefined> {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['RedrivePolicy'] }),
  );
  if (!Attributes?.RedrivePolicy) return undefined;
  const { maxReceiveCount } = JSON.parse(Attributes.RedrivePolicy) as { maxReceiveCount: number | string };
  // It is a string if it was set as one.
  return Number(maxReceiveCount);
}
