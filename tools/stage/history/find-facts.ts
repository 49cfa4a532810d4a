import { CommandError, UsageError } from '../../terminal/command-error.ts';
import type { ProgressDisplay } from '../../terminal/progress.ts';
import { readPayload } from '../queues/received-message.ts';
import type { Stage } from '../stage.ts';
import { deadLetterFact, deadLettersOf, findMessages, waitingMessages } from './dead-letters.ts';
import { deriveHistory } from './derive-history.ts';
import { type Fact, ofKind } from './facts.ts';
import { isObject, jsonOf } from './json.ts';
import { inPattern, LogSearch, type SearchedSource, windowOf } from './log-search.ts';
import { bytesAsSent, findRecords, recordsOfLines, storedRecord } from './records.ts';
import { stateTitle } from './state-text.ts';

/** Maximum number of candidates listed for an ambiguous id. A longer list would not help. */
const MAX_CANDIDATES = 10;

/** The beginning of an event, request or message id: hex digits, base64 or a UUID. No id of AWS is longer. */
const POSSIBLE = /^[A-Za-z0-9._:=+/@~-]{8,128}$/;

/** An event id, or the beginning of one (decision D7). */
const OF_EVENT_ID = /^[0-9a-f]{8,64}$/i;

export interface FindOptions {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly signal: AbortSignal;
  readonly progress?: ProgressDisplay;
}

/**
 * Finds the facts of one event by any of its ids: first in the logs, then in the archive, then on the queues that
 * nothing consumes.
 * @param text an event, request or message id, or at least 8 characters of its beginning; or a complete webhookId
 * @returns undefined if it was interrupted
 * @throws CommandError if the id matches no event, or more than one
 */
export async function findFacts(stage: Stage, text: string, { signal, progress, ...times }: FindOptions) {
  const id = traceId(text);
  const window = windowOf(times);
  const logs = new LogSearch(stage, window, signal);
  const reading = { ...window, signal, progress };

  let lines = id.pattern === undefined ? [] : await logs.find(id.pattern);
  let known = onlyOne(id, lines);
  const byId =
    known === undefined
      ? await findRecords(stage, reading, (record) => id.kindOf(record) !== undefined)
      : undefined;
  known ??= onlyOne(
    id,
    (byId?.found ?? []).map(({ record }) => ({ ...record, at: Date.parse(record.settledAt) })),
  );
  const onQueues =
    known === undefined
      ? await findMessages(stage, (one) => id.kindOf(one) !== undefined, signal)
      : undefined;
  const messages = onQueues?.messages ?? [];
  known ??= onlyOne(
    id,
    messages.map((one) => ({ ...one, at: one.message.sentAt.getTime() })),
  );
  if (signal.aborted) return undefined;
  if (known === undefined) {
    const logSources = id.pattern === undefined ? [] : [logs.source];
    throw nothingFound(
      id,
      [...logSources, ...[byId, onQueues].flatMap((found) => found?.source ?? [])],
      window,
    );
  }

  const { eventId, kind } = known;
  // A request id, for example, finds only its own delivery. The event id finds all deliveries of the event.
  let archive = byId;
  if (kind !== 'eventId') {
    lines = await logs.find(`"eventId":"${eventId}`);
    archive &&= await findRecords(stage, reading, (record) => record.eventId === eventId);
  }
  archive ??= await recordsOfLines(stage, lines, signal);
  const found: Fact[] = [
    ...lines.filter((line) => line.eventId === eventId),
    ...(archive?.found ?? []).map(({ fact }) => fact),
    ...messages.map(deadLetterFact),
  ];
  const deadLetters = await deadLettersOf(stage, found, signal);
  if (signal.aborted) return undefined;
  const facts = [...found, ...(deadLetters?.facts ?? [])];
  const sources = [logs, archive, deadLetters ?? onQueues].flatMap((one) => one?.source ?? []);
  return { eventId, idIs: kind, facts, sources };
}

export type IdKind = 'eventId' | 'requestId' | 'messageId' | 'webhookId';

interface Ids {
  readonly eventId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly body?: string | undefined;
}

interface Candidate extends Ids {
  readonly eventId: string;
  readonly event?: string | undefined;
  /** Epoch milliseconds. */
  readonly at: number;
}

type TraceId = ReturnType<typeof traceId>;

/**
 * An id as typed by a user, who does not need to know its kind.
 * @throws CommandError if the text is empty
 */
function traceId(text: string) {
  if (text === '') {
    throw new UsageError('The id is empty: give an event id, a request id, a message id or a webhookId');
  }
  const eventId = OF_EVENT_ID.test(text) ? text.toLowerCase() : undefined;
  const escaped = inPattern(text);
  const ofEvent = eventId === undefined ? [] : [`"eventId":"${eventId}`];
  /** Search pattern for the logs. Undefined if no log line can contain the id. */
  const pattern = POSSIBLE.test(text)
    ? [...ofEvent, `"requestId":"${escaped}`, `"messageId":"${escaped}`].join('|')
    : undefined;
  return { text, pattern, kindOf };

  function kindOf(ids: Ids): IdKind | undefined {
    if (eventId !== undefined && ids.eventId?.startsWith(eventId)) return 'eventId';
    if (pattern !== undefined && ids.requestId?.startsWith(text)) return 'requestId';
    if (pattern !== undefined && ids.messageId?.startsWith(text)) return 'messageId';
    return ids.body !== undefined && isWebhookIdIn(text, ids.body) ? 'webhookId' : undefined;
  }
}

function isWebhookIdIn(text: string, body: string): boolean {
  // A fast check: most bodies do not contain the id, escaped or not.
  if (!body.includes(text) && !body.includes('\\')) return false;
  // The body of a dead letter may not be JSON.
  const payload = jsonOf(body);
  return isObject(payload) && payload.webhookId === text;
}

/**
 * @returns the event that the id belongs to, and the kind of id; undefined if there is no match
 * @throws CommandError with a list if there are several
 */
function onlyOne(id: TraceId, candidates: readonly Candidate[]) {
  const matching = candidates.flatMap((one) => {
    const kind = id.kindOf(one);
    return kind === undefined ? [] : [{ ...one, kind }];
  });
  // Only some lines of an event name its kind, and of equal keys, a map keeps the last value.
  const sorted = matching.toSorted((a, b) => Number(a.event !== undefined) - Number(b.event !== undefined));
  const events = [...new Map(sorted.map((one) => [one.eventId, one])).values()];
  if (events.length < 2) return events[0];
  const listed = events.slice(0, MAX_CANDIDATES).map(({ eventId, event, at }) => {
    return `${eventId} (${[event, new Date(at).toISOString()].filter(Boolean).join(', ')})`;
  });
  const more = events.length > MAX_CANDIDATES ? ' and more' : '';
  throw new CommandError(`'${id.text}' matches several events. One of: ${listed.join(', ')}${more}`);
}

function nothingFound(
  { text, pattern }: TraceId,
  sources: readonly SearchedSource[],
  { since, until }: ReturnType<typeof windowOf>,
): CommandError {
  return new CommandError(
    [
      `Nothing was found for '${text}'.`,
      ...(pattern === undefined
        ? [
            'It was searched as a complete webhookId, which logs do not have. Other ids need at least 8 characters.',
          ]
        : []),
      ...sources.map((source) => source.text),
      `Searched from ${since.toISOString()} to ${until.toISOString()}. --since and --until change that.`,
      'The request may never have arrived, or API Gateway answered it itself: see its access log.',
      'The archive has an event some minutes after its effect.',
    ].join('\n'),
  );
}

/**
 * Finds the bytes of a delivery by any of its ids: in the archive, or on a queue that nothing consumes. A payload that
 * is too large for both is in the payload bucket.
 * @returns the bytes, and a text that says where they are stored; undefined if it was interrupted
 * @throws CommandError if the id matches no event or more than one, or if the bytes are not stored
 */
export async function findPayload(stage: Stage, id: string, signal: AbortSignal) {
  const found = await findFacts(stage, id, { signal });
  if (found === undefined) return undefined;
  const { eventId, facts } = found;
  const { event, now } = deriveHistory(facts);
  for (const fact of ofKind(facts, 'record')) {
    const bytes = (await storedRecord(stage, fact, signal))?.bytes;
    if (bytes !== undefined) return { eventId, event, bytes, from: 'the archive' };
  }
  const { messages } = await waitingMessages(stage, (one) => one.eventId === eventId, signal);
  for (const { queue, message, body } of messages) {
    const { bytes, unreadable } =
      queue.kind === 'quarantine' || body === undefined
        ? await readPayload(stage, queue, message)
        : { bytes: bytesAsSent(body, eventId) };
    if (bytes === undefined) throw new CommandError(`The bytes of event ${eventId} are gone: ${unreadable}`);
    return { eventId, event, bytes, from: queue.title };
  }
  if (signal.aborted) return undefined;
  const [{ state }] = now;
  throw new CommandError(
    state === 'rejected' || state === 'failed'
      ? 'It was not accepted, so its bytes were not stored and cannot be sent again'
      : `The bytes of event ${eventId} (${stateTitle(state).title.toLowerCase()}) are not stored. The archive has them some minutes after the event was processed, unless they were forgotten`,
  );
}
