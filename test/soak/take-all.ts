import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { Queues } from '../support/queues.ts';

/** Takes every message off some queues. */
export async function takeAll(queues: Queues, urls: readonly string[]): Promise<Message[]> {
  const taken: Message[] = [];
  for (const QueueUrl of urls) {
    while ((await queues.count(QueueUrl)) > 0) {
      const { Messages = [] } = await queues.client.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] }),
      );
      if (Messages.length === 0) continue;
      taken.push(...Messages);
      await queues.client.send(
        new DeleteMessageBatchCommand({
          QueueUrl,
          Entries: Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
        }),
      );
    }
  }
  return taken;
}
