import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { ProgressDisplay } from '../../terminal/progress.ts';
import { counted } from '../../terminal/text.ts';
import { orRefusal } from '../operation.ts';
import { type WaitingMessage, waitingMessages } from '../queues/waiting-messages.ts';
import type { Stage } from '../stage.ts';
import { deadLetterFact, deadLettersOf } from './dead-letters.ts';
import { type Fact, identityOf } from './facts.ts';
import { type ArchiveSearched, type FoundRecords, findRecords, recordsOfLines } from './find-records.ts';
import { parsedLines } from './log-line.ts';
import { inPattern, LogSearch, windowOf } from './log-search.ts';
import { type Ids, kindOf, parseTraceId, type TraceId } from './trace-id.ts';

/** Maximum number of candidates listed for an ambiguous id. A longer list would not help. */
const MAX_CANDIDATES = 10;

/** Where facts were searched for, and why a source could not be read. */
export interface Sources {
  readonly logs: LogSearch['searched'];
  /** How the archive was searched. Absent if the search did not need the archive. */
  readonly archive?: ArchiveSearched | undefined;
  /** The queues that nothing consumes. Absent if the search did not need them. */
  readonly queues?: { readonly complete: boolean; readonly refused?: string } | undefined;
}

/**
 * Finds the facts of one event by any of its ids: first in the logs, then in the archive, then on the queues that
 * nothing consumes. The sources name everything that could not be read.
 * @returns undefined if it was interrupted
 * @throws CommandError if the id matches no event, or more than one
 */
export async function findFacts(
  stage: Stage,
  text: string,
  {
    signal,
    progress,
    ...times
  }: Parameters<typeof windowOf>[0] & { readonly signal: AbortSignal; readonly progress?: ProgressDisplay },
) {
  const id = parseTraceId(text);
  const window = windowOf(times);
  const logs = new LogSearch(stage, window, signal);
  const searchArchive = (fits: (record: ArchiveRecord) => boolean) =>
    findRecords(stage, { ...window, signal, progress }, fits, (found) => {
      return new Set(found.map(({ eventId }) => eventId)).size > MAX_CANDIDATES;
    });

  let lines = await logs.find(idsPattern(id));
  let known = onlyOne(id, parsedLines(lines));
  let archive: FoundRecords | undefined;
  let onQueues: FoundMessages | undefined;
  if (known === undefined && !signal.aborted) {
    archive = await searchArchive((record) => kindOf(id, record) !== undefined);
    const { facts, bodies } = archive;
    const candidates = facts.map(({ record, at }) => ({ ...record, at, body: bodies.get(record.eventId) }));
    known = onlyOne(id, candidates);
  }
  if (known === undefined && !signal.aborted) {
    onQueues = await findMessages(stage, id, signal);
    known = onlyOne(
      id,
      onQueues.messages.map((one) => ({ ...one, at: one.message.sentAt.getTime() })),
    );
  }
  if (signal.aborted) return undefined;
  if (known === undefined) {
    throw unknown(
      id,
      { logs: logs.searched, archive: archive?.searched, queues: onQueues?.searched },
      window,
    );
  }
  const { eventId, kind } = known;
  // A request id, for example, finds only its own delivery. The event id finds all deliveries of the event.
  if (kind !== 'eventId') lines = await logs.find(`"eventId":"${eventId}`);
  if (archive === undefined) {
    archive = await recordsOfLines(stage, lines, signal);
  } else if (kind !== 'eventId') {
    // Other deliveries and replays of the event have other ids, and no body to search.
    archive = await searchArchive((record) => record.eventId === eventId);
  }
  const found: Fact[] = [
    ...lines.filter((line) => line.eventId === eventId),
    ...(archive?.facts ?? []),
    ...(onQueues?.messages ?? []).map((message) => deadLetterFact(message)),
  ];
  const deadLetters = await deadLettersOf(stage, found, signal);
  if (signal.aborted) return undefined;
  // If a dead letter was found twice, the second search knows more about the dead letter.
  const facts = new Map([...found, ...deadLetters.facts].map((fact) => [identityOf(fact), fact]));
  const sources: Sources = {
    logs: logs.searched,
    archive: archive?.searched,
    queues: deadLetters.queues ?? onQueues?.searched,
  };
  return { eventId, idIs: kind, facts: [...facts.values()], sources };
}

interface FoundMessages {
  readonly messages: readonly WaitingMessage[];
  readonly searched: NonNullable<Sources['queues']>;
}

async function findMessages(stage: Stage, id: TraceId, signal: AbortSignal): Promise<FoundMessages> {
  const found = await orRefusal(stage, () =>
    waitingMessages(stage, (message) => kindOf(id, message) !== undefined, signal),
  );
  if ('refused' in found) return { messages: [], searched: { complete: false, ...found } };
  return { messages: found.messages, searched: { complete: found.complete } };
}

/** Search pattern for the logs. Undefined if no log line can contain the id. */
function idsPattern({ prefix, eventIdPrefix }: TraceId): string | undefined {
  if (prefix === undefined) return undefined;
  const text = inPattern(prefix);
  const eventId = eventIdPrefix === undefined ? [] : [`"eventId":"${eventIdPrefix}`];
  return [...eventId, `"requestId":"${text}`, `"messageId":"${text}`].join('|');
}

/**
 * @param candidates lines, records or messages that the id may match; `at` is one of their times, in epoch milliseconds
 * @returns the event that the id belongs to, and the kind of id; undefined if there is no match
 * @throws CommandError with a list if there are several
 */
function onlyOne(
  id: TraceId,
  candidates: readonly (Ids & Pick<Fact, 'event' | 'at'> & { eventId: string })[],
) {
  const all = candidates.flatMap((one) => {
    const kind = kindOf(id, one);
    return kind === undefined
      ? []
      : [{ ...one, kind, isWhole: kind === 'webhookId' || one[kind] === id.text }];
  });
  const whole = all.filter(({ isWhole }) => isWhole);
  const byEvent = Map.groupBy(whole.length > 0 ? whole : all, ({ eventId }) => eventId);
  const events = [...byEvent.values()].flatMap(
    (ofEvent) => ofEvent.find(({ event }) => event !== undefined) ?? ofEvent.slice(0, 1),
  );
  const [only, ...others] = events;
  if (only === undefined || others.length === 0) return only;
  const listed = events.slice(0, MAX_CANDIDATES).map(({ eventId, event, at }) => {
    return `${eventId} (${[event, new Date(at).toISOString()].filter(Boolean).join(', ')})`;
  });
  const more = events.length > listed.length ? ' and more' : '';
  throw new CommandError(`'${id.text}' matches several events. One of: ${listed.join(', ')}${more}`);
}

function unknown(
  { text, prefix }: TraceId,
  { logs, archive, queues }: Sources,
  { since, until }: ReturnType<typeof windowOf>,
): CommandError {
  const notSearched = [
    queues?.refused && `The queues could not be read: ${queues.refused}.`,
    queues?.complete === false && !queues.refused && 'Some messages on queues were not checked.',
    logs.refused && `The logs could not be read: ${logs.refused}.`,
    prefix === undefined &&
      'It was searched as a complete webhookId, which logs do not have. For another id, give at least 8 characters.',
    archive?.state === 'refused' && `The archive could not be read: ${archive.reason}.`,
    archive?.state === 'none' && 'The stage has no archive, so nothing can be found by a webhookId.',
  ].filter((part) => typeof part === 'string');
  const searched = [
    logs.refused === undefined &&
      prefix !== undefined &&
      (logs.since === logs.until
        ? 'the logs, which do not reach back so far'
        : `the logs since ${logs.since}`),
    archive?.state === 'searched' &&
      `the archive since ${since.toISOString()} (${counted(archive.records, 'record')} in ${counted(archive.objects, 'object')}${archive.damaged.length > 0 ? `, ${archive.damaged.length} of them damaged` : ''})`,
    queues?.refused === undefined && 'the dead-letter, quarantine and unrouted queues',
  ].filter((part) => typeof part === 'string');
  return new CommandError(
    [
      `Nothing was found for '${text}'.`,
      ...searched.map((source) => `Searched: ${source}.`),
      `The search ends at ${until.toISOString()}. --since and --until change the window.`,
      ...notSearched,
      'The request may never have arrived, or API Gateway answered it itself: see its access log.',
      'The archive has an event some minutes after its effect.',
    ].join('\n'),
  );
}
