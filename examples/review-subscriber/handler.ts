import { ConditionalCheckFailedException, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { parseReviewPosted, type ReviewPosted } from './notification.ts';

const dynamodb = new DynamoDBClient();

/** Takes notifications off the queue. Those that fail come back alone, and end in the dead-letter queue. */
export async function handler({ Records }: SQSEvent): Promise<SQSBatchResponse> {
  const failed = await Promise.all(Records.map(failedOf));
  return { batchItemFailures: failed.flat() };
}

async function failedOf({ messageId, body }: SQSRecord): Promise<SQSBatchResponse['batchItemFailures']> {
  try {
    const review = parseReviewPosted(body);
    log({ message: (await keep(review)) ? 'Kept' : 'Duplicate', eventId: review.eventId });
    return [];
  } catch (error) {
    // The reason and no more: a log is not the place for what somebody wrote in a review.
    log({ message: 'Failed', messageId, reason: error instanceof Error ? error.message : 'unknown' });
    return [{ itemIdentifier: messageId }];
  }
}

/**
 * Has the effect. SNS and SQS may deliver a notification twice, also to two executions at once, so `eventId` is the key:
 * the one write is both the effect and the note that it was had. An effect elsewhere, such as a mail, takes `eventId` as
 * that service's idempotency key, and with `replay` behind it where a replay is to have it again.
 * @returns whether the review was new
 */
async function keep({ eventId, timestamp, data }: ReviewPosted): Promise<boolean> {
  const fields = { event_id: eventId, timestamp, ...data };
  try {
    await dynamodb.send(
      new PutItemCommand({
        TableName: process.env.TABLE_NAME,
        Item: Object.fromEntries(Object.entries(fields).map(([name, S]) => [name, { S }])),
        ConditionExpression: 'attribute_not_exists(event_id)',
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

function log(line: object): void {
  console.log(JSON.stringify(line));
}
