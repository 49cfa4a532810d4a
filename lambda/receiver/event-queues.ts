import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { type EventName, eventNames } from '../contract/catalogue.ts';
import { describeProblems, type Parsed, type Problem } from '../contract/envelope.ts';
import { queueUrlVariable } from '../contract/event-names.ts';
import { requireEnvironment } from '../environment.ts';
import { MAXIMUM_ATTRIBUTE_LENGTH, stringAttribute } from '../message-attribute.ts';
import { attribute, escapeForSqs, eventAttributes, messageGroupId } from '../queue/message.ts';

/** What the receiver knows of a delivery besides its payload. */
export interface Delivery {
  readonly eventId: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly requestId: string;
}

export interface QueueUrls {
  readonly events: Readonly<Record<EventName, string>>;
  readonly unrouted: string;
  readonly quarantine: string;
}

/** Reads where the queues are. @throws Error naming every missing variable */
export function queueUrlsFromEnvironment(): QueueUrls {
  const environment = requireEnvironment([
    ...eventNames.map(queueUrlVariable),
    'UNROUTED_QUEUE_URL',
    'QUARANTINE_QUEUE_URL',
  ]);
  return {
    events: Object.fromEntries(
      eventNames.map((event) => [event, environment[queueUrlVariable(event)]]),
    ) as Record<EventName, string>,
    unrouted: environment.UNROUTED_QUEUE_URL as string,
    quarantine: environment.QUARANTINE_QUEUE_URL as string,
  };
}

/** Makes deliveries durable: each method returns once SQS has the message, and throws where it has not. */
export class EventQueues {
  readonly #client: SQSClient;
  readonly #urls: QueueUrls;

  constructor(client: SQSClient, urls: QueueUrls) {
    this.#client = client;
    this.#urls = urls;
  }

  /** Puts an event on its own queue, an unknown kind on the unrouted one (design D5). */
  async enqueue(parsed: Exclude<Parsed, { kind: 'unusable' }>, delivery: Delivery): Promise<void> {
    const { event, sentData } = parsed.event;
    await this.#client.send(
      new SendMessageCommand({
        QueueUrl: parsed.kind === 'event' ? this.#urls.events[parsed.event.event] : this.#urls.unrouted,
        MessageBody: escapeForSqs(parsed.text),
        MessageGroupId: messageGroupId(sentData.shop_id),
        MessageAttributes: eventAttributes({ event, ...delivery }),
      }),
    );
  }

  /** Keeps a signed but unusable payload, byte for byte, with the reason (design D4). */
  async quarantine(body: Buffer, problems: readonly Problem[], delivery: Delivery): Promise<void> {
    const reason = describeProblems(problems);
    await this.#client.send(
      new SendMessageCommand({
        QueueUrl: this.#urls.quarantine,
        MessageBody: JSON.stringify({ problems, bodyBase64: body.toString('base64') }),
        MessageAttributes: {
          ...eventAttributes({ event: 'unusable', ...delivery }),
          [attribute.reason]: stringAttribute(reason.slice(0, MAXIMUM_ATTRIBUTE_LENGTH)),
        },
      }),
    );
  }
}
