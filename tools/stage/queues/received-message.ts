import { isUtf8 } from 'node:buffer';
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import type { Message } from '@aws-sdk/client-sqs';
import { sha256Hex } from '../../../lambda/hash.ts';
import { attribute } from '../../../lambda/queue/message.ts';
import { isObject, jsonOf } from '../json.ts';
import type { Stage } from '../stage.ts';
import type { WaitingQueue } from './queue.ts';

/** A message as it was read, also without receiving it. */
export interface ReadMessage {
  readonly queue: WaitingQueue;
  readonly id: string;
  readonly body: string;
  /** Those that the receiver or a consumer set (docs/decisions.md). Binary ones are in base64. */
  readonly attributes: Readonly<Record<string, string | undefined>>;
  /** When it was sent to this queue. If SQS moved it here, when it was sent to the previous queue. */
  readonly sentAt: Date;
}

/** A message that this process has received, so that nobody else can receive it now. */
export interface ReceivedMessage extends ReadMessage {
  /** As SQS has it. */
  readonly received: Message;
}

export function receivedMessage(queue: WaitingQueue, received: Message): ReceivedMessage {
  const { MessageId = '', Body = '', Attributes = {}, MessageAttributes = {} } = received;
  const attributes = Object.entries(MessageAttributes).map(([name, { StringValue, BinaryValue }]) => [
    name,
    StringValue ?? Buffer.from(BinaryValue ?? []).toString('base64'),
  ]);
  const sentAt = new Date(Number(Attributes.SentTimestamp));
  return { queue, id: MessageId, body: Body, attributes: Object.fromEntries(attributes), sentAt, received };
}

/** What a message says of itself, without its payload. Times are in ISO 8601. */
export function describeMessage(message: ReadMessage) {
  const { eventId, requestId, failedAt, receivedAt, payloadKey } = message.attributes;
  return {
    messageId: message.id,
    reason: reasonOf(message),
    event: knownEvent(message),
    ...{ eventId, requestId, failedAt, receivedAt, payloadKey },
    sentAt: message.sentAt.toISOString(),
  };
}

/** The event of a message. Undefined in quarantine, where only the payload may name it. */
export function knownEvent({ queue: { kind, name }, attributes }: ReadMessage): string | undefined {
  if (kind === 'quarantine') return undefined;
  return kind === 'dead-letter' ? name : attributes.event;
}

/** Why a message is on its queue. */
function reasonOf({ queue: { kind }, attributes: { event, reason, failureReason } }: ReadMessage): string {
  if (kind === 'quarantine') return reason ?? 'no reason: it was not sent by the receiver';
  if (kind === 'unrouted') return `event kind '${event}' had no consumer`;
  if (failureReason !== undefined) return failureReason;
  if (kind === 'removed')
    return 'no reason: it waited when its consumer was removed, or its consumer crashed';
  return 'SQS moved it after too many receives: the consumer crashed, timed out, could not start or could not store its reason';
}

/** Attributes that may differ between copies: those of one delivery or of one failure. */
const MAY_DIFFER = new Set<string>([
  attribute.receivedAt,
  attribute.requestId,
  attribute.reason,
  attribute.failureReason,
  attribute.failedAt,
]);

/**
 * A key that is equal for copies: messages of one queue with the same bytes, because the sender repeated a delivery. A
 * replay's message is no copy of a delivery's. The bytes count, too: a message that was sent by hand may have any
 * `eventId`.
 */
export function copyKey(message: ReadMessage): string {
  const { queue, attributes, body } = message;
  const equal = Object.entries(attributes).filter(([name]) => !MAY_DIFFER.has(name));
  const bytes = bytesInMessage(message)?.toString('base64') ?? body;
  // The body of a large payload's message has only the key, and in quarantine also the problems, which may differ.
  const payload = attributes.payloadKey === undefined ? bytes : '';
  return sha256Hex(JSON.stringify([queue.name, equal.sort(), payload]));
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
 * The partner's bytes, if the message contains them. Undefined if they are in S3, or it was not sent by the receiver.
 * Messages on an event's queue have U+FFFE and U+FFFF escaped.
 */
export function bytesInMessage({ queue, attributes, body }: ReadMessage): Buffer | undefined {
  if (attributes.payloadKey !== undefined) return undefined;
  if (queue.kind !== 'quarantine') return Buffer.from(body);
  const wrapper = jsonOf(body);
  if (!isObject(wrapper) || typeof wrapper.bodyBase64 !== 'string') return undefined;
  return Buffer.from(wrapper.bodyBase64, 'base64');
}

type ReadPayload = { bytes: Buffer; unreadable?: never } | { bytes?: never; unreadable: string };

/** The partner's bytes: from the message, or from S3 if they were too large. `unreadable`: why it has none. */
export async function readPayload(stage: Stage, message: ReadMessage): Promise<ReadPayload> {
  const { payloadKey } = message.attributes;
  if (payloadKey !== undefined) return payloadUnder(stage, payloadKey);
  const bytes = bytesInMessage(message);
  if (bytes !== undefined) return { bytes };
  return { unreadable: 'the message has no bodyBase64: it was not sent by the receiver' };
}

/** A payload that was too large for a message. */
export async function payloadUnder(stage: Stage, key: string): Promise<ReadPayload> {
  const bytes = await storedPayload(stage, key);
  return bytes === undefined ? { unreadable: `S3 no longer has it under ${key}` } : { bytes };
}

/** The partner's bytes for programs: as `body` if they are text, otherwise as `bodyBase64`. */
export function payloadFields({ bytes, unreadable }: ReadPayload): PayloadFields {
  if (bytes === undefined) return { unreadable };
  return isUtf8(bytes) ? { body: bytes.toString() } : { bodyBase64: bytes.toString('base64') };
}

export type PayloadFields = Partial<Readonly<Record<'body' | 'bodyBase64' | 'unreadable', string>>>;
