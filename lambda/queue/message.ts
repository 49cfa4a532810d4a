import type { SendMessageCommandInput } from '@aws-sdk/client-sqs';
import { idOrHash, sha256Hex } from '../hash.ts';
import { MAX_ATTRIBUTE_LENGTH, MAX_RECORD_BYTES, RECORD_RESERVE_BYTES } from '../limits.ts';

/** Attributes of a message on an event's queue. The body of the message is the partner's JSON text. */
export interface EventMetadata {
  readonly event: string;
  /** Lower-case hex SHA-256 of the raw body (decision D7). */
  readonly eventId: string;
  readonly receivedAt: string;
  /** API Gateway's id of the request that brought the event. */
  readonly requestId: string;
}

export const attribute = {
  event: 'event',
  eventId: 'eventId',
  receivedAt: 'receivedAt',
  requestId: 'requestId',
  /** Large payloads only: where the payload is (decision D13). */
  payloadKey: 'payloadKey',
  /** Replays only: its name, mode and options, as JSON (`replay.ts`). */
  replay: 'replay',
  /** Quarantine only: why the payload is unusable. */
  reason: 'reason',
  /** Dead-letter queues only: why the message failed. */
  failureReason: 'failureReason',
  /** Dead-letter queues only: when it failed, ISO 8601. */
  failedAt: 'failedAt',
} as const;

/** Values that SQS accepts for a string attribute. Source: SQS API reference, `SendMessage`. */
const ACCEPTED_BY_SQS = /^[\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]+$/u;

/** What {@link ACCEPTED_BY_SQS} excludes. */
const REJECTED_CHARACTER = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** A text for people as an attribute's value: shortened, with U+FFFD for each character that SQS would reject. */
export function readableText(text: string): string {
  return text.slice(0, MAX_ATTRIBUTE_LENGTH).replace(REJECTED_CHARACTER, '\uFFFD');
}

/**
 * A string attribute of a message. A value that is not accepted, is too long, or looks like a hash is replaced by its
 * hash.
 */
export function stringAttribute(
  value: string,
  accepted = ACCEPTED_BY_SQS,
): { DataType: 'String'; StringValue: string } {
  const fits = accepted.test(value) && value.length <= MAX_ATTRIBUTE_LENGTH;
  return { DataType: 'String', StringValue: idOrHash(value, fits) };
}

/**
 * The only characters that JSON allows raw and SQS does not. Source: SQS API reference, `SendMessage`, `MessageBody`.
 */
const FORBIDDEN_IN_SQS = /[\uFFFE\uFFFF]/g;

/**
 * Escapes characters that SQS would reject (decision D14). In JSON text they can only be inside a string, where the
 * escape means the same, so the parsed event is unchanged.
 */
export function escapeForSqs(jsonText: string): string {
  return jsonText.replace(FORBIDDEN_IN_SQS, (character) => `\\u${character.charCodeAt(0).toString(16)}`);
}

/** `MessageGroupId`: 1 to 128 alphanumerics and punctuation. Source: SQS API reference, `SendMessage`. */
const GROUP_ID = /^[!-~]{1,128}$/;

/**
 * The message group for SQS fair queues: the shop, so that one busy shop does not delay the others. An id that SQS
 * would reject is hashed. Numeric ids from 2^53 on are rounded: such shops may share a group, which only costs speed.
 * @returns undefined if the event names no shop
 */
export function messageGroupId(shopId: string | number | undefined): string | undefined {
  if (shopId === undefined || shopId === '') return undefined;
  const id = String(shopId);
  return GROUP_ID.test(id) ? id : sha256Hex(id);
}

/**
 * Maximum bytes of a body as a JSON string in an archive record. A message can hold more: 1 MiB with its attributes
 * (SQS developer guide, "Message quotas").
 */
const MAX_ARCHIVED_BYTES = MAX_RECORD_BYTES - RECORD_RESERVE_BYTES;

/**
 * Whether a body fits into its message and its archive record. Otherwise it is stored in S3 (decision D13).
 * @param body JSON text. Escaping at most doubles it, because its control characters can only be white space
 */
export function fitsMessage(body: string): boolean {
  if (2 * Buffer.byteLength(body) <= MAX_ARCHIVED_BYTES) return true;
  return Buffer.byteLength(JSON.stringify(body)) <= MAX_ARCHIVED_BYTES;
}

export function eventAttributes(metadata: EventMetadata) {
  return {
    [attribute.event]: stringAttribute(metadata.event),
    [attribute.eventId]: stringAttribute(metadata.eventId),
    [attribute.receivedAt]: stringAttribute(metadata.receivedAt),
    [attribute.requestId]: stringAttribute(metadata.requestId),
  };
}

/**
 * The `X-Amzn-Trace-Id` header in the form that Lambda writes. Source: X-Ray developer guide, "Tracing header".
 * `Lineage` is Lambda's own, for loop detection.
 */
const TRACE_HEADER =
  /^Root=1-[0-9a-f]{8}-[0-9a-f]{24}(;Parent=[0-9a-f]{16})?(;Sampled=[01])?(;Lineage=[0-9a-f:|]{1,200})?$/;

/**
 * System attribute for `SendMessage` by which the consumer continues the trace: Lambda links its batch to each
 * message's trace (X-Ray developer guide, "Amazon SQS and AWS X-Ray"). It counts neither towards the size nor towards
 * the number of attributes. SQS rejects a message with a malformed header, so such a header is left out.
 * @param header `X-Amzn-Trace-Id`; undefined if nothing is traced
 */
export function traceAttribute(
  header: string | undefined = '',
): Pick<SendMessageCommandInput, 'MessageSystemAttributes'> {
  if (!TRACE_HEADER.test(header)) return {};
  return { MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: header } } };
}
