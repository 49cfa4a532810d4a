import { SNSClient, SubscribeCommand, UnsubscribeCommand } from '@aws-sdk/client-sns';
import {
  ChangeMessageVisibilityBatchCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { expectDescribedMessage } from './descriptions.ts';

/**
 * How long received messages stay hidden from others, in seconds. They are made visible at once, unless the queue is
 * long: then the next search would receive them again.
 */
const HIDDEN_SECONDS = 20;

/** Wait of a receive, in seconds. Without a wait, SQS asks only some of its servers. */
const WAIT_SECONDS = 1;

/** Maximum messages that SQS returns at a time. If SQS returns as many, the queue may have more. */
const MOST = 10;

/** Finds single messages on queues that also hold other people's messages, and leaves those unchanged. */
export class MessageFinder {
  readonly client = new SQSClient();

  /**
   * Receives up to ten messages once. If the message of the request is among them, deletes it from the queue.
   * @returns undefined if it is not among them
   */
  async take(queueUrl: string, requestId: string): Promise<Message | undefined> {
    const { Messages = [] } = await this.client.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: MOST,
        MessageAttributeNames: ['All'],
        VisibilityTimeout: HIDDEN_SECONDS,
        WaitTimeSeconds: WAIT_SECONDS,
      }),
    );
    const own = Messages.find(
      ({ MessageAttributes }) => MessageAttributes?.requestId?.StringValue === requestId,
    );
    const others = Messages.filter((message) => message !== own);
    await Promise.all([
      own === undefined && Messages.length === MOST ? undefined : this.#giveBack(queueUrl, others),
      own &&
        this.client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: own.ReceiptHandle })),
    ]);
    return own;
  }

  async #giveBack(queueUrl: string, messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    await this.client.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: queueUrl,
        Entries: messages.map(({ ReceiptHandle }, index) => ({
          Id: String(index),
          ReceiptHandle,
          VisibilityTimeout: 0,
        })),
      }),
    );
  }
}

/** Retention of a subscriber's queue, in seconds. If the clean-up itself is killed, messages expire after this time. */
const RETENTION_SECONDS = 3600;

/** Values of message attributes. A message passes if it has one of the values for each. */
export type AttributeFilter = Readonly<Record<string, readonly string[]>>;

export const eventIdIn = ({ MessageAttributes }: Message) => MessageAttributes?.eventId?.StringValue;

/**
 * A queue that receives a topic's notifications that match a filter, and no others, so that other people's
 * notifications are not copied. The topics are encrypted with a key of the stack. SNS decrypts a message when it
 * delivers it (SNS developer guide, "Securing data with server-side encryption"). The queue uses SQS's own encryption,
 * the default of new queues, which needs no key. With a KMS key of its own, SNS would need permission to use it.
 */
export class Subscriber {
  readonly #sqs: SQSClient;
  readonly #sns = new SNSClient();
  readonly #queueUrl: string;
  #subscriptionArn: string | undefined;

  static async create(
    sqs: SQSClient,
    topicArn: string,
    filter: AttributeFilter,
    name: string,
  ): Promise<Subscriber> {
    const mayPublish = {
      Effect: 'Allow',
      Principal: { Service: 'sns.amazonaws.com' },
      Action: 'sqs:SendMessage',
      Resource: '*',
      Condition: { ArnEquals: { 'aws:SourceArn': topicArn } },
    };
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [mayPublish] });
    const Attributes = { MessageRetentionPeriod: String(RETENTION_SECONDS), Policy };
    const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: name, Attributes }));
    const subscriber = new Subscriber(sqs, QueueUrl);
    try {
      await subscriber.#subscribe(topicArn, filter);
    } catch (error) {
      await subscriber.remove();
      throw error;
    }
    return subscriber;
  }

  private constructor(sqs: SQSClient, queueUrl: string) {
    this.#sqs = sqs;
    this.#queueUrl = queueUrl;
  }

  /** The messages since the last call. Each must match its description. */
  async receive(): Promise<Message[]> {
    const { Messages = [] } = await this.#sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: this.#queueUrl,
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ['All'],
        VisibilityTimeout: RETENTION_SECONDS,
        WaitTimeSeconds: 1,
      }),
    );
    for (const message of Messages) expectDescribedMessage(message);
    return Messages;
  }

  /** Ends the subscription and deletes the queue, if they exist. */
  async remove(): Promise<void> {
    if (this.#subscriptionArn !== undefined) {
      await this.#sns.send(new UnsubscribeCommand({ SubscriptionArn: this.#subscriptionArn }));
    }
    await this.#sqs.send(new DeleteQueueCommand({ QueueUrl: this.#queueUrl }));
  }

  async #subscribe(topicArn: string, filter: AttributeFilter): Promise<void> {
    const { Attributes } = await this.#sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: this.#queueUrl, AttributeNames: ['QueueArn'] }),
    );
    const { SubscriptionArn } = await this.#sns.send(
      new SubscribeCommand({
        TopicArn: topicArn,
        Protocol: 'sqs',
        Endpoint: Attributes?.QueueArn,
        ReturnSubscriptionArn: true,
        Attributes: { RawMessageDelivery: 'true', FilterPolicy: JSON.stringify(filter) },
      }),
    );
    this.#subscriptionArn = SubscriptionArn;
  }
}
