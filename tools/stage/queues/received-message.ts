import { isUtf8 } from 'node:buffer';
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import { isObject, jsonOf } from '../history/json.ts';
import { MissingOutputError, type Stage } from '../stage.ts';
import type { AnyQueue } from './queue.ts';

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
    receives: Number(Attributes.ApproximateReceiveCount),
    groupId: Attributes.MessageGroupId,
    traceHeader: Attributes.AWSTraceHeader,
  };
}

type MessageAttributes = Pick<ReceivedMessage, 'attributes'>;

/** An attribute that the receiver or a consumer set on the message (docs/decisions.md). */
export function attributeText({ attributes }: MessageAttributes, name: string): string | undefined {
  return attributes[name]?.StringValue;
}

/** Attributes for programs. Binary ones are in base64. */
export const attributesOf = ({ attributes }: MessageAttributes): Record<string, string> =>
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
  const reason = attributeText(message, 'failureReason');
  if (reason !== undefined) return reason;
  if (kind === 'removed')
    return 'no reason: it waited when its consumer was removed, or its consumer crashed';
  return 'SQS moved it after too many receives: the consumer crashed, timed out, could not start or could not store its reason';
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

/** The partner's bytes, or why they cannot be read. */
export async function payloadOrReason(
  ...[stage, queue, message]: Parameters<typeof readPayload>
): Promise<{ readonly bytes?: Buffer; readonly unreadable?: string }> {
  try {
    return { bytes: await readPayload(stage, queue, message) };
  } catch (error) {
    const isExpected = error instanceof UnreadablePayloadError || error instanceof MissingOutputError;
    if (isExpected) return { unreadable: error.message };
    throw error;
  }
}

/** The partner's bytes for programs: as `body` if they are text, otherwise as `bodyBase64`. */
export const bytesAsFields = (bytes: Buffer): { readonly body?: string; readonly bodyBase64?: string } =>
  isUtf8(bytes) ? { body: bytes.toString() } : { bodyBase64: bytes.toString('base64') };

/** The partner's bytes in base64. Undefined if the message was not sent by the receiver, or its payload is in S3. */
export function wrappedBody(text: string): string | undefined {
  const wrapper = jsonOf(text);
  return isObject(wrapper) && typeof wrapper.bodyBase64 === 'string' ? wrapper.bodyBase64 : undefined;
}
