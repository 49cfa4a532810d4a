import { isUtf8 } from 'node:buffer';
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  type Message,
  type MessageAttributeValue,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { MAX_INSPECTION_SECONDS } from '../../../lambda/limits.ts';
import { isObject, jsonOf } from '../history/json.ts';
import { MissingOutputError, type Stage } from '../stage.ts';
import { type AnyQueue, queueState } from './queue.ts';

/** A message that this process has received, so that nobody else can receive it now. */
export interface ReceivedMessage {
  readonly id: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, MessageAttributeValue>>;
  /** When it was sent to this queue. If SQS moved it here, when it was sent to the previous queue. */
  readonly sentAt: Date;
  /** Receives from this queue. `dlq` commands and the console receive a message each time that they read it. */
  readonly receives: number;
  readonly groupId: string | undefined;
  /** SQS moved it here after too many receives, so the message has no reason from a consumer. */
  readonly movedBySqs: boolean;
}

function receivedMessage(message: Message): ReceivedMessage {
  const { MessageId = '', ReceiptHandle = '', Body = '', Attributes = {}, MessageAttributes = {} } = message;
  return {
    id: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: MessageAttributes,
    sentAt: new Date(Number(Attributes.SentTimestamp)),
    receives: Number(Attributes.ApproximateReceiveCount),
    groupId: Attributes.MessageGroupId,
    movedBySqs: Attributes.DeadLetterQueueSourceArn !== undefined,
  };
}

type MessageAttributes = Pick<ReceivedMessage, 'attributes' | 'movedBySqs'>;

/** An attribute that the receiver or a consumer set on the message (docs/decisions.md). */
export function attributeText(
  { attributes }: Pick<MessageAttributes, 'attributes'>,
  name: string,
): string | undefined {
  return attributes[name]?.StringValue;
}

/** An attribute that the consumer set when it gave up the message. Undefined if SQS moved the message. */
export function failureAttribute(
  message: MessageAttributes,
  name: 'failureReason' | 'failedAt',
): string | undefined {
  // If SQS moved the message after a redrive, the attributes belong to the failure before the redrive.
  return message.movedBySqs ? undefined : attributeText(message, name);
}

/** Attributes for programs. Binary ones are in base64. */
export const attributesOf = ({ attributes }: Pick<MessageAttributes, 'attributes'>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, { StringValue, BinaryValue }]) => [
      name,
      StringValue ?? Buffer.from(BinaryValue ?? []).toString('base64'),
    ]),
  );

/** Why the message is on this queue. */
export function reasonOf(message: MessageAttributes, { kind }: Pick<AnyQueue, 'kind'>): string {
  if (kind === 'quarantine') {
    return attributeText(message, 'reason') ?? 'no reason: it was not sent by the receiver';
  }
  if (kind === 'unrouted') return `event kind '${attributeText(message, 'event')}' had no consumer`;
  const reason = failureAttribute(message, 'failureReason');
  if (reason !== undefined) return reason;
  if (kind === 'removed' && !message.movedBySqs) return 'it waited when its consumer was removed';
  return 'SQS moved it after too many receives: the consumer crashed, timed out or could not start';
}

/** Maximum messages per call. Source: SQS API reference, `ReceiveMessage`. */
const PAGE = 10;

/**
 * Pages in a row without a new message, after which all messages have been seen. If visiting takes long, messages that
 * were seen become visible and are received again.
 */
const PAGES_WITHOUT_NEW = 3;

/** Maximum number of messages that one call visits. SQS allows 120,000 in flight. */
const MAX_VISITED = 100_000;

/** Number of batches that are made visible at the same time. */
const GIVEN_BACK_AT_ONCE = 8;

/**
 * Receives each message of a queue once, page by page. Nobody else can receive the messages meanwhile. If this process
 * dies, they stay hidden for {@link hiddenSeconds}. An abort ends the visits after the current page.
 * @param visit is called for all messages of a page at the same time. It returns `settled` only if the message is safely
 * stored elsewhere: the message is then deleted. After `stays`, the message becomes visible again
 * @returns `seen`: number of messages; `undeleted`: ids of settled messages that could not be deleted, so they are still
 * on this queue, too; `limited`: the limit was reached, so there may be more
 * @throws errors of `visit`, after the messages were made visible again
 * @example
 * const { seen } = await forEachMessage(stage, queue.url, { signal, limit: 100 }, async ({ id }) => {
 *   print(id);
 *   return 'stays';
 * });
 */
export async function forEachMessage(
  { sqs, waitSeconds }: Pick<Stage, 'sqs' | 'waitSeconds'>,
  url: string,
  { signal, limit = MAX_VISITED }: { readonly signal: AbortSignal; readonly limit?: number },
  visit: (message: ReceivedMessage) => Promise<'settled' | 'stays'>,
): Promise<{ readonly seen: number; readonly undeleted: readonly string[]; readonly limited: boolean }> {
  const visibilityTimeout = hiddenSeconds(Math.min(limit, (await queueState(sqs, url)).visible));
  const visited = new Set<string>();
  /** Receipt handles by message. A later receive replaces an earlier one. */
  const received = new Map<string, string>();
  const undeleted: string[] = [];

  async function visitOne(message: ReceivedMessage): Promise<void> {
    if ((await visit(message)) === 'stays') return;
    received.delete(message.id);
    try {
      await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: message.receiptHandle }));
    } catch {
      undeleted.push(message.id);
    }
  }

  let withoutNew = 0;
  try {
    while (!signal.aborted && visited.size < limit && withoutNew < PAGES_WITHOUT_NEW) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: url,
          MaxNumberOfMessages: Math.min(PAGE, limit - visited.size),
          VisibilityTimeout: visibilityTimeout,
          WaitTimeSeconds: waitSeconds,
          MessageAttributeNames: ['All'],
          MessageSystemAttributeNames: ['All'],
        }),
      );
      if (Messages.length === 0) break;
      const page = Messages.map(receivedMessage);
      for (const { id, receiptHandle } of page) received.set(id, receiptHandle);
      const fresh = page.filter(({ id }) => !visited.has(id));
      withoutNew = fresh.length === 0 ? withoutNew + 1 : 0;
      for (const { id } of fresh) visited.add(id);
      const visits = await Promise.allSettled(fresh.map(visitOne));
      const failure = visits.find((result) => result.status === 'rejected');
      if (failure) throw failure.reason;
    }
  } finally {
    await giveBack(sqs, url, [...received.values()]);
  }
  return { seen: visited.size, undeleted, limited: visited.size >= limit };
}

/** Whether a queue has a message that can be received now. SQS's counts are up to a minute late. */
export async function hasMessage(stack: Pick<Stage, 'sqs' | 'waitSeconds'>, url: string): Promise<boolean> {
  const signal = new AbortController().signal;
  const { seen } = await forEachMessage(stack, url, { signal, limit: 1 }, async () => 'stays');
  return seen > 0;
}

/**
 * Seconds for which visited messages are hidden: a minute, and the time to visit them at 50 a second. At most 15
 * minutes.
 */
function hiddenSeconds(count: number): number {
  return Math.min(MAX_INSPECTION_SECONDS, 60 + Math.ceil(count / 50));
}

/** Makes messages visible again. If that fails, SQS does so when their visibility timeout ends. */
async function giveBack(sqs: SQSClient, url: string, receipts: readonly string[]): Promise<void> {
  const batches = Array.from({ length: Math.ceil(receipts.length / PAGE) }, (_, index) =>
    receipts.slice(index * PAGE, (index + 1) * PAGE),
  );
  const worker = async () => {
    for (let batch = batches.shift(); batch; batch = batches.shift()) {
      const Entries = batch.map((ReceiptHandle, index) => ({
        Id: String(index),
        ReceiptHandle,
        VisibilityTimeout: 0,
      }));
      await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries })).catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: GIVEN_BACK_AT_ONCE }, worker));
}

/** A message's payload cannot be read. The error message gives the reason, without the payload. */
export class UnreadablePayloadError extends Error {
  override readonly name = 'UnreadablePayloadError';
}

/** A payload that was too large for a message. Undefined if it has expired or was forgotten. */
export async function storedPayload(stage: Stage, key: string): Promise<Buffer | undefined> {
  try {
    const { Body } = await stage.s3.send(new GetObjectCommand({ Bucket: stage.payloadBucket, Key: key }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

/**
 * The partner's bytes: from the message, from the quarantine's wrapper, or from S3 if they were too large. Messages on
 * an event's queue have U+FFFE and U+FFFF escaped.
 * @throws UnreadablePayloadError
 */
export async function readPayload(
  stage: Stage,
  { kind }: Pick<AnyQueue, 'kind'>,
  message: Pick<ReceivedMessage, 'attributes' | 'body'>,
): Promise<Buffer> {
  const key = attributeText(message, 'payloadKey');
  if (key !== undefined) {
    const stored = await storedPayload(stage, key);
    if (stored === undefined) throw new UnreadablePayloadError(`S3 no longer has it under ${key}`);
    return stored;
  }
  if (kind !== 'quarantine') return Buffer.from(message.body);
  const bodyBase64 = wrappedBody(message.body);
  if (bodyBase64 === undefined) {
    throw new UnreadablePayloadError('the message has no bodyBase64: it was not sent by the receiver');
  }
  return Buffer.from(bodyBase64, 'base64');
}

/**
 * The partner's bytes if the message contains them. Undefined if they are in S3, or it was not sent by the receiver.
 */
export async function payloadInMessage(
  ...[stage, queue, message]: Parameters<typeof readPayload>
): Promise<Buffer | undefined> {
  if (attributeText(message, 'payloadKey') !== undefined) return undefined;
  return await readPayload(stage, queue, message).catch(() => undefined);
}

/**
 * For programs: the partner's data as `body` if it is text, otherwise as `bodyBase64`, or the reason as `unreadable`.
 */
export async function payloadFields(
  ...[stage, queue, message]: Parameters<typeof readPayload>
): Promise<{ readonly body?: string; readonly bodyBase64?: string; readonly unreadable?: string }> {
  try {
    const bytes = await readPayload(stage, queue, message);
    return isUtf8(bytes) ? { body: bytes.toString() } : { bodyBase64: bytes.toString('base64') };
  } catch (error) {
    if (error instanceof UnreadablePayloadError || error instanceof MissingOutputError) {
      return { unreadable: error.message };
    }
    throw error;
  }
}

/** The partner's bytes in base64. Undefined if the message was not sent by the receiver, or its payload is in S3. */
export function wrappedBody(text: string): string | undefined {
  const wrapper = jsonOf(text);
  return isObject(wrapper) && typeof wrapper.bodyBase64 === 'string' ? wrapper.bodyBase64 : undefined;
}
