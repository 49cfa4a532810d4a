import type { InspectedMessage } from 'local-aws';
import { payloadPreview } from '../../stage/history/payload-preview.ts';
import { refusalOf } from '../../stage/operation.ts';
import { eventAndShop } from '../../stage/payload-filter.ts';
import { copyKey, groupCopies, type ListedMessage } from '../../stage/queues/copies.ts';
import { forEachMessage, MAX_SEARCHED } from '../../stage/queues/for-each-message.ts';
import { type WaitingQueue, waitingQueues } from '../../stage/queues/queue.ts';
import {
  attributesOf,
  bytesInMessage,
  describeMessage,
  type ReadMessage,
  readPayload,
  UnreadablePayloadError,
} from '../../stage/queues/received-message.ts';
import type { NeedsYouMessage, WaitingMessages } from '../api.ts';
import { ApiProblem, forbidden, notFound } from './api-problem.ts';
import type { ConsoleContext } from './console-context.ts';

/**
 * Maximum number of messages of a queue to list. On a stage each call receives 10, and hides them from others
 * meanwhile.
 */
const MAX_READ = 500;

/**
 * The messages that wait for a person, of every queue, with copies as one. Deletes none. Reads one queue after the
 * other.
 * @throws ApiProblem in read-only mode, if reading would receive messages
 */
export async function waitingMessages(reader: QueueReader): Promise<WaitingMessages> {
  assertMayReceive(reader);
  const { stage } = reader.source;
  const problems = new PartialFailures(stage.local);
  const limited: string[] = [];
  const messages: NeedsYouMessage[] = [];
  for (const queue of waitingQueues(stage)) {
    if (reader.signal.aborted) break;
    const seen = await problems.unless(queue.title, messagesOf(reader, queue));
    if (seen?.limited) limited.push(queue.name);
    messages.push(...(seen?.messages ?? []));
  }
  return { messages, limited, problems: problems.lines() };
}

/**
 * The bytes that the partner sent, from one message. On a stage, receives messages until it is found, at most
 * {@link MAX_SEARCHED}.
 * @param name an event, whose dead-letter queue has the message, `quarantine` or `unrouted`
 * @throws ApiProblem if the message is not found, or its bytes are no longer stored
 */
export async function messagePayload(reader: QueueReader, name: string, id: string): Promise<Buffer> {
  const { stage } = reader.source;
  const waiting = waitingQueues(stage).find((queue) => queue.name === name);
  if (waiting === undefined) throw notFound(`There is no queue '${name}' in ${stage.title}`);
  const found = new AbortController();
  let payload: Buffer | undefined;
  const visit = async (message: ReadMessage) => {
    if (message.id !== id) return;
    payload = await readPayload(reader.source.stage, waiting, message).catch((error: unknown) => {
      throw error instanceof UnreadablePayloadError ? notFound(error.message) : error;
    });
    found.abort();
  };
  const signal = AbortSignal.any([reader.signal, found.signal]);
  const limited = await visitMessages({ ...reader, signal }, waiting.url, MAX_SEARCHED, visit);
  if (payload !== undefined) return payload;
  throw notFound(
    limited
      ? `The message is not among the ${MAX_SEARCHED.toLocaleString('en')} messages that were read. The queue has more`
      : 'The message is no longer on this queue, or another client is reading it. Load the list again',
  );
}

/** What reading a queue needs. On the local stack, messages are read without receiving them. */
type QueueReader = Pick<ConsoleContext, 'source' | 'local' | 'queueLocks' | 'readOnly'> & {
  readonly signal: AbortSignal;
};

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
  visit: (message: ReadMessage) => Promise<void>,
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
      await visit(message);
      return 'stays';
    });
    return limited;
  });
}

function inspected({ attributes, ...message }: InspectedMessage): ReadMessage {
  const typed = Object.entries(attributes).map(
    ([name, StringValue]) => [name, { DataType: 'String', StringValue }] as const,
  );
  return { ...message, attributes: Object.fromEntries(typed) };
}

/** The messages of a queue with copies as one, and whether there are more. */
async function messagesOf(reader: QueueReader, queue: WaitingQueue) {
  const listed: ListedMessage<MessageOnQueue>[] = [];
  const limited = await visitMessages(reader, queue.url, MAX_READ, async (message) => {
    listed.push({
      key: copyKey(queue, message),
      at: message.sentAt.toISOString(),
      shown: listedMessage(queue, message),
    });
  });
  const messages: NeedsYouMessage[] = groupCopies(listed).map(({ shown, copies, firstAt }) => ({
    ...shown,
    copies,
    firstSentAt: firstAt,
  }));
  return { messages, limited };
}

type MessageOnQueue = Omit<NeedsYouMessage, 'copies' | 'firstSentAt'>;

/** A message for the list, without its payload, which may have 1 MiB. */
function listedMessage(queue: WaitingQueue, message: ReadMessage): MessageOnQueue {
  const isLarge = attributesOf(message).payloadKey !== undefined;
  const payload = bytesInMessage(queue, message) ?? (isLarge ? undefined : Buffer.from(message.body));
  const { event, shopId } = payload === undefined ? {} : eventAndShop(payload);
  const { messageId: id, reason, sentAt, ...known } = describeMessage(queue, message);
  const { eventId, requestId } = known;
  const preview = payload && payloadPreview(payload);
  const fields = { eventId, event: known.event ?? event, shopId, requestId, preview };
  return {
    id,
    queue: queue.name,
    reason,
    sentAt,
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
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
