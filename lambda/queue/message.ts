import { MAXIMUM_RECORD_BYTES, RECORD_RESERVE_BYTES } from '../archive/record.ts';
import { sha256Hex } from '../hash.ts';
import { stringAttribute } from '../message-attribute.ts';

/**
 * What the receiver knows of an event besides the partner's JSON text, which is the body of its message.
 */
export interface EventFacts {
  readonly event: string;
  /** Lower-case hex SHA-256 of the raw body (decision D7). */
  readonly eventId: string;
  /** When the receiver got the delivery, ISO 8601. */
  readonly receivedAt: string;
  /** API Gateway's id of the request that brought it. */
  readonly requestId: string;
}

/** Names of the message attributes. */
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

/**
 * Characters that JSON allows raw and SQS does not: of all that can stand in valid JSON text, these two.
 * Source: `MessageBody` in the SQS API reference, `SendMessage`.
 */
const FORBIDDEN_IN_SQS = /[\uFFFE\uFFFF]/g;

/**
 * Escapes what SQS would refuse or replace (decision D14). In JSON text such a character can only stand
 * inside a string, where its escape means the same, so the parsed event is unchanged.
 */
export function escapeForSqs(jsonText: string): string {
  return jsonText.replace(FORBIDDEN_IN_SQS, (character) => `\\u${character.charCodeAt(0).toString(16)}`);
}

/** `MessageGroupId`: 1 to 128 alphanumerics and punctuation. Source: SQS API reference, `SendMessage`. */
const GROUP_ID = /^[!-~]{1,128}$/;

/**
 * The group that SQS fair queues keep from delaying the others: the shop. An id that SQS would not
 * take is hashed.
 * @returns undefined where the event names no shop
 */
export function messageGroupId(shopId: unknown): string | undefined {
  if ((typeof shopId !== 'string' && typeof shopId !== 'number') || shopId === '') return undefined;
  const id = String(shopId);
  return GROUP_ID.test(id) ? id : sha256Hex(id);
}

/** The largest message. Source: SQS developer guide, "Message quotas". */
const MAXIMUM_MESSAGE_BYTES = 1024 * 1024;

/** Kept free for the attributes, which count: those of an event, of quarantine and of a dead letter. */
const ATTRIBUTES_RESERVE_BYTES = 32 * 1024;

/** Of a body as the JSON string that it is in a record of the archive. */
const MAXIMUM_ARCHIVED_BYTES = MAXIMUM_RECORD_BYTES - RECORD_RESERVE_BYTES;

/**
 * Whether a body travels in its message, and so in its record of the archive, or has to be stored beside both
 * (decision D13).
 * @param body JSON text: escaping it at most doubles it, as the control characters that it may have are white space
 */
export function fitsMessage(body: string): boolean {
  const bytes = Buffer.byteLength(body);
  if (2 * bytes <= MAXIMUM_ARCHIVED_BYTES) return true;
  return (
    bytes <= MAXIMUM_MESSAGE_BYTES - ATTRIBUTES_RESERVE_BYTES &&
    Buffer.byteLength(JSON.stringify(body)) <= MAXIMUM_ARCHIVED_BYTES
  );
}

/** The message attributes of an event, for `SendMessage`. */
export function eventAttributes(facts: EventFacts) {
  return {
    [attribute.event]: stringAttribute(facts.event),
    [attribute.eventId]: stringAttribute(facts.eventId),
    [attribute.receivedAt]: stringAttribute(facts.receivedAt),
    [attribute.requestId]: stringAttribute(facts.requestId),
  };
}
