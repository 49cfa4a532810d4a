import { WEBHOOK_PATH } from '../../../lambda/contract/webhook-path.ts';
import { info, LICENCE, LICENCE_URL } from './document-facts.ts';
import { type DescribedEvent, describedEvents, otherPayloadSchema, payloadSchema } from './event-schemas.ts';
import type { JsonSchema } from './field-schemas.ts';
import { notificationSchema, type TopicName, topicOf, topics } from './notification-schemas.ts';
import {
  eventMessages,
  type Messages,
  parkedMessages,
  quarantinedSchema,
  quarantineMessages,
  storedPayloadSchema,
} from './queue-messages.ts';
import { customNotificationSchema, notificationMessages } from './topic-messages.ts';

interface Channel {
  readonly title: string;
  readonly description: string;
  readonly server: keyof typeof servers;
  /** The output of the stack that says where it is; undefined: its address is known. */
  readonly output?: string;
  readonly address?: string;
  readonly tag: keyof typeof tags;
  readonly binding: JsonSchema;
  readonly messages: Messages;
  /** What our application does with it, by the names of the operations. */
  readonly operations: Readonly<Record<string, Operation>>;
}

interface Operation {
  readonly action: 'send' | 'receive';
  readonly title: string;
  readonly description: string;
}

/** 3.1 adds nothing that is used here, and fewer tools read it. */
const VERSION = '3.0.0';

/** AsyncAPI 3.0 of what happens behind the endpoint: every queue and topic, and what is on it. */
export function asyncApiDocument(): JsonSchema {
  const events = describedEvents();
  const channels: Readonly<Record<string, Channel>> = {
    ...Object.assign({}, ...events.map(eventChannels)),
    UnroutedQueue: unrouted,
    QuarantineQueue: quarantine,
    ...Object.fromEntries(
      (Object.keys(topics) as TopicName[]).map((topic) => [
        topics[topic].name,
        topicChannel(
          topic,
          events.filter((event) => topicOf(event) === topic),
        ),
      ]),
    ),
  };
  return {
    asyncapi: VERSION,
    id: 'urn:partner-webhooks',
    info: {
      ...info('Partner webhooks: queues and topics', INTRODUCTION),
      contact: { name: 'Whoever runs the stack' },
      license: { name: `${LICENCE} licence`, url: LICENCE_URL },
      tags: [tags.delivery, tags.queue, tags.topic],
    },
    servers,
    defaultContentType: 'application/json',
    channels: Object.fromEntries(
      Object.entries(channels).map(([id, channel]) => [id, describedChannel(channel)]),
    ),
    operations: Object.assign({}, ...Object.entries(channels).map(describedOperations)),
    components: {
      schemas: {
        ...Object.fromEntries(events.map((event) => [event.schemaName, payloadSchema(event)])),
        OtherEvent: otherPayloadSchema(events),
        StoredPayload: storedPayloadSchema,
        Quarantined: quarantinedSchema,
        ...Object.fromEntries(
          events
            .filter((event) => topicOf(event) !== undefined)
            .map((event) => [`${event.schemaName}Notification`, notificationSchema(event)]),
        ),
        CustomNotification: customNotificationSchema,
      },
      messages: Object.assign({}, ...Object.values(channels).map(({ messages }) => messages)),
      securitySchemes: {
        aws: {
          type: 'http',
          scheme: 'AWS4-HMAC-SHA256',
          description: 'AWS Signature Version 4: an AWS SDK signs with the rights of a role.',
        },
        signature: {
          type: 'httpApiKey',
          in: 'header',
          name: SIGNATURE_HEADER,
          description: signatureDescription,
        },
      },
    },
  };
}

const INTRODUCTION = `What happens to an event after \`POST ${WEBHOOK_PATH}\` (openapi.json) has taken it, and what those get who subscribe.

An event is put on the queue of its kind, processed from there, and told of through a topic where people or other systems are to know. It may come more than once, and in any order: \`eventId\` is the same for the same bytes, and of two events the later \`timestamp\` wins.

Names of queues and topics are made at deployment: the outputs of the stack say them.`;

const region = { default: 'eu-central-1', description: 'Where the stack is deployed.' };

const securityRef = (name: 'aws' | 'signature') => ({ $ref: `#/components/securitySchemes/${name}` });

const tags = {
  delivery: { name: 'Deliveries', description: 'What the partner sends.' },
  queue: { name: 'Queues', description: 'What waits to be processed, or for somebody.' },
  topic: { name: 'Topics', description: 'What people and other systems are told.' },
};

const servers = {
  webhook: {
    host: '{host}',
    protocol: 'https',
    description: 'The endpoint that the partner posts to',
    variables: { host: { default: 'webhooks.example.org', description: 'Of the stage.' } },
    security: [securityRef('signature')],
  },
  sqs: {
    host: 'sqs.{region}.amazonaws.com',
    protocol: 'sqs',
    description: 'Amazon SQS',
    variables: { region },
    security: [securityRef('aws')],
  },
  sns: {
    host: 'sns.{region}.amazonaws.com',
    protocol: 'sns',
    description: 'Amazon SNS',
    variables: { region },
    security: [securityRef('aws')],
  },
};

const queueBinding = (name: string, deadLetterQueue?: string) => ({
  sqs: {
    queue: { name, fifoQueue: false },
    ...(deadLetterQueue !== undefined && { deadLetterQueue: { name: deadLetterQueue, fifoQueue: false } }),
    bindingVersion: '0.2.0',
  },
});

function eventChannels(described: DescribedEvent): Record<string, Channel> {
  const { event, name, schemaName, processing } = described;
  const { queued, dead } = eventMessages(described);
  const queue = `${schemaName}Queue`;
  const deadLetterQueue = `${schemaName}DeadLetterQueue`;
  return {
    [queue]: {
      title: `Queue of ${event}`,
      description: `Events that wait for their consumer. Output \`${queue}Url\`.`,
      server: 'sqs',
      binding: queueBinding(queue, deadLetterQueue),
      messages: queued,
      operations: {
        [`queue-${name}`]: {
          action: 'send',
          title: `Queue ${event}`,
          description: 'The receiver makes the event safe, and answers the partner.',
        },
        [`process-${name}`]: {
          action: 'receive',
          title: `Process ${event}`,
          description: `The consumer takes the event to ${processing}. What fails comes back, later each time.`,
        },
      },
    },
    [deadLetterQueue]: {
      title: `Dead-letter queue of ${event}`,
      description: `Messages that could not be processed, and wait for somebody. Output \`${deadLetterQueue}Url\`.`,
      server: 'sqs',
      binding: queueBinding(deadLetterQueue),
      messages: dead,
      operations: {
        [`bury-${name}`]: {
          action: 'send',
          title: `Bury ${event}`,
          description: 'The consumer gives a message up, and says why.',
        },
      },
    },
  };
}

const unrouted: Channel = {
  title: 'Unrouted queue',
  description:
    'Events of kinds that nobody has told us of. They wait for somebody. Output `UnroutedQueueUrl`.',
  server: 'sqs',
  binding: queueBinding('UnroutedQueue'),
  messages: parkedMessages,
  operations: {
    park: {
      action: 'send',
      title: 'Park an event',
      description: 'The receiver keeps an event of an unknown kind.',
    },
  },
};

const quarantine: Channel = {
  title: 'Quarantine queue',
  description:
    'What the partner has signed and nobody can use. It waits for somebody. Output `QuarantineQueueUrl`.',
  server: 'sqs',
  binding: queueBinding('QuarantineQueue'),
  messages: quarantineMessages,
  operations: {
    quarantine: {
      action: 'send',
      title: 'Quarantine a payload',
      description: 'The receiver keeps what it answers with 400.',
    },
  },
};

function topicChannel(topic: TopicName, events: readonly DescribedEvent[]): Channel {
  const { name, title, purpose } = topics[topic];
  return {
    title,
    description: `Tells of ${purpose}: each subscription gets one form, by its protocol. Output \`${name}Arn\`.`,
    server: 'sns',
    binding: { sns: { name, bindingVersion: '0.1.0' } },
    messages: Object.assign({}, ...events.map(notificationMessages)),
    operations: {
      [`notify-${topic}`]: {
        action: 'send',
        title: `Tell the ${title.toLowerCase()}`,
        description: 'A consumer tells of an event, once.',
      },
    },
  };
}

const describedChannel = ({ title, description, server, binding, messages }: Channel): JsonSchema => ({
  address: null,
  title,
  description,
  servers: [{ $ref: `#/servers/${server}` }],
  messages: Object.fromEntries(
    Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
  ),
  bindings: binding,
});

const describedOperations = ([id, { operations }]: [string, Channel]) =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      { ...operation, channel: { $ref: `#/channels/${id}` } },
    ]),
  );
