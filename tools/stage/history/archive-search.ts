import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { DamagedObjectError } from '../archive/lines.ts';
import { type ArchivedObject, archiveObjects } from '../archive/objects.ts';
import { readObject } from '../archive/records.ts';
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
  const { events } = search;
  const objects = await collect(archiveObjects(stack, { ...window, ...(events && { events }) }));
  objects.sort((a, b) => (hourOf(a) < hourOf(b) ? 1 : -1));
  const from = window.since.getTime();
  const to = window.until.getTime();
  const fits = (record: ArchiveRecord) => {
    const at = Date.parse(record.settledAt);
    return at >= from && at < to && kindOf(id, record) !== undefined;
  };
  return read(stack, objects, fits, search, (found) => {
    return new Set(found.map(({ record }) => record.eventId)).size > MOST_CANDIDATES;
  });
}

/**
 * The records that belong to log lines: only the objects around their times are read, and no more than it takes.
 * @param lines of one event that say that a message is settled
 */
export async function recordsOfLines(
  stack: Stage,
  event: EventName,
  lines: readonly LogLine[],
  search: Search,
): Promise<ArchiveFindings> {
  const objects = new Map<string, ArchivedObject>();
  for (const { at } of lines) {
    const window = { since: new Date(at - LINE_TO_RECORD), until: new Date(at + LINE_TO_RECORD) };
    for (const object of await collect(archiveObjects(stack, { events: [event], ...window }))) {
      objects.set(object.key, object);
    }
  }
  const ids = new Set(lines.map(({ eventId }) => eventId));
  return read(
    stack,
    [...objects.values()],
    (record) => ids.has(record.eventId),
    search,
    (found) => lines.every((line) => found.some((record) => isOf(record, line))),
  );
}

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

/** By day and hour, whichever the event. */
const hourOf = ({ key }: ArchivedObject) => key.slice(key.indexOf('/date='));

async function read(
  stack: Stage,
  objects: readonly ArchivedObject[],
  fits: (record: ArchiveRecord) => boolean,
  { signal, onProgress }: Search,
  isEnough: (found: readonly FoundRecord[]) => boolean,
): Promise<ArchiveFindings> {
  const found: FoundRecord[] = [];
  const damaged: string[] = [];
  let records = 0;
  let done = 0;
  for (const object of objects) {
    if (signal.aborted) break;
    onProgress?.(done, objects.length);
    done += 1;
    try {
      for await (const { record } of readObject(stack, object, signal)) {
        records += 1;
        if (fits(record)) found.push({ record, object: object.key });
      }
    } catch (error) {
      if (!(error instanceof DamagedObjectError)) throw error;
      damaged.push(error.message);
    }
    if (isEnough(found)) break;
  }
  return { found, objects: done, records, damaged };
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
