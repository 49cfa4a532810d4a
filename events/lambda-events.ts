import type { APIGatewayProxyEventV2, SQSEvent } from 'aws-lambda';
import { WEBHOOK_PATH } from '../lambda/contract/webhook-path.ts';
import { sha256Hex } from '../lambda/hash.ts';
import { eventAttributes } from '../lambda/queue/message.ts';
import type { Sample } from './samples.ts';
import { LOCAL_SECRET, signatureOf } from './signing.ts';

const ACCOUNT_ID = '000000000000';
const REGION = 'us-east-1';
const REQUEST_ID = 'JKJaXmPLvHcESHA=';

/** The delivery of a sample as API Gateway hands it to the receiver, signed with the local secret. */
export function apiGatewayEvent({ payload }: Sample): APIGatewayProxyEventV2 {
  const body = JSON.stringify(payload);
  const receivedAt = new Date(String(payload.timestamp));
  const path = WEBHOOK_PATH;
  return {
    version: '2.0',
    routeKey: `POST ${path}`,
    rawPath: path,
    rawQueryString: '',
    headers: {
      'content-type': 'application/json',
      'x-webhook-signature': signatureOf({ body: Buffer.from(body), secret: LOCAL_SECRET }),
    },
    requestContext: {
      accountId: ACCOUNT_ID,
      apiId: 'local',
      domainName: 'localhost',
      domainPrefix: 'localhost',
      http: { method: 'POST', path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'partner' },
      requestId: REQUEST_ID,
      routeKey: `POST ${path}`,
      stage: '$default',
      time: receivedAt.toISOString(),
      timeEpoch: receivedAt.getTime(),
    },
    body,
    isBase64Encoded: false,
  };
}

/** The message of a sample as Lambda hands it to the event's consumer, in a batch of one. */
export function sqsEvent({ event, name, payload }: Sample): SQSEvent {
  const body = JSON.stringify(payload);
  const receivedAt = new Date(String(payload.timestamp));
  const attributes = eventAttributes({
    event,
    eventId: sha256Hex(body),
    receivedAt: receivedAt.toISOString(),
    requestId: REQUEST_ID,
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
