import {
  DEAD_LETTER_NOT_SENT,
  DEAD_LETTERED,
  DUPLICATE,
  FAILED,
  PROCESSED,
  STALE,
  STARTED,
} from '../../../lambda/log-messages.ts';
import { type CrashFact, type DeadLetterFact, type Fact, ofKind, type RecordFact } from './facts.ts';
import { type MessageOrigin, type SkipReason, type StepKind, skipReason } from './history.ts';
import type { ParsedLogLine } from './log-line.ts';
import type { HistoryRequest } from './requests.ts';

/** Maximum milliseconds between a log line and its record. In between is one batch call that sends dead letters. */
export const LINE_TO_RECORD = 60_000;

/** Log messages that end an attempt of a consumer. */
const ENDS: Readonly<Record<string, StepKind>> = {
  [PROCESSED]: 'processed',
  [STALE]: 'skipped',
  [DUPLICATE]: 'skipped',
  [FAILED]: 'failed',
  [DEAD_LETTERED]: 'dead-lettered',
};

/** An attempt that has ended. */
export interface HistoryAttempt {
  readonly kind: StepKind;
  /** Epoch milliseconds. For an attempt that ended without a line: when that became known. */
  readonly at: number;
  readonly attempt: number;
  readonly reason?: SkipReason | undefined;
  readonly latencyMs?: number | undefined;
  readonly error?: string | undefined;
  readonly retryInSeconds?: number | undefined;
  readonly record?: RecordFact | undefined;
}

type AttemptTime = Pick<HistoryAttempt, 'at' | 'attempt'>;

export interface HistoryMessage {
  readonly messageId?: string | undefined;
  readonly requestId: string | undefined;
  /** Name of the replay that sent it. */
  readonly replay?: string | undefined;
  /** In order of time. */
  readonly attempts: readonly HistoryAttempt[];
  /** An attempt that has started and whose end is not known. */
  readonly started?: AttemptTime | undefined;
  /** The message could not be sent to the dead-letter queue, so it is retried although it was given up. */
  readonly notMoved?: boolean;
  readonly origin: MessageOrigin;
}

type MessageWithoutOrigin = Omit<HistoryMessage, 'origin'>;

const isStart = ({ message, messageId }: ParsedLogLine) => messageId !== undefined && message === STARTED;

const isEnd = ({ message, messageId }: ParsedLogLine) =>
  messageId !== undefined && Object.hasOwn(ENDS, message);

/** Whether a line is about the start or the end of an attempt. */
export const isOfAttempt = (line: ParsedLogLine) => isStart(line) || isEnd(line);

/** What is known of the messages of an event. */
interface MessageSources {
  readonly lines: readonly ParsedLogLine[];
  readonly crashes: readonly CrashFact[];
  /** Dead letters that SQS moved. */
  readonly moved: readonly DeadLetterFact[];
  readonly recordOf: ReadonlyMap<ParsedLogLine, RecordFact>;
  /** Ids of requests in the log. For their messages, the log also has the first attempts. */
  readonly logged: ReadonlySet<string | undefined>;
}

/** The messages of an event, in order of time. */
export function messagesOf(
  facts: readonly Fact[],
  lines: readonly ParsedLogLine[],
  requests: readonly HistoryRequest[],
): HistoryMessage[] {
  const records = ofKind(facts, 'record');
  const recordOf = recordsOfLines(lines, records);
  const withLine = new Set(recordOf.values());
  const crashes = ofKind(facts, 'crash');
  // Parked and quarantined messages had no consumer.
  const deadLetters = ofKind(facts, 'dead-letter').filter(({ queue }) => queue === undefined);
  const moved = deadLetters.filter(({ error }) => error === undefined);
  const logged = new Set(requests.map(({ requestId }) => requestId));
  const ids = new Set([...lines, ...crashes, ...moved].flatMap(({ messageId }) => messageId ?? []));
  const fromSources = [
    ...[...ids].map((messageId) => messageFromLines(messageId, { lines, crashes, moved, recordOf, logged })),
    ...records.filter((record) => !withLine.has(record)).map(messageFromRecord),
  ];
  // A consumer sends a dead letter as a new message. The log line of its last attempt may already be known.
  const isReported = ({ requestId }: DeadLetterFact) =>
    fromSources.some(
      (message) =>
        message.requestId === requestId && message.attempts.some(({ kind }) => kind === 'dead-lettered'),
    );
  const all = [
    ...fromSources,
    ...deadLetters.filter((deadLetter) => !isReported(deadLetter)).map(messageFromDeadLetter),
  ]
    .filter(({ attempts, started }) => attempts.length > 0 || started !== undefined)
    .map((message, _index, every) => withLostAnswer(message, every))
    .sort(byTime);
  return all.map((message, index) => ({
    ...message,
    origin: originOf(message, all.slice(0, index), requests, records),
  }));
}

/**
 * If no other message had the effect, an attempt that found the event processed follows one that processed it and did not
 * get its answer.
 */
function withLostAnswer(
  message: MessageWithoutOrigin,
  all: readonly MessageWithoutOrigin[],
): MessageWithoutOrigin {
  const isLost = ({ kind, reason }: HistoryAttempt, index: number) =>
    kind === 'skipped' &&
    reason === 'already-processed' &&
    message.attempts.slice(0, index).some((one) => one.kind === 'failed' || one.kind === 'crashed');
  const isOther = all.some(({ attempts }) => attempts.some(({ kind }) => kind === 'processed'));
  if (isOther || !message.attempts.some(isLost)) return message;
  const attempts = message.attempts.map((one, index) =>
    isLost(one, index) ? ({ ...one, kind: 'processed', reason: 'answer-lost' } as const) : one,
  );
  return { ...message, attempts };
}

/** The record of each line that ends an attempt, if it is known. */
function recordsOfLines(lines: readonly ParsedLogLine[], records: readonly RecordFact[]) {
  const left = new Set(records);
  const found = new Map<ParsedLogLine, RecordFact>();
  for (const line of lines.filter(isEnd)) {
    const record = [...left].find((fact) => isOf(fact, line));
    if (record === undefined) continue;
    found.set(line, record);
    left.delete(record);
  }
  return found;
}

/** Whether a record belongs to the attempt that a line reports. */
export const isOf = ({ record }: RecordFact, line: ParsedLogLine): boolean =>
  record.outcome === line.message &&
  record.attempt === line.attempt &&
  record.requestId === line.requestId &&
  record.replay?.name === line.replay &&
  Math.abs(Date.parse(record.settledAt) - line.at) <= LINE_TO_RECORD;

export const startOf = ({ attempts, started }: MessageWithoutOrigin) => attempts[0]?.at ?? started?.at ?? 0;

const byTime = (a: MessageWithoutOrigin, b: MessageWithoutOrigin) =>
  startOf(a) - startOf(b) || ((a.messageId ?? '') < (b.messageId ?? '') ? -1 : 1);

/** A message whose id is in log lines, in a crash or on the dead-letter queue. */
function messageFromLines(messageId: string, known: MessageSources): MessageWithoutOrigin {
  const isOwn = (other: { readonly messageId?: string | undefined }) => other.messageId === messageId;
  const lines = known.lines.filter(isOwn);
  const crashes = known.crashes.filter(isOwn);
  const deadLetter = known.moved.find(isOwn);
  const requestId = lines[0]?.requestId ?? deadLetter?.requestId ?? crashes[0]?.requestId;
  const replay = lines[0]?.replay;

  const ends = lines.filter(isEnd);
  const ended = [
    ...ends.map((line) => attemptOf(line, known.recordOf.get(line))),
    ...crashes
      .filter((crash) => !ends.some(({ attempt }) => attempt === crash.attempt))
      .map(({ at, attempt, error }) => ({ kind: 'crashed', at, attempt, error }) as const),
  ];
  const starts = lines.filter(isStart).map(({ attempt = 1, at }) => ({ attempt, at }));
  const times: AttemptTime[] = [...ended, ...starts];
  const latest = Math.max(0, ...times.map(({ attempt }) => attempt));
  const started = starts.find(
    ({ attempt }) => attempt === latest && !ended.some((one) => one.attempt === latest),
  );
  const isMoved = deadLetter !== undefined || (started !== undefined && isReplaced(lines, known.lines));
  const last = isMoved ? Math.max(latest, deadLetter?.receives ?? 0) : latest - 1;
  const isWhole = deadLetter !== undefined || replay !== undefined || known.logged.has(requestId);
  const first = isWhole ? 1 : Math.min(...times.map(({ attempt }) => attempt));
  const end = Math.max(deadLetter?.at ?? 0, ...times.map(({ at }) => at));
  const moves = isMoved ? [{ kind: 'dead-lettered', at: end, attempt: last } as const] : [];
  const lastEnd = ends.at(-1)?.at ?? 0;
  return {
    messageId,
    requestId,
    replay,
    attempts: [...ended, ...attemptsWithoutEnd(first, last, ended, times, end), ...moves].sort(
      (a, b) => a.at - b.at || a.attempt - b.attempt,
    ),
    started: isMoved ? undefined : started,
    notMoved:
      deadLetter === undefined &&
      lines.some(({ message, at }) => message === DEAD_LETTER_NOT_SENT && at >= lastEnd),
  };
}

/**
 * Whether the same request has another message that began later. Then SQS had moved this message, and somebody redrove
 * it.
 */
function isReplaced(own: readonly ParsedLogLine[], lines: readonly ParsedLogLine[]): boolean {
  const last = own.at(-1);
  if (last === undefined) return false;
  const others = lines.filter(
    ({ messageId, requestId, replay }) =>
      messageId !== undefined &&
      messageId !== last.messageId &&
      requestId === last.requestId &&
      replay === last.replay,
  );
  const byMessage = Map.groupBy(others, ({ messageId }) => messageId);
  return [...byMessage.values()].some((ofOne) => ofOne.every(({ at }) => at > last.at));
}

function attemptOf(line: ParsedLogLine, record: RecordFact | undefined): HistoryAttempt {
  const { message, at, attempt = 1, latencyMs, error, retryInSeconds, replay } = line;
  const kind = ENDS[message] ?? 'failed';
  return { kind, at, attempt, reason: skipReason(message, replay), latencyMs, error, retryInSeconds, record };
}

/**
 * Attempts of a message that ended without a line: they crashed, timed out, or were throttled. The time of such an end
 * is the start of a later attempt.
 * @param times of the message's other attempts
 * @param end when SQS moved it
 */
function attemptsWithoutEnd(
  first: number,
  last: number,
  ended: readonly AttemptTime[],
  times: readonly AttemptTime[],
  end: number,
): HistoryAttempt[] {
  const numbers = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  return numbers
    .filter((attempt) => !ended.some((one) => one.attempt === attempt))
    .map((attempt) => {
      const later = times.filter((one) => one.attempt > attempt).map(({ at }) => at);
      return { kind: 'crashed', at: Math.min(end, ...later), attempt };
    });
}

/** A message whose lines have expired. */
function messageFromRecord(record: RecordFact): MessageWithoutOrigin {
  const { requestId, replay, outcome, attempt, failureReason: error, receivedAt } = record.record;
  const { at } = record;
  const isTimed = outcome !== DEAD_LETTERED && replay === undefined;
  const latencyMs = isTimed ? Math.max(0, at - Date.parse(receivedAt)) : undefined;
  const kind = ENDS[outcome] ?? 'processed';
  const reason = skipReason(outcome, replay?.name);
  return {
    requestId,
    replay: replay?.name,
    attempts: [{ kind, at, attempt, reason, latencyMs, error, record }],
  };
}

const messageFromDeadLetter = ({
  messageId,
  requestId,
  at,
  error,
}: DeadLetterFact): MessageWithoutOrigin => ({
  messageId,
  requestId,
  attempts: [{ kind: 'dead-lettered', at, attempt: 1, error }],
});

function originOf(
  message: MessageWithoutOrigin,
  before: readonly MessageWithoutOrigin[],
  requests: readonly HistoryRequest[],
  records: readonly RecordFact[],
): MessageOrigin {
  const { replay: name, requestId } = message;
  if (name !== undefined) {
    const { mode, notify } = { ...records.find(({ record }) => record.replay?.name === name)?.record.replay };
    return { kind: 'replay', name, mode, notify };
  }
  if (requestId === undefined) return { kind: 'by hand' };
  const earlier = before.filter((other) => other.replay === undefined && other.requestId === requestId);
  if (earlier.length === 0) {
    const wasParked = requests.some((one) => one.requestId === requestId && one.queue === 'unrouted');
    return { kind: wasParked ? 'redriven' : 'delivery' };
  }
  // Only a redrive creates a new message from a message that was given up.
  return { kind: earlier.some((other) => isGivenUp(other, startOf(message))) ? 'redriven' : 'repeated' };
}

/** Whether a message had ended without an effect at that time. */
export function isGivenUp({ attempts }: MessageWithoutOrigin, at: number): boolean {
  const last = attempts.findLast((one) => one.at <= at);
  if (last?.kind === 'failed') return last.at + (last.retryInSeconds ?? 0) * 1000 < at;
  return last?.kind === 'dead-lettered' || last?.kind === 'crashed';
}
