import type { DescribedEvent } from './event-schemas.ts';
import type { JsonSchema } from './field-schemas.ts';
import { notificationForms } from './notification-forms.ts';
import { notificationAttributes } from './notification-schemas.ts';
import { schemaRef } from './schema-reference.ts';

/** Messages of AsyncAPI by their names. */
export type Messages = Readonly<Record<string, JsonSchema>>;

/** Source: user guide, "Custom notifications using Amazon Q Developer in chat applications". */
export const customNotificationSchema: JsonSchema = {
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

/** The three forms in which a topic tells of an event: to each subscription one, by its protocol. */
export function notificationMessages(described: DescribedEvent): Messages {
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
