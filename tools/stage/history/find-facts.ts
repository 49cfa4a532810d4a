import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { settledOutcomes } from '../../../lambda/archive/record-schema.ts';
import { isEventName } from '../../../lambda/events/catalogue.ts';
import { MAX_BUFFER_SECONDS, MAX_FUNCTION_SECONDS } from '../../../lambda/limits.ts';
import { CommandError } from '../../cli/terminal/command-error.ts';
import type { ProgressDisplay } from '../../cli/terminal/progress.ts';
import { counted } from '../../cli/terminal/text.ts';
import { orRefusal } from '../operation.ts';
import { type WaitingMessage, waitingMessages } from '../queues/waiting-messages.ts';
import type { Stage } from '../stage.ts';
import { type Fact, identityOf, type LineFact, recordFact } from './facts.ts';
import { parseLogLine } from './log-line.ts';
import { inPattern, LogSearch, windowOf } from './log-query.ts';
import { isOf, LINE_TO_RECORD } from './messages.ts';
import { readRecords } from './records.ts';
import { type Ids, kindOf, parseTraceId, type TraceId } from './trace-id.ts';
import { deadLetterFact, unloggedFacts } from './unlogged-facts.ts';

/** Maximum number of candidates listed for an ambiguous id. A longer list does not help. */
const MAX_CANDIDATES = 10;

/** Milliseconds until a record can be read: a batch ends, then Firehose buffers. */
const ARCHIVE_BEHIND = (MAX_FUNCTION_SECONDS + MAX_BUFFER_SECONDS) * 1000;

/** Messages of log lines that have a matching archive record. */
const SETTLED: readonly string[] = settledOutcomes;

/** Where facts were searched for, and why a source could not be read. */
export interface Sources {
  readonly logs: LogSearch['searched'];
  /** Absent if the search did not need the archive. */
  readonly archive?:
    | {
        /**
         * `early`: a record may not be readable yet. `none`: the stage has no archive. `refused`: permission missing.
         */
        readonly state: 'searched' | 'early' | 'none' | 'refused';
        readonly reason?: string;
        readonly objects: number;
        readonly records: number;
        /** Objects that could not be read to their end, and why. */
        readonly damaged: readonly string[];
      }
    | undefined;
  /** The queues that nothing consumes. Absent if the search did not need them. */
  readonly queues?: { readonly complete: boolean; readonly refused?: string } | undefined;
  /** Why the search for consumer crashes failed. */
  readonly crashes?: { readonly refused: string } | undefined;
}

interface FoundRecords {
  readonly found: readonly { readonly record: ArchiveRecord; readonly object: string }[];
  readonly searched: NonNullable<Sources['archive']>;
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
  let lines = await logs.find(idsPattern(id));
  let known = onlyOne(id, linesOf(lines));
  let archive: FoundRecords | undefined;
  let queues: Sources['queues'];
  let waiting: readonly WaitingMessage[] = [];
  if (known === undefined && !signal.aborted) {
    archive = await searchArchive((record) => kindOf(id, record) !== undefined);
    const candidates = archive.found.map(({ record }) => ({ ...record, at: Date.parse(record.settledAt) }));
    known = onlyOne(id, candidates);
  }
  if (known === undefined && !signal.aborted) {
    const looked = await orRefusal(stage, () =>
      waitingMessages(stage, (message) => kindOf(id, message) !== undefined, signal),
    );
    if ('refused' in looked) queues = { complete: false, ...looked };
    else {
      queues = { complete: looked.complete };
      waiting = looked.messages;
    }
    const candidates = waiting.map((one) => ({ ...one, at: one.message.sentAt.getTime() }));
    known = onlyOne(id, candidates);
  }
  if (signal.aborted) return undefined;
  if (known === undefined) {
    throw unknown(id, { logs: logs.searched, archive: archive?.searched, queues }, window);
  }
  const { eventId, kind } = known;
  // Any other id finds only its own delivery.
  if (kind !== 'eventId') lines = await logs.find(`"eventId":"${eventId}`);
  if (archive === undefined) {
    archive = await recordsOfLines(stage, lines, signal);
  } else if (kind !== 'eventId') {
    // Other deliveries and replays of the event have other ids, and no body to search.
    archive = await searchArchive((record) => record.eventId === eventId);
  }
  const logged: Fact[] = [
    ...lines.filter((line) => line.eventId === eventId),
    ...(archive?.found ?? []).map(({ record, object }) => recordFact(record, object)),
    ...waiting.map((message) => deadLetterFact(message)),
  ];
  const unlogged = await unloggedFacts(stage, logged, signal);
  if (signal.aborted) return undefined;
  // The second time a dead letter is found, it has more facts.
  const facts = new Map([...logged, ...unlogged.facts].map((fact) => [identityOf(fact), fact]));
  const sources: Sources = {
    logs: logs.searched,
    archive: archive?.searched,
    queues: unlogged.queues ?? queues,
    crashes: unlogged.crashes,
  };
  return { eventId, idIs: kind, facts: [...facts.values()], sources };

  /** The matching records of the window. Stops when they belong to too many events. */
  function searchArchive(fits: (record: ArchiveRecord) => boolean): Promise<FoundRecords> {
    const isMeant = (record: ArchiveRecord) => {
      const at = Date.parse(record.settledAt);
      return at >= window.since.getTime() && at < window.until.getTime() && fits(record);
    };
    return findRecords(stage, { ...window, signal, progress }, isMeant, (found) => {
      return new Set(found.map(({ record }) => record.eventId)).size > MAX_CANDIDATES;
    });
  }
}

const linesOf = (facts: readonly LineFact[]) => facts.flatMap(({ text }) => parseLogLine(text) ?? []);

/** Search pattern for the logs. Undefined if no log line can contain the id. */
function idsPattern({ prefix, eventIdPrefix }: TraceId): string | undefined {
  if (prefix === undefined) return undefined;
  const text = inPattern(prefix);
  const eventId = eventIdPrefix === undefined ? [] : [`"eventId":"${eventIdPrefix}`];
  return [...eventId, `"requestId":"${text}`, `"messageId":"${text}`].join('|');
}

/**
 * The archive records that belong to log lines. Reads only objects near the times of these lines, and as few as
 * possible.
 */
async function recordsOfLines(
  stage: Stage,
  lines: readonly LineFact[],
  signal: AbortSignal,
): Promise<FoundRecords | undefined> {
  const settled = linesOf(lines).filter(({ message }) => SETTLED.includes(message));
  const event = settled.find((line) => line.event !== undefined)?.event;
  if (event === undefined || !isEventName(event)) return undefined;
  const times = settled.map(({ at }) => at);
  const since = new Date(Math.min(...times) - LINE_TO_RECORD);
  const until = new Date(Math.max(...times) + LINE_TO_RECORD);
  const missing = (found: FoundRecords['found']) => {
    const facts = found.map(({ record, object }) => recordFact(record, object));
    return settled.filter((line) => !facts.some((fact) => isOf(fact, line)));
  };
  const { found, searched } = await findRecords(
    stage,
    { events: [event], since, until, signal },
    (record) => record.eventId === settled[0]?.eventId,
    (some) => missing(some).length === 0,
  );
  const isEarly = missing(found).some(({ at }) => Date.now() - at < ARCHIVE_BEHIND);
  const state = searched.state === 'searched' && isEarly ? 'early' : searched.state;
  return { found, searched: { ...searched, state } };
}

async function findRecords(
  stage: Stage,
  reading: Parameters<typeof readRecords>[1],
  fits: (record: ArchiveRecord) => boolean,
  isEnough: (found: FoundRecords['found']) => boolean,
): Promise<FoundRecords> {
  const found: { record: ArchiveRecord; object: string }[] = [];
  const nothing = { objects: 0, records: 0, damaged: [] };
  if (!stage.hasArchive) return { found, searched: { state: 'none', ...nothing } };
  const read = await orRefusal(stage, () =>
    readRecords(stage, reading, (records, object) => {
      for (const record of records.filter(fits)) found.push({ record, object });
      return isEnough(found);
    }),
  );
  if ('refused' in read) return { found, searched: { state: 'refused', reason: read.refused, ...nothing } };
  const { objects, records, damaged } = read;
  return { found, searched: { state: 'searched', objects, records, damaged } };
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
    archive?.state === 'none' && 'The stage keeps no archive, so nothing can be found by a webhookId.',
  ].filter((part) => typeof part === 'string');
  const searched = [
    logs.refused === undefined &&
      prefix !== undefined &&
      (logs.since === logs.until
        ? 'in the logs, which do not reach back so far'
        : `in the logs since ${logs.since}`),
    archive?.state === 'searched' &&
      `in the archive since ${since.toISOString()} (${counted(archive.records, 'record')} in ${counted(archive.objects, 'object')}${archive.damaged.length > 0 ? `, ${archive.damaged.length} of them damaged` : ''})`,
    queues?.refused === undefined && 'on the queues for review',
  ].filter((part) => typeof part === 'string');
  return new CommandError(
    [
      `Nothing was found for '${text}'${searched.length > 0 ? ` ${searched.join(', ')}` : ''}, until ${until.toISOString()}.`,
      ...notSearched,
      'The request may never have arrived, or API Gateway answered it itself: see its access log. The archive has an event some minutes after its effect. --since and --until change the window.',
    ].join(' '),
  );
}
