import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { matches } from '../archive/filter.ts';
import { readArchive } from '../archive/reader.ts';
import type { Stage } from '../stage.ts';
import type { LogLine } from './log-line.ts';
import type { Window } from './log-query.ts';
import { type FoundRecord, isOf, LINE_TO_RECORD } from './messages.ts';
import type { IdKind, TraceId } from './trace-id.ts';

/** Events from which on more of them help nobody to choose. */
export const MOST_CANDIDATES = 10;

/** What was found, and in how much. */
export interface ArchiveFindings {
  readonly found: readonly FoundRecord[];
  readonly objects: number;
  readonly records: number;
  readonly damaged: readonly string[];
}

/** How far a search has come, in objects. */
export type OnProgress = (done: number, total: number) => void;

interface Search {
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
}

/**
 * The records of whatever an id may stand for, from the newest object on.
 * @param events absent: all
 */
export async function searchArchive(
  stack: Stage,
  id: TraceId,
  window: Window,
  search: Search & { readonly events?: readonly EventName[] },
): Promise<ArchiveFindings> {
  const { events, signal, onProgress = () => {} } = search;
  const found: FoundRecord[] = [];
  const reading = readArchive(stack, {
    ...window,
    events,
    order: 'newest-first',
    signal,
    progress: { show: ({ done, total }) => onProgress(done, total), end: () => {} },
  });
  for await (const object of reading) {
    for await (const { record } of object.records()) {
      const isFound = matches(window, record) && kindOf(id, record) !== undefined;
      if (isFound) found.push({ record, object: object.key });
    }
    if (new Set(found.map(({ record }) => record.eventId)).size > MOST_CANDIDATES) break;
  }
  return findingsOf(found, [reading]);
}

/**
 * The records that belong to log lines: reads only the objects around their times, and no more than necessary.
 * @param lines of one event that say that a message is settled
 */
export async function recordsOfLines(
  stack: Stage,
  event: EventName,
  lines: readonly LogLine[],
  { signal }: Search,
): Promise<ArchiveFindings> {
  const ids = new Set(lines.map(({ eventId }) => eventId));
  const found: FoundRecord[] = [];
  const read = new Set<string>();
  const isFound = (line: LogLine) => found.some((record) => isOf(record, line));
  const readings: ReturnType<typeof readArchive>[] = [];
  for (const line of lines) {
    if (isFound(line)) continue;
    const reading = readArchive(stack, {
      events: [event],
      since: new Date(line.at - LINE_TO_RECORD),
      until: new Date(line.at + LINE_TO_RECORD),
      skip: (key) => read.has(key),
      signal,
    });
    readings.push(reading);
    for await (const object of reading) {
      read.add(object.key);
      for await (const { record } of object.records()) {
        if (ids.has(record.eventId)) found.push({ record, object: object.key });
      }
      if (isFound(line)) break;
    }
  }
  return findingsOf(found, readings);
}

const findingsOf = (
  found: readonly FoundRecord[],
  readings: readonly ReturnType<typeof readArchive>[],
): ArchiveFindings => ({
  found,
  objects: readings.reduce((sum, { objects }) => sum + objects, 0),
  records: readings.reduce((sum, { records }) => sum + records, 0),
  damaged: readings.flatMap(({ damaged }) => damaged.map(({ message }) => message)),
});

/** What an id is to a record; undefined where it is nothing. */
export function kindOf({ text, eventIdPrefix }: TraceId, record: ArchiveRecord): IdKind | undefined {
  if (eventIdPrefix !== undefined && record.eventId.startsWith(eventIdPrefix)) return 'eventId';
  if (record.requestId === text) return 'requestId';
  return webhookIdIs(text, record.body) ? 'webhookId' : undefined;
}

function webhookIdIs(text: string, body: string | undefined): boolean {
  // Escaped or not, most bodies do not have it.
  if (body === undefined || !(body.includes(text) || body.includes('\\'))) return false;
  try {
    const payload: unknown = JSON.parse(body);
    return (
      typeof payload === 'object' && payload !== null && 'webhookId' in payload && payload.webhookId === text
    );
  } catch {
    // A dead letter may be so because of what its body is.
    return false;
  }
}
