import {
  ChangeMessageVisibilityCommand,
  type MessageAttributeValue,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
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

/**
 * The attributes of a dead letter: ours of its message, and why and when it failed. A message that was sent by hand may
 * have others. They are left out, because SQS allows ten.
 */
function deadLetterAttributes(
  { messageAttributes }: SQSRecord,
  reason: string,
): Record<string, MessageAttributeValue> {
  const ours = Object.values(attribute).flatMap((name) => {
    const StringValue = messageAttributes[name]?.stringValue;
    return StringValue === undefined ? [] : [[name, { DataType: 'String', StringValue }]];
  });
  return {
    ...Object.fromEntries(ours),
    [attribute.failureReason]: stringAttribute(reason),
    [attribute.failedAt]: stringAttribute(new Date().toISOString()),
  };
}
