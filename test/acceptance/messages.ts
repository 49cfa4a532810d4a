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
 * How long what is received stays hidden from others, in seconds. It is given back at once, unless the queue is
 * long: then it would be what the next look finds again.
 */
const HOLD_SECONDS = 20;

/** Without a wait SQS asks some of its servers only. */
const WAIT_SECONDS = 1;

/** Messages that SQS hands out at a time: as many mean that the queue may hold more. */
const MOST = 10;

/** Finds single messages on queues that hold other people's as well, which are left as they were. */
export class KeptMessages {
  readonly client = new SQSClient();

  /**
   * Looks once, at up to ten messages, and takes the one that a request left off the queue where it is among them.
   * @returns undefined where it is not
   */
  async take(queueUrl: string, requestId: string): Promise<Message | undefined> {
    const { Messages = [] } = await this.client.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: MOST,
        MessageAttributeNames: ['All'],
        VisibilityTimeout: HOLD_SECONDS,
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

/** Should the clean-up itself be killed, nothing stays on the queue for longer, in seconds. */
const RETENTION_SECONDS = 3600;

/** A topic, and the output of the stack that it is. */
export interface Topic {
  readonly arn: string;
  readonly output: string;
}

/** Values of message attributes: what has one of each is let through. */
export type Filter = Readonly<Record<string, readonly string[]>>;

/** The event that a notification is about. */
export const eventIdIn = ({ MessageAttributes }: Message) => MessageAttributes?.eventId?.StringValue;

/**
 * A queue that gets what a topic publishes and a filter lets through, and nothing else: other people's notifications
 * are not copied. The topics are encrypted under a key of the stack: SNS decrypts a message when it delivers
 * it (SNS developer guide, "Securing data with server-side encryption"), and the queue has SQS' own
 * encryption, which is the default of new queues and asks for no key. Under a KMS key of its own, SNS would
 * need leave to use that.
 */
export class Subscriber {
  readonly #sqs: SQSClient;
  readonly #sns = new SNSClient();
  readonly #queueUrl: string;
  readonly #topic: Topic;
  #subscriptionArn: string | undefined;

  static async create(sqs: SQSClient, topic: Topic, filter: Filter, name: string): Promise<Subscriber> {
    const { QueueUrl = '' } = await sqs.send(
      new CreateQueueCommand({
        QueueName: name,
        Attributes: {
          MessageRetentionPeriod: String(RETENTION_SECONDS),
          Policy: JSON.stringify({
            Version: '2012-10-17',
            Statement: [
              {
                Effect: 'Allow',
                Principal: { Service: 'sns.amazonaws.com' },
                Action: 'sqs:SendMessage',
                Resource: '*',
                Condition: { ArnEquals: { 'aws:SourceArn': topic.arn } },
              },
            ],
          }),
        },
      }),
    );
    const subscriber = new Subscriber(sqs, QueueUrl, topic);
    try {
      await subscriber.#subscribe(filter);
    } catch (error) {
      await subscriber.remove();
      throw error;
    }
    return subscriber;
  }

  private constructor(sqs: SQSClient, queueUrl: string, topic: Topic) {
    this.#sqs = sqs;
    this.#queueUrl = queueUrl;
    this.#topic = topic;
  }

  /** What has come since the last look, and is as it is described. */
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
    for (const message of Messages) expectDescribedMessage(this.#topic.output, message);
    return Messages;
  }

  /** Ends the subscription and deletes the queue, whichever of them there is. */
  async remove(): Promise<void> {
    if (this.#subscriptionArn !== undefined) {
      await this.#sns.send(new UnsubscribeCommand({ SubscriptionArn: this.#subscriptionArn }));
    }
    await this.#sqs.send(new DeleteQueueCommand({ QueueUrl: this.#queueUrl }));
  }

  async #subscribe(filter: Filter): Promise<void> {
    const { Attributes } = await this.#sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: this.#queueUrl, AttributeNames: ['QueueArn'] }),
    );
    const { SubscriptionArn } = await this.#sns.send(
      new SubscribeCommand({
        TopicArn: this.#topic.arn,
        Protocol: 'sqs',
        Endpoint: Attributes?.QueueArn,
        ReturnSubscriptionArn: true,
        Attributes: { RawMessageDelivery: 'true', FilterPolicy: JSON.stringify(filter) },
      }),
    );
    this.#subscriptionArn = SubscriptionArn;
  }
}
