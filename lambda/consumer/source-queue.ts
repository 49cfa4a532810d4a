import {
  ChangeMessageVisibilityCommand,
  type MessageAttributeValue,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSMessageAttribute, SQSRecord } from 'aws-lambda';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { attribute, stringAttribute, traceAttribute } from '../queue/message.ts';

/** The queue that a consumer's messages come from, and its dead-letter queue. */
export class SourceQueue {
  readonly #client = new SQSClient(clientSettings);
  readonly #variables = requireEnvironment([
    'QUEUE_URL',
    'DEAD_LETTER_QUEUE_URL',
    'MAXIMUM_RECEIVES',
    'FIRST_RETRY_DELAY_SECONDS',
  ]);
  /** Receives after which a message is a dead letter. */
  readonly maxReceives = Number(this.#variables.MAXIMUM_RECEIVES);
  /** Wait after the first failure, in seconds. */
  readonly firstRetryDelay = Number(this.#variables.FIRST_RETRY_DELAY_SECONDS);

  /** Hides a message for this many seconds from now. */
  async delayRetry(record: SQSRecord, seconds: number): Promise<void> {
    await this.#client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: this.#variables.QUEUE_URL,
        ReceiptHandle: record.receiptHandle,
        VisibilityTimeout: seconds,
      }),
    );
  }

  /** Copies a message to the dead-letter queue, with the reason. Does not delete the original. */
  async sendToDeadLetterQueue(record: SQSRecord, reason: string): Promise<void> {
    await this.#client.send(
      new SendMessageCommand({
        QueueUrl: this.#variables.DEAD_LETTER_QUEUE_URL,
        MessageBody: record.body,
        MessageGroupId: record.attributes.MessageGroupId,
        // The trace of the delivery, not of this invocation, whose batch has messages of many deliveries.
        ...traceAttribute(record.attributes.AWSTraceHeader),
        MessageAttributes: deadLetterAttributes(record, reason),
      }),
    );
  }
}

/** Maximum number of a message's attributes. Source: SQS developer guide, "Amazon SQS message metadata". */
const MAX_ATTRIBUTES = 10;

const ownNames: ReadonlySet<string> = new Set(Object.values(attribute));

/**
 * The attributes of a dead letter: those of its message, and why and when it failed. If they are too many, attributes
 * are left out that are not ours. Only a message that was sent by hand has such.
 */
function deadLetterAttributes(
  { messageAttributes }: SQSRecord,
  reason: string,
): Record<string, MessageAttributeValue> {
  const added = {
    [attribute.failureReason]: stringAttribute(reason),
    [attribute.failedAt]: stringAttribute(new Date().toISOString()),
  };
  const carried = Object.entries(messageAttributes).filter(([name]) => !(name in added));
  const { own = [], others = [] } = Object.groupBy(carried, ([name]) =>
    ownNames.has(name) ? 'own' : 'others',
  );
  const fitting = [...own, ...others].slice(0, MAX_ATTRIBUTES - Object.keys(added).length);
  return { ...Object.fromEntries(fitting.map(([name, value]) => [name, sentAgain(value)])), ...added };
}

/** An attribute as SQS takes it. Lambda shows bytes as base64. */
function sentAgain({ dataType, stringValue, binaryValue }: SQSMessageAttribute): MessageAttributeValue {
  return binaryValue === undefined
    ? { DataType: dataType, StringValue: stringValue }
    : { DataType: dataType, BinaryValue: Buffer.from(binaryValue, 'base64') };
}
