import { SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { ClientSettings } from 'local-aws/aws-caller';
import { eventually } from './eventually.ts';

/** Reads queues, and topics through a queue. */
export class Queues {
  readonly client: SQSClient;
  readonly #settings: ClientSettings;

  constructor(settings: ClientSettings) {
    this.client = new SQSClient(settings);
    this.#settings = settings;
  }

  /** Waits for the next matching message, and deletes it from the queue. */
  async take(
    queueUrl: string | undefined,
    fits: (message: Message) => boolean = () => true,
  ): Promise<Message> {
    return eventually(async () => {
      const message = (await this.receive(queueUrl)).find(fits);
      if (message === undefined) return undefined;
      await this.client.send(
        new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: message.ReceiptHandle }),
      );
      return message;
    });
  }

  /** The currently visible messages of a queue. They are hidden from others for a second. */
  async receive(queueUrl: string | undefined): Promise<Message[]> {
    const { Messages = [] } = await this.client.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['All'],
        VisibilityTimeout: 1,
      }),
    );
    return Messages;
  }

  /** Receives and deletes everything that is visible on a queue. */
  async takeAll(QueueUrl: string | undefined): Promise<Message[]> {
    const all: Message[] = [];
    for (;;) {
      const messages = await this.receive(QueueUrl);
      if (messages.length === 0) return all;
      all.push(...messages);
      const Entries = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      await this.client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    }
  }

  /** Messages on a queue, visible or in flight. */
  async count(queueUrl: string | undefined): Promise<number> {
    const { Attributes = {} } = await this.client.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
    );
    return (
      Number(Attributes.ApproximateNumberOfMessages) +
      Number(Attributes.ApproximateNumberOfMessagesNotVisible)
    );
  }

  /**
   * Creates a queue that receives everything published to a topic from now on.
   * @returns its URL
   */
  async subscribe(topicArn: string | undefined, name: string): Promise<string> {
    const { QueueUrl = '' } = await this.client.send(new CreateQueueCommand({ QueueName: name }));
    const { Attributes } = await this.client.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
    );
    await new SNSClient(this.#settings).send(
      new SubscribeCommand({
        TopicArn: topicArn,
        Protocol: 'sqs',
        Endpoint: Attributes?.QueueArn,
        Attributes: { RawMessageDelivery: 'true' },
      }),
    );
    return QueueUrl;
  }
}
