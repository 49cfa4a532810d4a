import { CommandError } from '../../terminal/command-error.ts';

/** Characters of an id at least: eight hex digits of an event id tell some four thousand million apart. */
const SHORTEST = 8;

/** Characters of an id at most: more than any of API Gateway's, and than a partner's webhookId that makes sense. */
const LONGEST = 128;

/** What ids are made of: hex digits, base64 and base64url, UUIDs, and what partners join words by. */
const POSSIBLE = /^[A-Za-z0-9._:=+/@~-]+$/;

/** An event id, or the beginning of one (decision D7). */
const OF_EVENT_ID = /^[0-9a-f]{8,64}$/i;

/** An id as somebody types it, who need not know whose it is. */
export interface TraceId {
  /** As it was typed: API Gateway's id of a request, or the partner's webhookId. */
  readonly text: string;
  /** In lower case; undefined where no event id begins like this. */
  readonly eventIdPrefix: string | undefined;
}

/** What an id turned out to be. */
export type IdKind = 'eventId' | 'requestId' | 'webhookId';

/** @throws CommandError where nothing can have such an id */
export function parseTraceId(text: string): TraceId {
  if (!POSSIBLE.test(text)) {
    const wrong = text === '' ? 'is empty' : 'has characters that no id has';
    throw new CommandError(`The id ${wrong}: give an event id, a request id or a webhookId`);
  }
  if (text.length < SHORTEST) {
    throw new CommandError(
      `'${text}' is too short: of an event id at least the first ${SHORTEST} characters, of another the whole`,
    );
  }
  if (text.length > LONGEST) {
    throw new CommandError(`The id has ${text.length} characters, and none has more than ${LONGEST}`);
  }
  return { text, eventIdPrefix: OF_EVENT_ID.test(text) ? text.toLowerCase() : undefined };
}
