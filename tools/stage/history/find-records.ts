import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { settledOutcomes } from '../../../lambda/archive/record-schema.ts';
import { isEventName } from '../../../lambda/events/catalogue.ts';
import { ARCHIVE_BUFFER_SECONDS, MAX_FUNCTION_SECONDS } from '../../../lambda/limits.ts';
import { orRefusal } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { type LineFact, type RecordFact, recordFact } from './facts.ts';
import { parsedLines } from './log-line.ts';
import { isOf, LINE_TO_RECORD } from './messages.ts';
import { type ReadingOptions, readRecords } from './records.ts';

/** Milliseconds from a log line until its record can be read: the batch ends, then Firehose buffers. */
const ARCHIVE_BEHIND = (MAX_FUNCTION_SECONDS + ARCHIVE_BUFFER_SECONDS) * 1000;

export interface ArchiveSearched {
  /** `early`: a record may not be readable yet. `none`: the stage has no archive. `refused`: permission missing. */
  readonly state: 'searched' | 'early' | 'none' | 'refused';
  readonly reason?: string;
  readonly objects: number;
  readonly records: number;
  /** Objects that could not be read to their end, and why. */
  readonly damaged: readonly string[];
}

export interface FoundRecords {
  readonly facts: readonly RecordFact[];
  /** The partner's text of each record that has one, by event id. */
  readonly bodies: ReadonlyMap<string, string>;
  readonly searched: ArchiveSearched;
}

/** @param isEnough called after each object; true stops reading */
export async function findRecords(
  stage: Stage,
  reading: Omit<ReadingOptions, 'isEnough'>,
  fits: (record: ArchiveRecord) => boolean,
  isEnough: (facts: readonly RecordFact[]) => boolean = () => false,
): Promise<FoundRecords> {
  const facts: RecordFact[] = [];
  const bodies = new Map<string, string>();
  const found = { facts, bodies };
  const nothing = { objects: 0, records: 0, damaged: [] };
  if (!stage.hasArchive) return { ...found, searched: { state: 'none', ...nothing } };
  const read = await orRefusal(stage, () =>
    readRecords(stage, { ...reading, isEnough: () => isEnough(facts) }, (record, object) => {
      if (!fits(record)) return;
      facts.push(recordFact(record, object));
      if (record.body !== undefined) bodies.set(record.eventId, record.body);
    }),
  );
  if ('refused' in read) {
    return { ...found, searched: { state: 'refused', reason: read.refused, ...nothing } };
  }
  const { objects, records, damaged } = read;
  return { ...found, searched: { state: 'searched', objects, records, damaged } };
}

/**
 * The records that belong to log lines. Reads only objects near the times of these lines, and stops when all records
 * are found.
 */
export async function recordsOfLines(
  stage: Stage,
  lines: readonly LineFact[],
  signal: AbortSignal,
): Promise<FoundRecords | undefined> {
  const settled = parsedLines(lines).filter(({ message }) =>
    settledOutcomes.some((outcome) => outcome === message),
  );
  const event = settled.find((line) => line.event !== undefined)?.event;
  if (event === undefined || !isEventName(event)) return undefined;
  const times = settled.map(({ at }) => at);
  const since = new Date(Math.min(...times) - LINE_TO_RECORD);
  const until = new Date(Math.max(...times) + LINE_TO_RECORD);
  const missing = (facts: readonly RecordFact[]) =>
    settled.filter((line) => !facts.some((fact) => isOf(fact, line)));
  const { searched, ...found } = await findRecords(
    stage,
    { events: [event], since, until, signal },
    (record) => record.eventId === settled[0]?.eventId,
    (facts) => missing(facts).length === 0,
  );
  const isEarly = missing(found.facts).some(({ at }) => Date.now() - at < ARCHIVE_BEHIND);
  const state = searched.state === 'searched' && isEarly ? 'early' : searched.state;
  return { ...found, searched: { ...searched, state } };
}
