import { WEBHOOK_PATH } from '../../../lambda/contract/webhook-path.ts';
import type { Channel } from './channel.ts';
import { deliveryMessages } from './delivery-messages.ts';
import type { DescribedEvent } from './event-schemas.ts';
import { type TopicName, topicOf, topics } from './notification-schemas.ts';
import { eventMessages, parkedMessages, quarantineMessages } from './queue-messages.ts';
import { notificationMessages } from './topic-messages.ts';

/** Every channel by its name: that of the output which says where it is, less what it says. */
export function channelsOf(events: readonly DescribedEvent[]): Readonly<Record<string, Channel>> {
  return {
    PartnerWebhook: partnerWebhook(events),
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
}

const partnerWebhook = (events: readonly DescribedEvent[]): Channel => ({
  title: 'Endpoint',
  description: 'What the partner posts; openapi.json says how it is answered.',
  server: 'webhook',
  address: { path: WEBHOOK_PATH },
  messages: deliveryMessages(events),
  operations: {
    'receive-event': {
      action: 'receive',
      title: 'Receive an event',
      description: 'The receiver proves who sent the bytes, makes them safe, and answers.',
      bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
    },
  },
});

/** A standard queue, by the name that other bindings would have for it. */
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
      description: 'Events that wait for their consumer.',
      server: 'sqs',
      address: { output: `${queue}Url` },
      bindings: queueBinding(queue, deadLetterQueue),
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
      description: 'Messages that could not be processed, and wait for somebody.',
      server: 'sqs',
      address: { output: `${deadLetterQueue}Url` },
      bindings: queueBinding(deadLetterQueue),
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
  description: 'Events of kinds that nobody has told us of. They wait for somebody.',
  server: 'sqs',
  address: { output: 'UnroutedQueueUrl' },
  bindings: queueBinding('UnroutedQueue'),
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
  description: 'What the partner has signed and nobody can use. It waits for somebody.',
  server: 'sqs',
  address: { output: 'QuarantineQueueUrl' },
  bindings: queueBinding('QuarantineQueue'),
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
  const { name, output, title, purpose } = topics[topic];
  return {
    title,
    description: `Tells of ${purpose}. A subscription gets one form of each notification, by its protocol.`,
    server: 'sns',
    address: { output },
    bindings: { sns: { name, bindingVersion: '0.1.0' } },
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
