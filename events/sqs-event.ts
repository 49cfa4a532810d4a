import type { SQSEvent } from 'aws-lambda';
import { sha256Hex } from '../lambda/hash.ts';
import { eventAttributes } from '../lambda/queue/message.ts';
import type { Sample } from './samples.ts';

/** Request id of the samples, in the form of API Gateway. */
export const SAMPLE_REQUEST_ID = 'JKJaXmPLvHcESHA=';

const ACCOUNT_ID = '000000000000';
const REGION = 'us-east-1';

/** The Lambda event by which a consumer receives a sample, as a batch of one message. */
export function sqsEvent({ event, name, payload }: Sample): SQSEvent {
  const body = JSON.stringify(payload);
  const receivedAt = new Date(String(payload.timestamp));
  const attributes = eventAttributes({
    event,
    eventId: sha256Hex(body),
    receivedAt: receivedAt.toISOString(),
    requestId: SAMPLE_REQUEST_ID,
  });
  return {
    Records: [
      {
        messageId: '00000000-0000-4000-8000-000000000000',
        receiptHandle: 'sample',
        body,
        attributes: {
          ApproximateReceiveCount: '1',
          SentTimestamp: String(receivedAt.getTime()),
          SenderId: ACCOUNT_ID,
          ApproximateFirstReceiveTimestamp: String(receivedAt.getTime()),
        },
        messageAttributes: Object.fromEntries(
          Object.entries(attributes).map(([key, { DataType, StringValue }]) => [
            key,
            { dataType: DataType, stringValue: StringValue },
          ]),
        ),
        md5OfBody: '',
        eventSource: 'aws:sqs',
        eventSourceARN: `arn:aws:sqs:${REGION}:${ACCOUNT_ID}:${name}`,
        awsRegion: REGION,
      },
    ],
  };
}
