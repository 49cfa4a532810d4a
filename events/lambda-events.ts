import type { APIGatewayProxyEvent, APIGatewayProxyEventV2, SQSEvent } from 'aws-lambda';
import { WEBHOOK_PATH } from '../lambda/events/webhook-path.ts';
import { sha256Hex } from '../lambda/hash.ts';
import { eventAttributes } from '../lambda/queue/message.ts';
import { httpApiEvent, restApiEvent } from './gateway-events.ts';
import type { Sample } from './samples.ts';
import { LOCAL_SECRET, signatureOf } from './signing.ts';

const ACCOUNT_ID = '000000000000';
const REGION = 'us-east-1';
const REQUEST_ID = 'JKJaXmPLvHcESHA=';
const API = { accountId: ACCOUNT_ID, apiId: 'local', domainName: 'localhost' };

/** The delivery of a sample as an HTTP API hands it to the receiver, signed with the local secret. */
export function apiGatewayEvent(sample: Sample): APIGatewayProxyEventV2 {
  const headers = deliveryHeaders(sample).map(([name, value]) => [name.toLowerCase(), value] as const);
  return httpApiEvent({ ...delivery(sample), headers, requestId: REQUEST_ID }, API);
}

/** The same as a REST API does: with the names of headers as they were sent, and the body in base64. */
export function restApiGatewayEvent(sample: Sample): APIGatewayProxyEvent {
  const { body, ...request } = delivery(sample);
  return restApiEvent(
    {
      ...request,
      headers: deliveryHeaders(sample),
      requestId: '00000000-0000-4000-8000-000000000000',
      body: Buffer.from(body).toString('base64'),
      isBase64Encoded: true,
    },
    {
      ...API,
      resourceId: 'partner',
      resourcePath: WEBHOOK_PATH.slice('/api'.length),
      stage: 'api',
      extendedRequestId: REQUEST_ID,
    },
  );
}

function delivery({ payload }: Sample) {
  return {
    method: 'POST',
    path: WEBHOOK_PATH,
    body: JSON.stringify(payload),
    isBase64Encoded: false,
    sourceIp: '127.0.0.1',
    receivedAt: new Date(String(payload.timestamp)),
  };
}

const deliveryHeaders = ({ payload }: Sample): [name: string, value: string][] => [
  ['Content-Type', 'application/json'],
  ['User-Agent', 'partner'],
  ['X-Webhook-Signature', signatureOf({ body: Buffer.from(JSON.stringify(payload)), secret: LOCAL_SECRET })],
];

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
