import { CommandError, UsageError } from '../../terminal/command-error.ts';
import type { ProgressDisplay } from '../../terminal/progress.ts';
import { readPayload } from '../queues/received-message.ts';
import type { Stage } from '../stage.ts';
import { deadLettersOf, waitingMessages } from './dead-letters.ts';
import { deriveHistory } from './derive-history.ts';
import { type Fact, isoTime, ofKind } from './facts.ts';
import { inPattern, type SearchedSource, searchLogs, windowOf } from './log-search.ts';
import { bytesAsSent, findRecords, recordsOfLines, storedRecord } from './records.ts';
import { stateTitle } from './state-text.ts';

/** Maximum number of events listed for an ambiguous id. A longer list would not help. */
const MAX_CANDIDATES = 10;

/** The beginning of an event, request or message id: hex digits, base64 or a UUID. No id of AWS is longer. */
const POSSIBLE = /^[A-Za-z0-9._:=+/@~-]{8,128}$/;

export interface FindOptions {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly signal: AbortSignal;
  readonly progress?: ProgressDisplay;
}

/**
 * Finds the facts of one event by any of its ids: first in the logs, then in the archive, then on the queues that
 * nothing consumes.
 * @param text an event, request or message id, or at least 8 characters of its beginning
 * @returns undefined if it was interrupted
 * @throws CommandError if the id matches no event, or more than one
 */
export async function findFacts(stage: Stage, text: string, { signal, progress, ...times }: FindOptions) {
  if (!POSSIBLE.test(text)) {
    const search = 'To find a webhookId or another text of a payload: npx hookctl trace --search';
    throw new UsageError(`Give at least 8 characters of an event, request or message id. ${search}`);
  }
  const window = windowOf(times);
  const reading = { ...window, signal, progress };
  const fits = (ids: Ids) => isIdOf(text, ids);

  const lower = inPattern(text.toLowerCase());
  const pattern = `"eventId":"${lower}|"(requestId|messageId)":"${inPattern(text)}`;
  let logs = await searchLogs(stage, pattern, window, signal);
  let known = onlyOne(text, logs.lines);
  let archive = known === undefined ? await findRecords(stage, reading, fits) : undefined;
  known ??= onlyOne(text, archive?.found ?? []);
  const onQueues = known === undefined ? await waitingMessages(stage, fits, signal) : undefined;
  const waiting = (onQueues?.messages ?? []).map(({ fact }) => fact);
  known ??= onlyOne(text, waiting);
  if (signal.aborted) return undefined;
  if (known === undefined) throw nothingFound(text, sourcesOf(logs, archive, onQueues), window);

  const { eventId = '' } = known;
  // A request id, for example, finds only its own delivery. The event id finds all deliveries of the event.
  if (!isIdOf(text, { eventId })) {
    logs = await searchLogs(stage, `"eventId":"${eventId}`, window, signal, logs.scanned);
    archive &&= await findRecords(stage, reading, (record) => record.eventId === eventId);
  }
  archive ??= await recordsOfLines(stage, logs.lines, signal);
  const lines = logs.lines.filter((line) => line.eventId === eventId);
  const found: Fact[] = [...lines, ...(archive?.found ?? []), ...waiting];
  const deadLetters = await deadLettersOf(stage, found, signal);
  if (signal.aborted) return undefined;
  const facts = [...found, ...(deadLetters?.facts ?? [])];
  return { eventId, facts, sources: sourcesOf(logs, archive, deadLetters ?? onQueues) };
}

const sourcesOf = (...searches: readonly ({ readonly source: SearchedSource } | undefined)[]) =>
  searches.flatMap((search) => search?.source ?? []);

type Ids = Partial<Readonly<Record<'eventId' | 'requestId' | 'messageId', string | undefined>>>;

/** Whether one of these ids begins with a text that a user typed, who does not need to know its kind. */
const isIdOf = (text: string, { eventId = '', requestId = '', messageId = '' }: Ids): boolean =>
  eventId.startsWith(text.toLowerCase()) || requestId.startsWith(text) || messageId.startsWith(text);

/**
 * @returns a fact of the event that the id belongs to; undefined if nothing matches
 * @throws CommandError with a list if the id belongs to several
 */
function onlyOne(text: string, facts: readonly Fact[]): Fact | undefined {
  const matching = facts.filter((fact) => isIdOf(text, fact));
  // Only some lines of an event name its kind, and of equal keys, a map keeps the last value.
  const sorted = matching.toSorted((a, b) => Number(a.event !== undefined) - Number(b.event !== undefined));
  const events = [...new Map(sorted.map((one) => [one.eventId, one])).values()];
  if (events.length < 2) return events[0];
  const listed = events.slice(0, MAX_CANDIDATES).map(({ eventId, event, at }) => {
    return `${eventId} (${[event, isoTime(at)].filter(Boolean).join(', ')})`;
  });
  const more = events.length > MAX_CANDIDATES ? ' and more' : '';
  throw new CommandError(`'${text}' matches several events. One of: ${listed.join(', ')}${more}`);
}

function nothingFound(
  text: string,
  sources: readonly SearchedSource[],
  { since, until }: ReturnType<typeof windowOf>,
): CommandError {
  return new CommandError(
    [
      `Nothing was found for '${text}'.`,
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
  const isOwn = (fact: { eventId: string }) => fact.eventId === eventId;
  const { messages, source } = await waitingMessages(stage, isOwn, signal);
  if (source.problem !== undefined) throw new CommandError(source.text);
  for (const { message } of messages) {
    const { bytes, unreadable } = await readPayload(stage, message);
    if (bytes === undefined) throw new CommandError(`The bytes of event ${eventId} are gone: ${unreadable}`);
    return { eventId, event, bytes: bytesAsSent(bytes, eventId), from: message.queue.title };
  }
  if (signal.aborted) return undefined;
  const [{ state }] = now;
  throw new CommandError(
    state === 'rejected' || state === 'failed'
      ? 'It was not accepted, so its bytes were not stored and cannot be sent again'
      : `The bytes of event ${eventId} (${stateTitle(state).title.toLowerCase()}) are not stored. The archive has them some minutes after the event was processed, unless they were forgotten`,
  );
}
