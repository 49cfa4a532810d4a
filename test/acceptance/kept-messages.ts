import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';

/**
 * How long what is received stays hidden from others should this process die at that moment, in seconds.
 * Otherwise what is not ours is given back at once.
 */
const HOLD_SECONDS = 10;

/** Without a wait SQS asks some of its servers only. */
const WAIT_SECONDS = 1;

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
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ['All'],
        VisibilityTimeout: HOLD_SECONDS,
        WaitTimeSeconds: WAIT_SECONDS,
      }),
    );
    const own = Messages.find(
      ({ MessageAttributes }) => MessageAttributes?.requestId?.StringValue === requestId,
    );
    await Promise.all([
      this.#giveBack(
        queueUrl,
        Messages.filter((message) => message !== own),
      ),
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
