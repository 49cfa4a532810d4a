import { CommandError } from '../../cli/terminal/command-error.ts';
import { isObject, jsonOf } from './json.ts';

/** Characters of a shortened id at least, as commands print them. Eight hex digits tell four billion apart. */
const SHORTEST_PREFIX = 8;

/** More than any id of AWS has. */
const LONGEST_ID = 128;

/** What ids of events, requests and messages are made of: hex digits, base64, UUIDs. */
const POSSIBLE = /^[A-Za-z0-9._:=+/@~-]+$/;

/** An event id, or the beginning of one (decision D7). */
const OF_EVENT_ID = /^[0-9a-f]{8,64}$/i;

/** What an id turned out to be. */
export type IdKind = 'eventId' | 'requestId' | 'messageId' | 'webhookId';

/** An id as somebody types it, who need not know which kind it is. */
export interface TraceId {
  /** As it was typed: it may be a whole webhookId. */
  readonly text: string;
  /** The beginning of a request's or a message's id; undefined if it is too short, too long or has other characters. */
  readonly prefix: string | undefined;
  /** In lower case; undefined if no event id begins like this. */
  readonly eventIdPrefix: string | undefined;
}

/** @throws CommandError if it is empty */
export function parseTraceId(text: string): TraceId {
  if (text === '') {
    throw new CommandError('The id is empty: give an event id, a request id, a message id or a webhookId');
  }
  const isPrefix = POSSIBLE.test(text) && text.length >= SHORTEST_PREFIX && text.length <= LONGEST_ID;
  return {
    text,
    prefix: isPrefix ? text : undefined,
    eventIdPrefix: OF_EVENT_ID.test(text) ? text.toLowerCase() : undefined,
  };
}

/** Ids of a line, a record or a message. */
export interface Ids {
  readonly eventId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly messageId?: string | undefined;
  /** The partner's text, if it is known. */
  readonly body?: string | undefined;
}

/** What an id is to something; undefined if it is nothing. */
export function kindOf({ text, prefix, eventIdPrefix }: TraceId, ids: Ids): IdKind | undefined {
  if (eventIdPrefix !== undefined && ids.eventId?.startsWith(eventIdPrefix)) return 'eventId';
  if (prefix !== undefined && ids.requestId?.startsWith(prefix)) return 'requestId';
  if (prefix !== undefined && ids.messageId?.startsWith(prefix)) return 'messageId';
  return ids.body !== undefined && webhookIdIs(text, ids.body) ? 'webhookId' : undefined;
}

function webhookIdIs(text: string, body: string): boolean {
  // Most bodies do not have it, escaped or not.
  if (!body.includes(text) && !body.includes('\\')) return false;
  // A dead letter's body need not be JSON.
  const payload = jsonOf(body);
  return isObject(payload) && payload.webhookId === text;
}
