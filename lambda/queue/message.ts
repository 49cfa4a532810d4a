import type { SendMessageCommandInput } from '@aws-sdk/client-sqs';
import { MAX_RECORD_BYTES, RECORD_RESERVE_BYTES } from '../archive/record.ts';
import { sha256Hex } from '../hash.ts';

/** What the receiver knows of an event besides the partner's JSON text, which is the body of its message. */
export interface EventFacts {
  readonly event: string;
  /** Lower-case hex SHA-256 of the raw body (decision D7). */
  readonly eventId: string;
  readonly receivedAt: string;
  /** API Gateway's id of the request that brought it. */
  readonly requestId: string;
}

export const attribute = {
  event: 'event',
  eventId: 'eventId',
  receivedAt: 'receivedAt',
  requestId: 'requestId',
  /** Large payloads only: where the payload is (decision D13). */
  payloadKey: 'payloadKey',
  /** Of a replay only: which, and what it is to do, as JSON (`replay.ts`). */
  replay: 'replay',
  /** Quarantine only: why the payload is unusable. */
  reason: 'reason',
  /** Dead-letter queues only: what made the message one. */
  failureReason: 'failureReason',
  /** Dead-letter queues only: when, ISO 8601. */
  failedAt: 'failedAt',
} as const;

/** What SQS and SNS take as the value of a string attribute. Source: SQS API reference, `SendMessage`. */
const ACCEPTED_VALUE = /^[\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]+$/u;

/** Longest value that we send, in UTF-16 units: attributes count towards the size of a message. */
export const MAX_ATTRIBUTE_LENGTH = 2048;

/** A string attribute of an SQS or SNS message; a value that they would refuse becomes its hash. */
export function stringAttribute(value: string): { DataType: 'String'; StringValue: string } {
  const accepted = ACCEPTED_VALUE.test(value) && value.length <= MAX_ATTRIBUTE_LENGTH;
  return { DataType: 'String', StringValue: accepted ? value : `sha256:${sha256Hex(value)}` };
}

/** The only characters that JSON allows raw and SQS does not. Source: SQS API reference, `SendMessage`, `MessageBody`. */
const FORBIDDEN_IN_SQS = /[\uFFFE\uFFFF]/g;

/**
 * Escapes what SQS would refuse (decision D14). In JSON text such a character can only stand inside a string, where its
 * escape means the same, so the parsed event is unchanged.
 */
export function escapeForSqs(jsonText: string): string {
  return jsonText.replace(FORBIDDEN_IN_SQS, (character) => `\\u${character.charCodeAt(0).toString(16)}`);
}

/** `MessageGroupId`: 1 to 128 alphanumerics and punctuation. Source: SQS API reference, `SendMessage`. */
const GROUP_ID = /^[!-~]{1,128}$/;

/**
 * The group that SQS fair queues keep from delaying the others: the shop. An id that SQS would not take is hashed.
 * @returns undefined if the event names no shop
 */
export function messageGroupId(shopId: unknown): string | undefined {
  if ((typeof shopId !== 'string' && typeof shopId !== 'number') || shopId === '') return undefined;
  const id = String(shopId);
  return GROUP_ID.test(id) ? id : sha256Hex(id);
}

/**
 * Of a body as the JSON string that it is in a record of the archive. A message takes more: 1 MiB with its attributes (SQS
 * developer guide, "Message quotas").
 */
const MAX_ARCHIVED_BYTES = MAX_RECORD_BYTES - RECORD_RESERVE_BYTES;

/**
 * Whether a body travels in its message, and so in its record of the archive, or has to be stored beside both
 * (decision D13).
 * @param body JSON text: escaping it at most doubles it, as the control characters that it may have are white space
 */
export function fitsMessage(body: string): boolean {
  if (2 * Buffer.byteLength(body) <= MAX_ARCHIVED_BYTES) return true;
  return Buffer.byteLength(JSON.stringify(body)) <= MAX_ARCHIVED_BYTES;
}

export function eventAttributes(facts: EventFacts) {
  return {
    [attribute.event]: stringAttribute(facts.event),
    [attribute.eventId]: stringAttribute(facts.eventId),
    [attribute.receivedAt]: stringAttribute(facts.receivedAt),
    [attribute.requestId]: stringAttribute(facts.requestId),
  };
}

/**
 * The header as Lambda writes it. Source: X-Ray developer guide, "Tracing header"; `Lineage` is Lambda's
 * own, for the detection of loops.
 */
const TRACE_HEADER =
  /^Root=1-[0-9a-f]{8}-[0-9a-f]{24}(;Parent=[0-9a-f]{16})?(;Sampled=[01])?(;Lineage=[0-9a-f:|]{1,200})?$/;

/**
 * What a message carries so that the consumer continues the trace, for `SendMessage`: Lambda reads it, and links its
 * batch to each message's trace (X-Ray developer guide, "Amazon SQS and AWS X-Ray"). It counts towards neither the size
 * nor the number of a message's attributes. SQS refuses a message with a malformed header, so such a header is left out.
 * @param header `X-Amzn-Trace-Id`; undefined if nothing is traced
 */
export function traceAttribute(
  header: string | undefined = '',
): Pick<SendMessageCommandInput, 'MessageSystemAttributes'> {
  if (!TRACE_HEADER.test(header)) return {};
  return { MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: header } } };
}
