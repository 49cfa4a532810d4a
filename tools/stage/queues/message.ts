import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { AnyQueue } from './queue.ts';

/** A message that a look has received and will give back, unless it was moved. */
export interface HeldMessage {
  readonly id: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, MessageAttributeValue>>;
  /** When it was sent to this queue; of one that SQS itself moved here, to the queue before. */
  readonly sentAt: Date;
  /** Receives from this queue: every look is one. */
  readonly receives: number;
  readonly groupId: string | undefined;
  /** SQS moved it here after too many receives; no consumer did, and so none noted a reason. */
  readonly movedBySqs: boolean;
}

export function heldMessage(message: Message): HeldMessage {
  const { MessageId = '', ReceiptHandle = '', Body = '', Attributes = {}, MessageAttributes = {} } = message;
  return {
    id: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: MessageAttributes,
    sentAt: new Date(Number(Attributes.SentTimestamp)),
    receives: Number(Attributes.ApproximateReceiveCount),
    groupId: Attributes.MessageGroupId,
    movedBySqs: Attributes.DeadLetterQueueSourceArn !== undefined,
  };
}

/** What the receiver or a consumer noted with the message (docs/decisions.md). */
export function noted({ attributes }: Pick<HeldMessage, 'attributes'>, name: string): string | undefined {
  return attributes[name]?.StringValue;
}

/** Why the message is where it is. */
export function reasonOf(
  message: Pick<HeldMessage, 'attributes' | 'movedBySqs'>,
  { kind }: Pick<AnyQueue, 'kind'>,
): string {
  switch (kind) {
    case 'quarantine':
      return noted(message, 'reason') ?? 'no reason noted: not put here by the receiver';
    case 'unrouted':
      return `event kind '${noted(message, 'event')}' had no consumer`;
    case 'dead-letter':
    case 'removed': {
      const reason = noted(message, 'failureReason');
      // A message keeps its attributes when it is redriven, so SQS may bring back an old reason.
      if (reason !== undefined && !message.movedBySqs) return reason;
      if (kind === 'removed' && !message.movedBySqs) return 'it waited when its consumer was removed';
      return 'SQS moved it after too many receives: the consumer crashed, ran out of time or could not start';
    }
  }
}
