import { CONTACT, info, LICENCE, schemaRef } from './document-info.ts';
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

/** Version of AsyncAPI. Of a 3.1.0 document, Modelina 5.10.1, the generator of models, makes one model `Root`. */
const VERSION = '3.0.0';

const INTRODUCTION = `The notifications that subscribers of our topics get.

A notification may arrive more than once, and in any order. The same event always has the same \`eventId\`. The event with the later \`timestamp\` is the newer one; of events with equal times, the one with the greater \`eventId\`.

The topics get their names at deployment. They are outputs of the stack.`;

/** AsyncAPI 3.0 document of the topics and the messages published to them. */
export function asyncApiDocument(): JsonSchema {
  const notified = describedEvents().filter((event) => topicOf(event) !== undefined);
  const names = Object.keys(topics) as TopicName[];
  const messagesOf = (topic: TopicName): Record<string, JsonSchema> =>
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
        variables: { region: { default: 'eu-central-1', description: 'Region of the stack.' } },
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
          description:
            'AWS Signature Version 4, with the permissions of a role. Every AWS SDK signs this way.',
        },
      },
      tags: { sns: { name: 'Topics', description: 'Notifications for people and other systems.' } },
    },
  };
}

const security = [{ $ref: '#/components/securitySchemes/aws' }];

function channel(topic: TopicName, messages: JsonSchema): JsonSchema {
  const { name, output, title, purpose } = topics[topic];
  return {
    address: `{${output}}`,
    parameters: { [output]: { description: 'The output of the stack with this name.' } },
    title,
    description: `${purpose} A subscription gets the form of each notification that belongs to its protocol.`,
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

/** A message for a chat. Source: user guide, "Custom notifications using Amazon Q Developer in chat applications". */
const customNotificationSchema: JsonSchema = {
  title: 'custom notification',
  description: 'A message that Amazon Q Developer in chat applications shows in Slack and Teams.',
  type: 'object',
  properties: {
    version: { type: 'string', const: '1.0' },
    source: { type: 'string', const: 'custom' },
    content: {
      title: 'custom notification content',
      type: 'object',
      properties: {
        textType: { type: 'string', const: 'client-markdown' },
        title: { type: 'string', description: 'The event in a few words.' },
        description: {
          type: 'string',
          description: 'Facts about the event in Markdown, one in each line.',
        },
      },
      required: ['textType', 'title', 'description'],
    },
  },
  required: ['version', 'source', 'content'],
};

/** The three forms of a notification. A subscription gets the form for its protocol. */
function notificationMessages(described: DescribedEvent): JsonSchema {
  const { event, name, schemaName, meaning } = described;
  const forms = notificationForms(described);
  const headers = notificationAttributes(described);
  const correlationId = { location: '$message.header#/eventId', description: 'The id of the event.' };
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
      summary: `${meaning}: for subscriptions with the protocols lambda and sqs`,
      description:
        'The field `Message` of a notification from SNS, or the whole of it with raw message delivery. Filter policies can use the attributes.',
      contentType: 'application/json',
      correlationId,
      headers,
      payload: schemaRef(`${schemaName}Notification`),
      examples: example(({ document }) => document),
    },
    [`${schemaName}Text`]: {
      name: `${name}-text`,
      title: `Notification of ${event}, for people`,
      summary: `${meaning}: for e-mail and all other protocols`,
      description: 'The subject is the title. The text is for people and may change.',
      contentType: 'text/plain',
      correlationId,
      headers,
      payload: {
        title: `Text of ${event}`,
        type: 'string',
        description: 'The title, an empty line, and facts about the event, one in each line.',
      },
      examples: example(({ text }) => text),
    },
    [`${schemaName}ChatNotification`]: {
      name: `${name}-chat-notification`,
      title: `Notification of ${event}, for a chat room`,
      summary: `${meaning}: for subscriptions with the protocol https`,
      contentType: 'application/json',
      correlationId,
      headers,
      payload: schemaRef('CustomNotification'),
      examples: example(({ chat }) => chat),
    },
  };
}
