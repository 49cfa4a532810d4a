import { UsageError } from '../../terminal/command-error.ts';
import { SHORT_ID_LENGTH } from '../../terminal/terminal.ts';
import { isObject, jsonOf } from './json.ts';

/** Maximum characters. Longer than any id of AWS. */
const LONGEST_ID = 128;

/** Characters of event, request and message ids: hex digits, base64, UUIDs. */
const POSSIBLE = /^[A-Za-z0-9._:=+/@~-]+$/;

/** An event id, or the beginning of one (decision D7). */
const OF_EVENT_ID = /^[0-9a-f]{8,64}$/i;

export type IdKind = 'eventId' | 'requestId' | 'messageId' | 'webhookId';

/** An id as typed by a user, who does not need to know its kind. */
export interface TraceId {
  /** The id as typed. May also be a complete webhookId. */
  readonly text: string;
  /**
   * The text, if it can be the beginning of a request id or message id. Undefined if it is too short, too long or has
   * other characters.
   */
  readonly prefix: string | undefined;
  /** The text in lower case, if an event id can begin with it. */
  readonly eventIdPrefix: string | undefined;
}

/** @throws CommandError if the text is empty */
export function parseTraceId(text: string): TraceId {
  if (text === '') {
    throw new UsageError('The id is empty: give an event id, a request id, a message id or a webhookId');
  }
  const isPrefix = POSSIBLE.test(text) && text.length >= SHORT_ID_LENGTH && text.length <= LONGEST_ID;
  return {
    text,
    prefix: isPrefix ? text : undefined,
    eventIdPrefix: OF_EVENT_ID.test(text) ? text.toLowerCase() : undefined,
  };
}

/** Ids of a log line, a record or a message. */
export interface Ids {
  readonly eventId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly messageId?: string | undefined;
  /** The partner's text, if known. */
  readonly body?: string | undefined;
}

/** The kind of the id that matches. Undefined if none does. */
export function kindOf({ text, prefix, eventIdPrefix }: TraceId, ids: Ids): IdKind | undefined {
  if (eventIdPrefix !== undefined && ids.eventId?.startsWith(eventIdPrefix)) return 'eventId';
  if (prefix !== undefined && ids.requestId?.startsWith(prefix)) return 'requestId';
  if (prefix !== undefined && ids.messageId?.startsWith(prefix)) return 'messageId';
  return ids.body !== undefined && webhookIdIs(text, ids.body) ? 'webhookId' : undefined;
}

function webhookIdIs(text: string, body: string): boolean {
  // A fast check: most bodies do not contain the id, escaped or not.
  if (!body.includes(text) && !body.includes('\\')) return false;
  // The body of a dead letter may not be JSON.
  const payload = jsonOf(body);
  return isObject(payload) && payload.webhookId === text;
}
