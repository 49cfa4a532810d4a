import { readdirSync } from 'node:fs';
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import { httpApiEvent, restApiEvent } from 'local-aws/gateway';
import { readSamples, type Sample } from '../../events/samples.ts';
import { LOCAL_SECRET, signatureOf } from '../../events/signing.ts';
import { SAMPLE_REQUEST_ID, sqsEvent } from '../../events/sqs-event.ts';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import type { DerivedFile } from './derived-file.ts';

const API = { accountId: '000000000000', apiId: 'local', domainName: 'localhost' };

const FOLDERS = {
  'events/api-gateway': apiGatewayEvent,
  'events/rest-api': restApiGatewayEvent,
  'events/sqs': sqsEvent,
};

/** Every sample as Lambda events. Files of removed samples are deleted. */
export function lambdaEvents(): DerivedFile[] {
  const samples = readSamples();
  return Object.entries(FOLDERS).flatMap(([folder, toEvent]) => {
    const made = new Map(samples.map((sample) => [`${sample.name}.json`, formatted(toEvent(sample))]));
    const files = new Set([...made.keys(), ...readdirSync(folder)]);
    return [...files].map((file) => ({ file: `${folder}/${file}`, text: made.get(file) }));
  });
}

/** JSON in the form of the project's formatter, which puts a list of one text on one line. */
function formatted(event: object): string {
  return `${JSON.stringify(event, undefined, 2).replace(/\[\n\s+(".*")\n\s+\]/g, '[$1]')}\n`;
}

/** The delivery of a sample as an HTTP API hands it to the receiver, signed with the local secret. */
function apiGatewayEvent(sample: Sample): APIGatewayProxyEventV2 {
  const headers = deliveryHeaders(sample).map(([name, value]) => [name.toLowerCase(), value] as const);
  return httpApiEvent({ ...delivery(sample), headers, requestId: SAMPLE_REQUEST_ID }, API);
}

/**
 * The delivery of a sample as a REST API hands it to the receiver: with the names of headers as they were sent, and the
 * body in base64.
 */
function restApiGatewayEvent(sample: Sample): APIGatewayProxyEvent {
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
      extendedRequestId: SAMPLE_REQUEST_ID,
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
