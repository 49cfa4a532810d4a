import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { SQSEvent } from 'aws-lambda';
import { sha256Hex } from '../lambda/hash.ts';
import { eventAttributes } from '../lambda/queue/message.ts';

export interface Sample {
  /** Event kind, such as `shop.updated`. */
  readonly event: string;
  /** Base name of the sample's file: `shop-updated`. */
  readonly name: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Every sample event, in the order of their timestamps: the files in `events/` that have a field `event`. */
export function readSamples(): Sample[] {
  return globSync('events/*.json')
    .map((file) => {
      const payload = JSON.parse(readFileSync(file, 'utf8'));
      return { event: payload.event as string, name: basename(file, '.json'), payload };
    })
    .filter(({ payload }) => 'event' in payload)
    .sort((a, b) => String(a.payload.timestamp).localeCompare(String(b.payload.timestamp)));
}

/** The body of a sample with another `timestamp`, such as now: an older event would be skipped as stale. */
export function sampleBody({ payload }: Sample, timestamp: Date): Uint8Array {
  return Buffer.from(JSON.stringify({ ...payload, timestamp: timestamp.toISOString() }));
}

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
