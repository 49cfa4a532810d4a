import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { requireEnvironment } from '../environment.ts';
import { type EventName, eventNames } from '../events/catalogue.ts';
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
import { isSmokeTest } from './request.ts';

/** A delivery without its payload. */
export type DeliveryMetadata = Omit<EventMetadata, 'event'>;

export interface QueueUrls {
  readonly events: Readonly<Record<EventName, string>>;
  readonly unrouted: string;
  readonly quarantine: string;
  /** The queue for probes of the smoke test. Nothing receives from it. */
  readonly smokeTest: string;
}

export function queueUrlsFromEnvironment(): QueueUrls {
  const environment = requireEnvironment([
    ...eventNames.map(queueUrlVariable),
    'UNROUTED_QUEUE_URL',
    'QUARANTINE_QUEUE_URL',
    'SMOKE_TEST_QUEUE_URL',
  ]);
  return {
    events: Object.fromEntries(
      eventNames.map((event) => [event, environment[queueUrlVariable(event)]]),
    ) as Record<EventName, string>,
    unrouted: environment.UNROUTED_QUEUE_URL as string,
    quarantine: environment.QUARANTINE_QUEUE_URL as string,
    smokeTest: environment.SMOKE_TEST_QUEUE_URL as string,
  };
}

/** Stores deliveries. Each method returns when SQS has the message, and throws otherwise. */
export class EventQueues {
  readonly #client: SQSClient;
  readonly #urls: QueueUrls;

  constructor(client: SQSClient, urls: QueueUrls) {
    this.#client = client;
    this.#urls = urls;
  }

  /** Puts an event on its own queue, an unknown kind on the unrouted one (decision D5). */
  async enqueue(
    { kind, event, text }: Exclude<ParsedPayload, { kind: 'unusable' }>,
    body: Buffer,
    delivery: DeliveryMetadata,
  ): Promise<void> {
    const queueUrl = kind === 'event' ? this.#urls.events[event.event] : this.#urls.unrouted;
    const escaped = escapeForSqs(text);
    const payloadKey = fitsMessage(escaped)
      ? undefined
      : await store(`${kind === 'event' ? event.event : 'unrouted'}/${delivery.eventId}`, body);
    await this.#client.send(
      new SendMessageCommand({
        QueueUrl: this.#unlessProbe(delivery, queueUrl),
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
        QueueUrl: this.#unlessProbe(delivery, this.#urls.quarantine),
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

  #unlessProbe({ requestId }: DeliveryMetadata, url: string): string {
    return isSmokeTest(requestId) ? this.#urls.smokeTest : url;
  }
}

async function store(key: string, body: Buffer): Promise<string> {
  const { putPayload } = await import('../queue/payload-store.ts');
  await putPayload(key, body);
  return key;
}
