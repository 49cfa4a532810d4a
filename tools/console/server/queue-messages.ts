import type { InspectedMessage } from 'local-aws';
import { payloadPreview } from '../../stage/history/payload-preview.ts';
import { refusalOf } from '../../stage/operation.ts';
import { eventAndShop } from '../../stage/payload-filter.ts';
import { copyKey, groupCopies, type ListedMessage } from '../../stage/queues/copies.ts';
import { forEachMessage, MAX_SEARCHED } from '../../stage/queues/for-each-message.ts';
import { sourceQueueUrl, type WaitingQueue, waitingQueues } from '../../stage/queues/queue.ts';
import {
  attributeText,
  payloadInMessage,
  type ReceivedMessage,
  readPayload,
  reasonOf,
  UnreadablePayloadError,
} from '../../stage/queues/received-message.ts';
import type { Stage } from '../../stage/stage.ts';
import type { DeadLetters, QueueMessage, QueueMessages } from '../api.ts';
import { ApiProblem, forbidden, notFound } from './api-problem.ts';
import type { ConsoleContext } from './console-context.ts';

/**
 * Maximum number of messages of a queue to list. On a stage each call receives 10, and hides them from others
 * meanwhile.
 */
const MAX_READ = 500;

/**
 * The messages of a queue, with copies as one. Deletes none.
 * @param name an event, `dead:<event>`, `quarantine` or `unrouted`
 * @throws ApiProblem if the queue does not exist, or if reading it would count as an attempt
 */
export const queueMessages = (reader: QueueReader, name: string): Promise<QueueMessages> =>
  messagesOf(reader, findQueue(reader, name));

/**
 * The dead letters of every event. Reads one queue after the other.
 * @throws ApiProblem in read-only mode, if reading would receive messages
 */
export async function deadLetters(reader: QueueReader): Promise<DeadLetters> {
  assertMayReceive(reader);
  const { stage } = reader.source;
  const problems = new PartialFailures(stage.local);
  const limited: string[] = [];
  const messages: QueueMessage[] = [];
  for (const waiting of waitingQueues(stage).filter(({ kind }) => kind === 'dead-letter')) {
    if (reader.signal.aborted) break;
    const queue = { name: addressName(waiting), url: waiting.url, waiting };
    const seen = await problems.unless(waiting.title, messagesOf(reader, queue));
    if (seen?.limited) limited.push(waiting.name);
    messages.push(...(seen?.messages ?? []));
  }
  return { messages, limited, problems: problems.lines() };
}

/**
 * The bytes that the partner sent, from one message. On a stage, receives messages until it is found, at most
 * {@link MAX_SEARCHED}.
 * @throws ApiProblem if the message is not found, or its bytes are no longer stored
 */
export async function messagePayload(reader: QueueReader, name: string, id: string): Promise<Buffer> {
  const { url, waiting = OWN_QUEUE } = findQueue(reader, name);
  const found = new AbortController();
  let payload: Buffer | undefined;
  const visit = async (message: SeenMessage) => {
    if (message.id !== id) return;
    payload = await readPayload(reader.source.stage, waiting, message).catch((error: unknown) => {
      throw error instanceof UnreadablePayloadError ? notFound(error.message) : error;
    });
    found.abort();
  };
  const signal = AbortSignal.any([reader.signal, found.signal]);
  const limited = await visitMessages({ ...reader, signal }, url, MAX_SEARCHED, visit);
  if (payload !== undefined) return payload;
  throw notFound(
    limited
      ? `The message is not among the ${MAX_SEARCHED.toLocaleString('en')} messages that were read. The queue has more`
      : 'The message is no longer on this queue, or another client is reading it. Load the list again',
  );
}

/** A queue whose messages the page shows. */
interface ReadableQueue extends Pick<WaitingQueue, 'url'> {
  /** Name of the queue in an address: `dead:shop.updated`. */
  readonly name: string;
  /** Undefined for an event's own queue, which a consumer reads. */
  readonly waiting?: WaitingQueue | undefined;
}

const addressName = ({ kind, name }: WaitingQueue) => (kind === 'dead-letter' ? `dead:${name}` : name);

/** Kind to parse an event's own queue as: its messages have the same form as dead letters. */
const OWN_QUEUE = { kind: 'dead-letter' } as const;

type SeenMessage = Pick<ReceivedMessage, 'id' | 'body' | 'attributes' | 'sentAt' | 'receives'> &
  Pick<QueueMessage, 'state'>;

/** What reading a queue needs. On the local stack, messages are read without receiving them. */
type QueueReader = Pick<ConsoleContext, 'source' | 'local' | 'queueLocks' | 'readOnly'> & {
  readonly signal: AbortSignal;
};

/** @throws ApiProblem if the queue does not exist, or if reading it would count as an attempt */
function findQueue({ source: { stage }, local }: QueueReader, name: string): ReadableQueue {
  const waiting = waitingQueues(stage).find((queue) => name === addressName(queue));
  const url = waiting?.url ?? sourceQueueUrl(stage, name);
  if (url === undefined) throw notFound(`There is no queue '${name}' in ${stage.title}`);
  if (waiting === undefined && local === undefined) {
    throw new ApiProblem(
      'counts-as-attempt',
      409,
      'Reading it would count as an attempt',
      `SQS shows a message only to a client that receives it, and each receive of ${name} is one of its ten attempts. The deliveries show what is being retried`,
    );
  }
  return { name, url, waiting };
}

/**
 * @throws ApiProblem in read-only mode if reading means receiving messages, which hides them for some time
 */
function assertMayReceive({ local, readOnly }: QueueReader): void {
  if (local !== undefined || !readOnly) return;
  const detail =
    'SQS shows a message only to a client that receives it, which counts and hides it for a while. The queues show how many there are. To see them, start the console without --read-only';
  throw forbidden('read-only', detail);
}

/**
 * Calls a function with each message of a queue, up to a limit.
 * @returns whether the queue may have more
 */
async function visitMessages(
  reader: QueueReader,
  url: string,
  limit: number,
  visit: (message: SeenMessage) => Promise<void>,
): Promise<boolean> {
  assertMayReceive(reader);
  const { source, local, queueLocks, signal } = reader;
  if (local !== undefined) {
    const all = await local.stack.inspectQueue(url);
    for (const message of all.slice(0, limit)) await visit(inspected(message));
    return all.length > limit;
  }
  return await queueLocks.read(url, async () => {
    const { limited } = await forEachMessage(source.stage, url, { signal, limit }, async (message) => {
      await visit({ ...message, state: 'waiting' });
      return 'stays';
    });
    return limited;
  });
}

function inspected({ attributes, ...message }: InspectedMessage): SeenMessage {
  const typed = Object.entries(attributes).map(
    ([name, StringValue]) => [name, { DataType: 'String', StringValue }] as const,
  );
  return { ...message, attributes: Object.fromEntries(typed) };
}

/** The messages of a queue with copies as one, and whether there are more. */
async function messagesOf(reader: QueueReader, queue: ReadableQueue): Promise<QueueMessages> {
  const listed: ListedMessage<MessageOnQueue>[] = [];
  const limited = await visitMessages(reader, queue.url, MAX_READ, async (message) => {
    listed.push({
      // The consumer of an event's own queue processes copies one by one, so each is listed.
      key: queue.waiting === undefined ? message.id : copyKey(queue.waiting, message),
      at: message.sentAt.toISOString(),
      shown: await describeMessage(reader.source.stage, queue, message),
    });
  });
  const messages = groupCopies(listed).map(({ shown, copies, firstAt }) => ({
    ...shown,
    copies,
    firstSentAt: firstAt,
  }));
  return { messages, limited };
}

type MessageOnQueue = Omit<QueueMessage, 'copies' | 'firstSentAt'>;

/**
 * The event that the queue belongs to or that the receiver recognised. Undefined for a quarantined message, whose event
 * only the payload may name.
 */
function eventOf(waiting: WaitingQueue | undefined, message: SeenMessage): string | undefined {
  if (waiting?.kind === 'quarantine') return undefined;
  return waiting?.kind === 'dead-letter' ? waiting.name : attributeText(message, 'event');
}

/** What is known of a message, without its payload, which may have 1 MiB. */
async function describeMessage(
  stage: Stage,
  { name, waiting }: ReadableQueue,
  message: SeenMessage,
): Promise<MessageOnQueue> {
  const isLarge = attributeText(message, 'payloadKey') !== undefined;
  const payload =
    (await payloadInMessage(stage, waiting ?? OWN_QUEUE, message)) ??
    (isLarge ? undefined : Buffer.from(message.body));
  const { event, shopId } = payload === undefined ? {} : eventAndShop(payload);
  const fields = {
    eventId: attributeText(message, 'eventId'),
    event: eventOf(waiting, message) ?? event,
    shopId,
    requestId: attributeText(message, 'requestId'),
    reason: waiting && reasonOf(message, waiting),
    preview: payload && payloadPreview(payload),
  };
  const { id, sentAt, receives, state } = message;
  return {
    id,
    queue: name,
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    sentAt: sentAt.toISOString(),
    receives,
    state,
  };
}

/** Collects what could not be read: one line for each reason, which names all its subjects. */
export class PartialFailures {
  readonly #local: boolean;
  readonly #subjects = new Map<string, string[]>();

  /** @param local whether errors are worded for the local stack, not for AWS */
  constructor(local: boolean) {
    this.#local = local;
  }

  /**
   * @param subject what is read, for the text: `the queue of shop.updated`
   * @returns undefined if the read failed
   * @throws the error if it is a bug of the console
   */
  async unless<Known>(subject: string, read: Promise<Known>): Promise<Known | undefined> {
    try {
      return await read;
    } catch (error) {
      const reason = error instanceof ApiProblem ? error.message : refusalOf(error, this.#local);
      this.#subjects.set(reason, [...(this.#subjects.get(reason) ?? []), subject]);
      return undefined;
    }
  }

  lines(): string[] {
    return [...this.#subjects].map(([reason, subjects]) => `${subjects.join(', ')}: ${reason}`);
  }
}
