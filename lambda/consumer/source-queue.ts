import {
  ChangeMessageVisibilityCommand,
  type MessageAttributeValue,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { MAX_ATTRIBUTE_LENGTH } from '../limits.ts';
import { attribute, stringAttribute, traceAttribute } from '../queue/message.ts';

/** The queue that a consumer's messages come from, and its dead-letter queue. */
export class SourceQueue {
  readonly #client: SQSClient;
  readonly #queueUrl: string;
  readonly #deadLetterQueueUrl: string;
  /** Receives after which a message is a dead letter. */
  readonly maxReceives: number;
  /** Wait after the first failure, in seconds. */
  readonly firstRetryDelay: number;

  constructor(client = new SQSClient(clientSettings), environment = process.env) {
    const variables = requireEnvironment(
      ['QUEUE_URL', 'DEAD_LETTER_QUEUE_URL', 'MAXIMUM_RECEIVES', 'FIRST_RETRY_DELAY_SECONDS'],
      environment,
    );
    this.#client = client;
    this.#queueUrl = variables.QUEUE_URL;
    this.#deadLetterQueueUrl = variables.DEAD_LETTER_QUEUE_URL;
    this.maxReceives = Number(variables.MAXIMUM_RECEIVES);
    this.firstRetryDelay = Number(variables.FIRST_RETRY_DELAY_SECONDS);
  }

  /** Hides a message for this many seconds from now. */
  async delayRetry(record: SQSRecord, seconds: number): Promise<void> {
    await this.#client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: this.#queueUrl,
        ReceiptHandle: record.receiptHandle,
        VisibilityTimeout: seconds,
      }),
    );
  }

  /** Copies a message to the dead-letter queue, with the reason. Does not delete the original. */
  async sendToDeadLetterQueue(record: SQSRecord, reason: string): Promise<void> {
    await this.#client.send(
      new SendMessageCommand({
        QueueUrl: this.#deadLetterQueueUrl,
        MessageBody: record.body,
        MessageGroupId: record.attributes.MessageGroupId,
        // The trace of the delivery, not of this invocation, whose batch has messages of many deliveries.
        ...traceAttribute(record.attributes.AWSTraceHeader),
        MessageAttributes: {
          ...carriedOver(record),
          [attribute.failureReason]: stringAttribute(reason.slice(0, MAX_ATTRIBUTE_LENGTH)),
          [attribute.failedAt]: stringAttribute(new Date().toISOString()),
        },
      }),
    );
  }
}

function carriedOver({ messageAttributes }: SQSRecord): Record<string, MessageAttributeValue> {
  return Object.fromEntries(
    Object.entries(messageAttributes).flatMap(([name, { dataType, stringValue }]) =>
      stringValue === undefined ? [] : [[name, { DataType: dataType, StringValue: stringValue }]],
    ),
  );
}
