import { WEBHOOK_PATH } from '../../../lambda/contract/webhook-path.ts';
import { describedChannel, describedOperations, type ServerName } from './channel.ts';
import { channelsOf } from './channels.ts';
import { CONTACT, EXAMPLE_HOST, info, LICENCE } from './document-facts.ts';
import { describedEvents, otherPayloadSchema, payloadSchema } from './event-schemas.ts';
import type { JsonSchema } from './field-schemas.ts';
import { notificationSchema, topicOf } from './notification-schemas.ts';
import { quarantinedSchema, storedPayloadSchema } from './queue-messages.ts';
import { SIGNATURE_HEADER, signatureDescription } from './signature-header.ts';
import { customNotificationSchema } from './topic-messages.ts';

/** 3.1 adds nothing that is used here, and fewer tools read it. */
const VERSION = '3.0.0';

const INTRODUCTION = `What becomes of an event that \`POST ${WEBHOOK_PATH}\` (openapi.json) has taken, and what those get who subscribe.

An event is put on the queue of its kind, processed from there, and told of through a topic where people or other systems are to know. It may come more than once, and in any order: \`eventId\` is the same for the same bytes, and of two events the later \`timestamp\` wins.

The names of queues and topics are made at deployment: outputs of the stack say them.`;

/** AsyncAPI 3.0 of the endpoint, of every queue and topic behind it, and of what is on them. */
export function asyncApiDocument(): JsonSchema {
  const events = describedEvents();
  const channels = Object.entries(channelsOf(events));
  const notified = events.filter((event) => topicOf(event) !== undefined);
  return {
    asyncapi: VERSION,
    id: 'urn:partner-webhooks',
    info: {
      ...info('Partner webhooks: deliveries, queues and topics', INTRODUCTION),
      contact: CONTACT,
      license: { name: LICENCE, url: `https://spdx.org/licenses/${LICENCE}.html` },
      tags: (Object.keys(tags) as ServerName[]).map((name) => ({ $ref: `#/components/tags/${name}` })),
    },
    servers,
    defaultContentType: 'application/json',
    channels: Object.fromEntries(channels.map(([id, channel]) => [id, describedChannel(channel)])),
    operations: Object.assign({}, ...channels.map(([id, channel]) => describedOperations(id, channel))),
    components: {
      schemas: {
        ...Object.fromEntries(events.map((event) => [event.schemaName, payloadSchema(event)])),
        OtherEvent: otherPayloadSchema(events),
        StoredPayload: storedPayloadSchema,
        Quarantined: quarantinedSchema,
        ...Object.fromEntries(
          notified.map((event) => [`${event.schemaName}Notification`, notificationSchema(event)]),
        ),
        CustomNotification: customNotificationSchema,
      },
      messages: Object.assign({}, ...channels.map(([, { messages }]) => messages)),
      securitySchemes,
      tags,
    },
  };
}

const securitySchemes = {
  signature: {
    type: 'httpApiKey',
    in: 'header',
    name: SIGNATURE_HEADER,
    description: signatureDescription,
  },
  aws: {
    type: 'http',
    scheme: 'AWS4-HMAC-SHA256',
    description: 'AWS Signature Version 4, as every AWS SDK signs, with the rights of a role.',
  },
};

const signed = (scheme: keyof typeof securitySchemes) => [{ $ref: `#/components/securitySchemes/${scheme}` }];

const region = { default: 'eu-central-1', description: 'Where the stack is deployed.' };

const servers: Readonly<Record<ServerName, JsonSchema>> = {
  webhook: {
    host: '{host}',
    protocol: 'https',
    description: 'The endpoint that the partner posts to',
    variables: { host: { default: EXAMPLE_HOST, description: 'The output WebhookUrl of the stack has it.' } },
    security: signed('signature'),
  },
  sqs: {
    host: 'sqs.{region}.amazonaws.com',
    protocol: 'sqs',
    description: 'Amazon SQS',
    variables: { region },
    security: signed('aws'),
  },
  sns: {
    host: 'sns.{region}.amazonaws.com',
    protocol: 'sns',
    description: 'Amazon SNS',
    variables: { region },
    security: signed('aws'),
  },
};

const tags: Readonly<Record<ServerName, JsonSchema>> = {
  webhook: { name: 'Deliveries', description: 'What the partner sends.' },
  sqs: { name: 'Queues', description: 'What waits to be processed, or for somebody.' },
  sns: { name: 'Topics', description: 'What people and other systems are told.' },
};
