import { isEventName } from '../../../lambda/contract/catalogue.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { Stage } from '../stage.ts';
import {
  type ArchiveFindings,
  kindOf,
  MOST_CANDIDATES,
  type OnProgress,
  recordsOfLines,
  searchArchive,
} from './archive-search.ts';
import { buildTimeline } from './build-timeline.ts';
import { locate } from './locate.ts';
import type { LogLine } from './log-line.ts';
import { defaultSince, type FoundLines, queryLogs, type Window } from './log-query.ts';
import { type FoundRecord, isOf } from './messages.ts';
import type { ArchiveSearched, Trace } from './timeline.ts';
import { type IdKind, parseTraceId, type TraceId } from './trace-id.ts';

/**
 * Milliseconds in which a record may not be readable yet: Firehose collects for 900 s at most, and a batch may take
 * as long until it is archived.
 */
const ARCHIVE_BEHIND = 30 * 60 * 1000;

/** Lines of which the archive has a record. */
const SETTLED = ['Processed', 'Stale', 'Duplicate', 'DeadLettered'];

export interface TraceOptions {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly signal: AbortSignal;
  /** Told how far a search of the archive has come. */
  readonly onProgress?: OnProgress | undefined;
}

/** An event that an id may stand for. */
interface Candidate {
  readonly eventId: string;
  readonly event: string | undefined;
  readonly kind: IdKind;
  /** Epoch milliseconds: one of its times. */
  readonly at: number;
}

/**
 * Finds the timeline of one event by any of its ids: in the logs, then in the archive.
 * @returns undefined where it was interrupted
 * @throws CommandError where nothing, or more than one event, is found by the id
 */
export async function traceDelivery(
  stack: Stage,
  text: string,
  { since, until = new Date(), signal, onProgress }: TraceOptions,
): Promise<Trace | undefined> {
  const id = parseTraceId(text);
  const window = { since: since ?? defaultSince(until), until };
  if (window.until <= window.since) {
    throw new CommandError(
      `--until must be after --since: ${until.toISOString()} is not after ${window.since.toISOString()}`,
    );
  }
  const search = { signal, onProgress };

  const logs = await queryLogs(
    stack,
    { eventIdPrefix: id.eventIdPrefix, requestId: id.text },
    window,
    signal,
  );
  if (logs === undefined) return undefined;
  const candidate = onlyOne(id, candidatesOfLines(id, logs.lines));
  if (candidate !== undefined) {
    // By a request only its own delivery is found.
    const all =
      candidate.kind === 'eventId'
        ? logs
        : await queryLogs(stack, { eventIdPrefix: candidate.eventId }, window, signal);
    if (all === undefined) return undefined;
    const archived = await archiveOfLines(all.lines);
    return signal.aborted ? undefined : traceOf(candidate, all, archived);
  }

  if (!keepsArchive(stack)) throw unknown(id, logs, undefined, window);
  const archive = await searchArchive(stack, id, window, search);
  if (signal.aborted) return undefined;
  const known = onlyOne(id, candidatesOfRecords(id, archive.found));
  if (known === undefined) throw unknown(id, logs, archive, window);
  if (known.kind === 'eventId') return traceOf(known, logs, { state: 'searched', ...archive });
  const lines = await queryLogs(stack, { eventIdPrefix: known.eventId }, window, signal);
  if (lines === undefined) return undefined;
  // Its other deliveries and replays have other ids, and no body.
  const whole = parseTraceId(known.eventId);
  const records = await searchArchive(stack, whole, window, search);
  return signal.aborted ? undefined : traceOf(known, lines, { state: 'searched', ...records });

  async function archiveOfLines(
    lines: readonly LogLine[],
  ): Promise<(ArchiveSearched & { found: readonly FoundRecord[] }) | undefined> {
    const settled = lines.filter(({ message }) => SETTLED.includes(message));
    const event = settled.find((line) => line.event !== undefined)?.event;
    if (event === undefined || !isEventName(event)) return undefined;
    if (!keepsArchive(stack)) return { state: 'none', found: [], objects: 0, records: 0, damaged: [] };
    try {
      const findings = await recordsOfLines(stack, event, settled, { signal });
      const missing = settled.filter((line) => !findings.found.some((record) => isOf(record, line)));
      const isEarly = missing.some(({ at }) => Date.now() - at < ARCHIVE_BEHIND);
      return { state: isEarly ? 'early' : 'searched', ...findings };
    } catch (error) {
      // Who may read logs need not be allowed to read what the partner sent.
      if (!(error instanceof Error) || !('$metadata' in error)) throw error;
      return { state: 'refused', reason: error.name, found: [], objects: 0, records: 0, damaged: [] };
    }
  }

  async function traceOf(
    { eventId, kind }: Candidate,
    { lines, searched }: FoundLines,
    found: (ArchiveSearched & { found: readonly FoundRecord[] }) | undefined,
  ): Promise<Trace> {
    const { found: records = [], ...archiveSearched } = found ?? {};
    const own = lines.filter((line) => line.eventId === eventId);
    const timeline = buildTimeline(eventId, own, records, Date.now());
    return {
      stack: stack.title,
      id: id.text,
      idIs: kind,
      timeline: await locate(stack, timeline),
      sources: {
        logs: searched,
        ...('state' in archiveSearched && { archive: archiveSearched }),
      },
    };
  }
}

const keepsArchive = ({ outputs }: Stage) => outputs.ArchiveBucket !== undefined;

function candidatesOfLines(id: TraceId, lines: readonly LogLine[]): Candidate[] {
  return lines.map(({ eventId, event, at }) => {
    const isEventId = id.eventIdPrefix !== undefined && eventId.startsWith(id.eventIdPrefix);
    return { eventId, event, at, kind: isEventId ? 'eventId' : 'requestId' };
  });
}

function candidatesOfRecords(id: TraceId, found: readonly FoundRecord[]): Candidate[] {
  return found.flatMap(({ record }) => {
    const kind = kindOf(id, record);
    const { eventId, event, settledAt } = record;
    return kind === undefined ? [] : [{ eventId, event, kind, at: Date.parse(settledAt) }];
  });
}

/**
 * @returns undefined where there is none
 * @throws CommandError where there are several, which it lists
 */
function onlyOne({ text }: TraceId, candidates: readonly Candidate[]): Candidate | undefined {
  const byEvent = Map.groupBy(candidates, ({ eventId }) => eventId);
  const events = [...byEvent.values()].map(
    (ofEvent) => ofEvent.find(({ event }) => event !== undefined) ?? ofEvent[0],
  );
  const [only, ...others] = events.filter((candidate) => candidate !== undefined);
  if (only === undefined || others.length === 0) return only;
  const listed = [only, ...others].slice(0, MOST_CANDIDATES).map(({ eventId, event, at }) => {
    return `${eventId} (${[event, new Date(at).toISOString()].filter(Boolean).join(', ')})`;
  });
  const more = others.length + 1 > listed.length ? ' and more' : '';
  throw new CommandError(`'${text}' is of several events. One of: ${listed.join(', ')}${more}`);
}

/** `1 record in 1 object`. */
const looked = ({ records, objects, damaged }: ArchiveFindings) => {
  const count = (number: number, noun: string) => `${number} ${number === 1 ? noun : `${noun}s`}`;
  const damage = damaged.length > 0 ? `, ${damaged.length} of them damaged` : '';
  return `${count(records, 'record')} in ${count(objects, 'object')}${damage}`;
};

function unknown(
  { text }: TraceId,
  { searched }: FoundLines,
  archive: ArchiveFindings | undefined,
  window: Window,
): CommandError {
  const until = ` until ${window.until.toISOString()}`;
  const inLogs =
    searched.since === searched.until
      ? 'in the logs, which do not reach back so far'
      : `in the logs since ${searched.since}`;
  const inArchive =
    archive === undefined
      ? ', and this stack keeps no archive'
      : `, nor in the archive since ${window.since.toISOString()} (${looked(archive)})`;
  return new CommandError(
    `Nothing of '${text}' ${inLogs}${inArchive}${until}. Its request may never have come, or API Gateway has answered it by itself, which its access log knows; by a webhookId an event is found once the archive has it. --since and --until look elsewhere`,
  );
}
