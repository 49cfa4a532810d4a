import { isUtf8 } from 'node:buffer';
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import { isObject, jsonOf } from '../history/json.ts';
import type { Stage } from '../stage.ts';
import type { AnyQueue } from './queue.ts';

/** A message that this process has received, so that nobody else can receive it now. */
export interface ReceivedMessage {
  readonly id: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, MessageAttributeValue>>;
  /** When it was sent to this queue. If SQS moved it here, when it was sent to the previous queue. */
  readonly sentAt: Date;
  readonly groupId: string | undefined;
  /** X-Ray header of the delivery, if it was traced. */
  readonly traceHeader: string | undefined;
}

export function receivedMessage(message: Message): ReceivedMessage {
  const { MessageId = '', ReceiptHandle = '', Body = '', Attributes = {}, MessageAttributes = {} } = message;
  return {
    id: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: MessageAttributes,
    sentAt: new Date(Number(Attributes.SentTimestamp)),
    groupId: Attributes.MessageGroupId,
    traceHeader: Attributes.AWSTraceHeader,
  };
}

/** A message as it was read, also without receiving it. */
export type ReadMessage = Pick<ReceivedMessage, 'id' | 'body' | 'attributes' | 'sentAt'>;

type MessageContent = Pick<ReceivedMessage, 'attributes' | 'body'>;

type QueueKind = Pick<AnyQueue, 'name' | 'kind'>;

/** The attributes that the receiver or a consumer set on a message (docs/decisions.md). Binary ones are in base64. */
export const attributesOf = ({ attributes }: Pick<ReceivedMessage, 'attributes'>): MessageAttributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, { StringValue, BinaryValue }]) => [
      name,
      StringValue ?? Buffer.from(BinaryValue ?? []).toString('base64'),
    ]),
  );

type MessageAttributes = Readonly<Record<string, string | undefined>>;

/** What a message says of itself, without its payload. Times are in ISO 8601. */
export function describeMessage(queue: QueueKind, message: ReadMessage) {
  const attributes = attributesOf(message);
  const { eventId, requestId, failedAt, receivedAt } = attributes;
  const reason = reasonOf(queue, attributes);
  const event = knownEvent(queue, attributes);
  const sentAt = message.sentAt.toISOString();
  return { messageId: message.id, reason, event, eventId, requestId, failedAt, receivedAt, sentAt };
}

/** The event of a message. Undefined in quarantine, where only the payload may name it. */
export function knownEvent({ kind, name }: QueueKind, { event }: MessageAttributes): string | undefined {
  if (kind === 'quarantine') return undefined;
  return kind === 'dead-letter' ? name : event;
}

/** Why a message is on a queue. */
function reasonOf({ kind }: QueueKind, { event, reason, failureReason }: MessageAttributes): string {
  if (kind === 'quarantine') return reason ?? 'no reason: it was not sent by the receiver';
  if (kind === 'unrouted') return `event kind '${event}' had no consumer`;
  if (failureReason !== undefined) return failureReason;
  if (kind === 'removed')
    return 'no reason: it waited when its consumer was removed, or its consumer crashed';
  return 'SQS moved it after too many receives: the consumer crashed, timed out, could not start or could not store its reason';
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
export function bytesInMessage(
  { kind }: Pick<AnyQueue, 'kind'>,
  message: MessageContent,
): Buffer | undefined {
  if (attributesOf(message).payloadKey !== undefined) return undefined;
  if (kind !== 'quarantine') return Buffer.from(message.body);
  const wrapper = jsonOf(message.body);
  if (!isObject(wrapper) || typeof wrapper.bodyBase64 !== 'string') return undefined;
  return Buffer.from(wrapper.bodyBase64, 'base64');
}

type ReadPayload = { bytes: Buffer; unreadable?: never } | { bytes?: never; unreadable: string };

/** The partner's bytes: from the message, or from S3 if they were too large. `unreadable`: why it has none. */
export async function readPayload(
  stage: Stage,
  queue: Pick<AnyQueue, 'kind'>,
  message: MessageContent,
): Promise<ReadPayload> {
  const { payloadKey } = attributesOf(message);
  const bytes =
    payloadKey === undefined ? bytesInMessage(queue, message) : await storedPayload(stage, payloadKey);
  if (bytes !== undefined) return { bytes };
  return payloadKey === undefined
    ? { unreadable: 'the message has no bodyBase64: it was not sent by the receiver' }
    : { unreadable: `S3 no longer has it under ${payloadKey}` };
}

/** The partner's bytes for programs: as `body` if they are text, otherwise as `bodyBase64`. */
export function payloadFields({ bytes, unreadable }: ReadPayload): PayloadFields {
  if (bytes === undefined) return { unreadable };
  return isUtf8(bytes) ? { body: bytes.toString() } : { bodyBase64: bytes.toString('base64') };
}

export type PayloadFields = Partial<Readonly<Record<'body' | 'bodyBase64' | 'unreadable', string>>>;
