import { ConditionalCheckFailedException, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { parseReviewPosted, type ReviewPosted } from './notification.ts';

const dynamodb = new DynamoDBClient();

/** Processes notifications from the queue. Only failed ones come back, and finally go to the dead-letter queue. */
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
    // Logs only the reason, because a review is personal data.
    log({ message: 'Failed', messageId, reason: error instanceof Error ? error.message : 'unknown' });
    return [{ itemIdentifier: messageId }];
  }
}

/**
 * Stores the review. SNS and SQS may deliver a notification twice, even to two executions at the same time. So
 * `eventId` is the key, and one write both stores the review and marks it as done. For an effect elsewhere, such as a
 * mail, pass `eventId` as that service's idempotency key. Append `replay` to it if a replay must repeat the effect.
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
