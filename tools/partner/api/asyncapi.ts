import { CONTACT, info, LICENCE, schemaRef } from './document-facts.ts';
import { type DescribedEvent, describedEvents } from './event-schemas.ts';
import type { JsonSchema } from './json-schema.ts';
import {
  notificationAttributes,
  notificationForms,
  notificationSchema,
  type TopicName,
  topicOf,
  topics,
} from './notifications.ts';

/** Version 3.1 adds nothing that is used here, and fewer tools support it. */
const VERSION = '3.0.0';

const INTRODUCTION = `What subscribers of our topics get.

A notification may come more than once, and in any order: \`eventId\` is the same for the same event, and of two events the later \`timestamp\` is the newer one.

The names of the topics are made at deployment: outputs of the stack say them.`;

/** AsyncAPI 3.0 document of the topics and the messages published to them. */
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

type Messages = Readonly<Record<string, JsonSchema>>;

/** Source: user guide, "Custom notifications using Amazon Q Developer in chat applications". */
const customNotificationSchema: JsonSchema = {
  title: 'custom notification',
  description: 'What Amazon Q Developer in chat applications shows in Slack and Teams.',
  type: 'object',
  properties: {
    version: { type: 'string', const: '1.0' },
    source: { type: 'string', const: 'custom' },
    content: {
      type: 'object',
      properties: {
        textType: { type: 'string', const: 'client-markdown' },
        title: { type: 'string', description: 'What has happened, in a few words.' },
        description: {
          type: 'string',
          description: 'A line for each thing that is known of it, in Markdown.',
        },
      },
      required: ['textType', 'title', 'description'],
    },
  },
  required: ['version', 'source', 'content'],
};

/** The three forms of a notification. A subscription gets the one for its protocol. */
function notificationMessages(described: DescribedEvent): Messages {
  const { event, name, schemaName, meaning } = described;
  const forms = notificationForms(described);
  const headers = notificationAttributes(described);
  const correlationId = { location: '$message.header#/eventId', description: 'The delivery it tells of.' };
  const example = (payloadOf: (form: (typeof forms)[number]) => unknown) =>
    forms.map((form) => ({
      name,
      summary: meaning,
      headers: {
        event,
        eventId: form.document.eventId,
        ...('shop_id' in form.document.data && { shop_id: form.document.data.shop_id }),
      },
      payload: payloadOf(form),
    }));
  return {
    [`${schemaName}Notification`]: {
      name: `${name}-notification`,
      title: `Notification of ${event}, for programs`,
      summary: `${meaning}: what subscriptions of the protocols lambda and sqs get`,
      description:
        'The `Message` of what SNS hands over; with raw delivery the whole of it. Subscribe with a filter on the attributes.',
      contentType: 'application/json',
      correlationId,
      headers,
      payload: schemaRef(`${schemaName}Notification`),
      examples: example(({ document }) => document),
    },
    [`${schemaName}Text`]: {
      name: `${name}-text`,
      title: `Notification of ${event}, for people`,
      summary: `${meaning}: what e-mail and every other protocol gets`,
      description: 'The subject is the title. The lines are for people, and may change.',
      contentType: 'text/plain',
      correlationId,
      headers,
      payload: {
        type: 'string',
        description: 'The title; then, after an empty line, a line for each thing that is known.',
      },
      examples: example(({ text }) => text),
    },
    [`${schemaName}ChatNotification`]: {
      name: `${name}-chat-notification`,
      title: `Notification of ${event}, for a chat room`,
      summary: `${meaning}: what subscriptions of the protocol https get`,
      contentType: 'application/json',
      correlationId,
      headers,
      payload: schemaRef('CustomNotification'),
      examples: example(({ chat }) => chat),
    },
  };
}
