import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';

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
