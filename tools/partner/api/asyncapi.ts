import { CONTACT, info, LICENCE } from './document-facts.ts';
import { describedEvents } from './event-schemas.ts';
import type { JsonSchema } from './field-schemas.ts';
import { notificationSchema, type TopicName, topicOf, topics } from './notification-schemas.ts';
import { customNotificationSchema, type Messages, notificationMessages } from './topic-messages.ts';

/** 3.1 adds nothing that is used here, and fewer tools read it. */
const VERSION = '3.0.0';

const INTRODUCTION = `What subscribers of our topics get.

A notification may come more than once, and in any order: \`eventId\` is the same for the same event, and of two events the later \`timestamp\` is the newer one.

The names of the topics are made at deployment: outputs of the stack say them.`;

/** AsyncAPI 3.0: the topics and the messages that are published on them. */
export function asyncApiDocument(): JsonSchema {
  const notified = describedEvents().filter((event) => topicOf(event) !== undefined);
  const names = Object.keys(topics) as TopicName[];
  const messagesOf = (topic: TopicName): Messages =>
    Object.assign({}, ...notified.filter((event) => topicOf(event) === topic).map(notificationMessages));
  return {
    asyncapi: VERSION,
    id: 'urn:partner-webhooks',
    info: {
      ...info('Partner webhooks: notifications', INTRODUCTION),
      contact: CONTACT,
      license: { name: LICENCE, url: `https://spdx.org/licenses/${LICENCE}.html` },
      tags: [{ $ref: '#/components/tags/sns' }],
    },
    servers: {
      sns: {
        host: 'sns.{region}.amazonaws.com',
        protocol: 'sns',
        description: 'Amazon SNS',
        variables: { region: { default: 'eu-central-1', description: 'Where the stack is deployed.' } },
        security,
      },
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(
      names.map((topic) => [topics[topic].name, channel(topic, messagesOf(topic))]),
    ),
    operations: Object.fromEntries(names.map((topic) => [`notify-${topic}`, operation(topic)])),
    components: {
      schemas: {
        ...Object.fromEntries(
          notified.map((event) => [`${event.schemaName}Notification`, notificationSchema(event)]),
        ),
        CustomNotification: customNotificationSchema,
      },
      messages: Object.assign({}, ...names.map(messagesOf)),
      securitySchemes: {
        aws: {
          type: 'http',
          scheme: 'AWS4-HMAC-SHA256',
          description: 'AWS Signature Version 4, as every AWS SDK signs, with the rights of a role.',
        },
      },
      tags: { sns: { name: 'Topics', description: 'Notifications for people and other systems.' } },
    },
  };
}

const security = [{ $ref: '#/components/securitySchemes/aws' }];

function channel(topic: TopicName, messages: Messages): JsonSchema {
  const { name, output, title, purpose } = topics[topic];
  return {
    address: `{${output}}`,
    parameters: { [output]: { description: 'The output of the stack by this name.' } },
    title,
    description: `Tells of ${purpose}. A subscription gets one form of each notification, by its protocol.`,
    servers: [{ $ref: '#/servers/sns' }],
    messages: Object.fromEntries(
      Object.keys(messages).map((message) => [message, { $ref: `#/components/messages/${message}` }]),
    ),
    bindings: { sns: { name, bindingVersion: '0.1.0' } },
  };
}

function operation(topic: TopicName): JsonSchema {
  const { name, title } = topics[topic];
  return {
    action: 'send',
    title: `Publish on the ${title.toLowerCase()}`,
    description: 'A consumer publishes each event once.',
    channel: { $ref: `#/channels/${name}` },
    security,
    tags: [{ $ref: '#/components/tags/sns' }],
  };
}
