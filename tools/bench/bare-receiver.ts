import { createHmac, timingSafeEqual } from 'node:crypto';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import middy from '@middy/core';
import type { GatewayEvent } from '../../lambda/receiver/request.ts';

const secrets = new SecretsManagerClient({});
const queues = new SQSClient({});
let secret: string | undefined;

/**
 * The least that a receiver can do with the same packages: read the secret, verify the signature, parse the body and
 * store it on a queue. The receiver is measured against it.
 */
export const handler = middy<GatewayEvent>().handler(async ({ body, headers }) => {
  if (secret === undefined) {
    const SecretId = process.env.WEBHOOK_SECRET_ARN;
    const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId }));
    secret = SecretString ?? '';
  }
  const text = body ?? '';
  const signature = createHmac('sha256', secret).update(text).digest();
  const received = Buffer.from(headers['x-webhook-signature'] ?? '', 'hex');
  if (!timingSafeEqual(signature, received)) return { statusCode: 401 };
  const { event, timestamp, data } = JSON.parse(text);
  const attributes = {
    event,
    eventId: signature.toString('hex'),
    receivedAt: timestamp,
    requestId: 'request',
  };
  await queues.send(
    new SendMessageCommand({
      QueueUrl: process.env.UNROUTED_QUEUE_URL,
      MessageBody: text,
      MessageGroupId: data.shop_id,
      MessageAttributes: Object.fromEntries(
        Object.entries(attributes).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
      ),
    }),
  );
  return { statusCode: 200 };
});
