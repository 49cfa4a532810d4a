import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import type { EffectOutcome } from '../../../lambda/effects/outcome.ts';
import { errorOf, type LogLine } from './log-line.ts';
import type { Request } from './requests.ts';
import type { Origin } from './timeline.ts';

/** Milliseconds between a line and its record at most: between them is one call of a batch, to bury a dead letter. */
export const LINE_TO_RECORD = 60_000;

/** A record, and the object of the archive that has it. */
export interface FoundRecord {
  readonly record: ArchiveRecord;
  readonly object: string;
}

/** How an attempt ended. */
export interface Work {
  readonly kind: EffectOutcome | 'failed' | 'dead-lettered';
  /** Epoch milliseconds. */
  readonly at: number;
  readonly attempt: number;
  readonly latencyMs?: number | undefined;
  readonly error?: string | undefined;
  readonly retryInSeconds?: number | undefined;
  /** Its record in the archive. */
  readonly record?: FoundRecord | undefined;
}

/** A message on an event's queue: by its lines, or by a record where the log has none any more. */
export interface Message {
  readonly messageId: string | undefined;
  readonly requestId: string | undefined;
  readonly origin: Origin;
  /** In order of time. */
  readonly works: readonly Work[];
  /** It came back all the same: it could not be put on the dead-letter queue. */
  readonly buryFailed: boolean;
  /** Whether the log reaches back to its beginning. */
  readonly isWhole: boolean;
}

const KINDS: Readonly<Record<string, Work['kind']>> = {
  Processed: 'Processed',
  Stale: 'Stale',
  Duplicate: 'Duplicate',
  Failed: 'failed',
  DeadLettered: 'dead-lettered',
};

export const endsAttempt = ({ message }: LogLine) => Object.hasOwn(KINDS, message);

type Draft = Omit<Message, 'origin' | 'isWhole'> & { readonly replay: string | undefined };

/** The messages that an event became, in order of time. @param lines in order of time */
export function messagesOf(
  lines: readonly LogLine[],
  requests: readonly Request[],
  records: readonly FoundRecord[],
): Message[] {
  const left = new Set(withoutCopies(records));
  const byId = Map.groupBy(
    lines.filter(({ messageId }) => messageId !== undefined),
    ({ messageId = '' }) => messageId,
  );
  const ofLines = [...byId].map(([messageId, own]) => draftOfLines(messageId, own, left));
  const drafts = [...ofLines, ...[...left].map(draftOfRecord)].filter(({ works }) => works.length > 0);
  drafts.sort((a, b) => firstOf(a) - firstOf(b));
  return drafts.map((draft, index) => ({
    ...draft,
    origin: originOf(draft, drafts.slice(0, index), requests, records),
    isWhole:
      draft.messageId !== undefined &&
      (draft.replay !== undefined ||
        requests.some(({ requestId, end }) => end && requestId === draft.requestId)),
  }));
}

const firstOf = ({ works }: Draft) => works[0]?.at ?? 0;

/** Firehose delivers a record at least once. */
function withoutCopies(records: readonly FoundRecord[]): FoundRecord[] {
  const key = ({ record: { requestId, settledAt, outcome, attempt, replay } }: FoundRecord) =>
    JSON.stringify([requestId, settledAt, outcome, attempt, replay?.name]);
  return [...new Map(records.toReversed().map((found) => [key(found), found])).values()].reverse();
}

/** @param left the records that are no line's yet; takes its own out */
function draftOfLines(messageId: string, lines: readonly LogLine[], left: Set<FoundRecord>): Draft {
  const [{ requestId, replay } = { requestId: undefined, replay: undefined }] = lines;
  const works = lines.filter(endsAttempt).map((line): Work => {
    const kind = KINDS[line.message] ?? 'failed';
    const record = [...left].find((found) => isOf(found, line));
    if (record !== undefined) left.delete(record);
    return {
      kind,
      at: line.at,
      attempt: line.attempt ?? 1,
      latencyMs: line.latencyMs,
      ...(line.error !== undefined && { error: errorOf(line) }),
      retryInSeconds: line.retryInSeconds,
      record,
    };
  });
  const last = works.at(-1)?.at ?? 0;
  const buryFailed = lines.some(({ message, at }) => message === 'BuryFailed' && at >= last);
  return { messageId, requestId, replay, works, buryFailed };
}

/** Whether a record is of the attempt that a line tells of. */
export const isOf = ({ record }: FoundRecord, line: LogLine) =>
  record.outcome === line.message &&
  record.attempt === line.attempt &&
  record.requestId === line.requestId &&
  record.replay?.name === line.replay &&
  Math.abs(Date.parse(record.settledAt) - line.at) <= LINE_TO_RECORD;

function draftOfRecord(found: FoundRecord): Draft {
  const { requestId, replay, outcome, settledAt, attempt, failureReason } = found.record;
  const work: Work = {
    kind: outcome === 'DeadLettered' ? 'dead-lettered' : outcome,
    at: Date.parse(settledAt),
    attempt,
    error: failureReason,
    record: found,
  };
  return { messageId: undefined, requestId, replay: replay?.name, works: [work], buryFailed: false };
}

function originOf(
  draft: Draft,
  before: readonly Draft[],
  requests: readonly Request[],
  records: readonly FoundRecord[],
): Origin {
  const { replay: name, requestId } = draft;
  if (name !== undefined) {
    const replay = records.find(({ record }) => record.replay?.name === name)?.record.replay;
    return { kind: 'replay', name, ...(replay && { mode: replay.mode, notify: replay.notify }) };
  }
  if (requestId === undefined) return { kind: 'by hand' };
  const wasParked = requests.some(
    (request) => request.requestId === requestId && request.end?.message === 'Parked',
  );
  const earlier = before.filter((other) => other.replay === undefined && other.requestId === requestId);
  if (earlier.length === 0) return { kind: wasParked ? 'redriven' : 'delivery' };
  // A dead letter, or one that SQS moved: nothing else makes a new message of an old one.
  return { kind: earlier.some((other) => isGivenUp(other, firstOf(draft))) ? 'redriven' : 'repeated' };
}

/** Whether a message had ended without an effect at a time. */
function isGivenUp({ works }: Draft, at: number): boolean {
  const last = works.findLast((work) => work.at <= at);
  if (last === undefined) return false;
  if (last.kind === 'failed') return last.at + (last.retryInSeconds ?? 0) * 1000 < at;
  return last.kind === 'dead-lettered';
}
