import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { requireEnvironment } from '../environment.ts';
import { type EventName, eventNames, isEventName } from '../events/catalogue.ts';
import { describeProblems, type FieldProblem, type ParsedPayload } from '../events/envelope.ts';
import { queueUrlVariable } from '../events/event-names.ts';
import {
  attribute,
  type EventMetadata,
  escapeForSqs,
  eventAttributes,
  fitsMessage,
  messageGroupId,
  readableText,
  stringAttribute,
  traceAttribute,
} from '../queue/message.ts';

/** A delivery without its payload. */
export type DeliveryMetadata = Omit<EventMetadata, 'event'>;

type QueueName = EventName | 'unrouted' | 'quarantine';

/** The URL of a queue. */
export type QueueUrl = (queue: QueueName) => string;

export function queueUrlsFromEnvironment(): QueueUrl {
  const variableOf = (queue: QueueName) =>
    isEventName(queue) ? queueUrlVariable(queue) : `${queue.toUpperCase()}_QUEUE_URL`;
  const queues: readonly QueueName[] = [...eventNames, 'unrouted', 'quarantine'];
  const urls = requireEnvironment(queues.map(variableOf));
  return (queue) => urls[variableOf(queue)] as string;
}

/** Stores deliveries. Each method returns when SQS has the message, and throws otherwise. */
export class EventQueues {
  readonly #client: SQSClient;
  readonly #urlOf: QueueUrl;

  constructor(client: SQSClient, urlOf: QueueUrl) {
    this.#client = client;
    this.#urlOf = urlOf;
  }

  /** Puts an event on its own queue, an unknown kind on the unrouted one (decision D5). */
  async enqueue(
    { kind, event, text }: Exclude<ParsedPayload, { kind: 'unusable' }>,
    body: Buffer,
    delivery: DeliveryMetadata,
  ): Promise<void> {
    const queue = kind === 'event' ? event.event : 'unrouted';
    const escaped = escapeForSqs(text);
    const payloadKey = fitsMessage(escaped) ? undefined : await store(`${queue}/${delivery.eventId}`, body);
    await this.#client.send(
      new SendMessageCommand({
        QueueUrl: this.#urlOf(queue),
        MessageBody: payloadKey === undefined ? escaped : JSON.stringify({ payloadKey }),
        MessageGroupId: messageGroupId(event.sentShopId),
        ...traceAttribute(process.env._X_AMZN_TRACE_ID),
        MessageAttributes: {
          ...eventAttributes({ event: event.event, ...delivery }),
          ...(payloadKey !== undefined && { [attribute.payloadKey]: stringAttribute(payloadKey) }),
        },
      }),
    );
  }

  /** Stores a signed but unusable payload, byte for byte, with the reason (decision D4). */
  async quarantine(
    body: Buffer,
    problems: readonly FieldProblem[],
    delivery: DeliveryMetadata,
  ): Promise<void> {
    const whole = JSON.stringify({ problems, bodyBase64: body.toString('base64') });
    const payloadKey = fitsMessage(whole) ? undefined : await store(`quarantine/${delivery.eventId}`, body);
    const reason = readableText(describeProblems(problems));
    await this.#client.send(
      new SendMessageCommand({
        QueueUrl: this.#urlOf('quarantine'),
        MessageBody: payloadKey === undefined ? whole : JSON.stringify({ problems, payloadKey }),
        ...traceAttribute(process.env._X_AMZN_TRACE_ID),
        MessageAttributes: {
          ...eventAttributes({ event: 'unusable', ...delivery }),
          [attribute.reason]: stringAttribute(reason),
          ...(payloadKey !== undefined && { [attribute.payloadKey]: stringAttribute(payloadKey) }),
        },
      }),
    );
  }
}

async function store(key: string, body: Buffer): Promise<string> {
  const { putPayload } = await import('../queue/payload-store.ts');
  await putPayload(key, body);
  return key;
}
