import {
  DEAD_LETTER_NOT_SENT,
  DEAD_LETTERED,
  DUPLICATE,
  FAILED,
  PROCESSED,
  STALE,
  STARTED,
} from '../../../lambda/log-messages.ts';
import {
  byTime,
  CRASHED,
  type DeadLetterFact,
  type ExchangeFact,
  type Fact,
  isoTime,
  type LineFact,
  ofKind,
  type RecordFact,
} from './facts.ts';
import { type HistoryStep, type MessageOrigin, type SkipReason, type StepKind, stateOn } from './history.ts';

/** Maximum milliseconds between a log line and its record. In between is one batch call that sends dead letters. */
export const LINE_TO_RECORD = 60_000;

/** Log messages that end an attempt of a consumer. */
const ENDS: Readonly<Record<string, StepKind>> = {
  [PROCESSED]: 'processed',
  [STALE]: 'skipped',
  [DUPLICATE]: 'skipped',
  [FAILED]: 'failed',
  [CRASHED]: 'crashed',
  [DEAD_LETTERED]: 'dead-lettered',
};

/** A request, and how the receiver answered it. */
export interface HistoryRequest {
  readonly requestId: string;
  readonly exchange: ExchangeFact | undefined;
  readonly end: LineFact | undefined;
  readonly status: number;
  /**
   * Where the receiver put the payload: an event's queue, `unrouted` or `quarantine`. Undefined if it stored nothing.
   */
  readonly queue: string | undefined;
  /** When the request was answered. Epoch milliseconds. */
  readonly at: number;
}

/** A step. If it ended without a line, `at` is when that became known. */
type EndedAttempt = HistoryStep & { readonly attempt: number };

export interface HistoryMessage {
  readonly messageId?: string | undefined;
  readonly requestId: string | undefined;
  /** Name of the replay that sent it. */
  readonly replay?: string | undefined;
  readonly attempts: readonly EndedAttempt[];
  /** An attempt that has started and whose end is not known. */
  readonly started?: { readonly at: string; readonly attempt: number } | undefined;
}

const isStart = ({ message, messageId }: LineFact) => messageId !== undefined && message === STARTED;

const isEnd = ({ message, messageId }: LineFact) => messageId !== undefined && Object.hasOwn(ENDS, message);

export const isOfAttempt = (line: LineFact) => isStart(line) || isEnd(line);

export function messagesOf(
  facts: readonly Fact[],
  lines: readonly LineFact[],
  requests: readonly HistoryRequest[],
): HistoryMessage[] {
  const records = ofKind(facts, 'record').filter(({ record }) => !lines.some((line) => isOf(record, line)));
  // Parked and quarantined messages had no consumer.
  const deadLetters = ofKind(facts, 'dead-letter').filter(({ queue }) => stateOn(queue) === 'dead-letter');
  const movedBySqs = new Map(
    deadLetters.filter(({ error }) => error === undefined).map((fact) => [fact.messageId, fact]),
  );
  // For the messages of logged requests, the log also has the first attempts.
  const logged = new Set(requests.map(({ requestId }) => requestId));
  const ids = new Set([...lines.flatMap(({ messageId }) => messageId ?? []), ...movedBySqs.keys()]);
  const known: HistoryMessage[] = [
    ...[...ids].map((id) => messageFromLines(id, lines, movedBySqs.get(id), logged)),
    ...records.map(messageFromRecord),
  ];
  // A consumer sends a dead letter as a new message, and logs the attempt. Either may be known first.
  const isReported = ({ requestId }: DeadLetterFact) =>
    known.some(
      (message) =>
        message.requestId === requestId && message.attempts.some(({ kind }) => kind === 'dead-lettered'),
    );
  for (const fact of deadLetters.filter((one) => !isReported(one))) {
    const sentAt = isoTime(fact.at);
    const own = known.findLast(
      (one) => one.requestId === fact.requestId && one.replay === undefined && isGivenUp(one, sentAt),
    );
    if (own !== undefined) known.splice(known.indexOf(own), 1);
    known.push(messageFromDeadLetter(fact, own));
  }
  const all = known
    .filter(({ attempts, started }) => attempts.length > 0 || started !== undefined)
    .sort((a, b) => (`${startOf(a)} ${a.messageId ?? ''}` < `${startOf(b)} ${b.messageId ?? ''}` ? -1 : 1));
  const lost = attemptAfterLostAnswer(all, facts, requests);
  return all.map((message, index) => {
    const origin = originOf(message, all.slice(0, index), requests);
    const attempts = message.attempts.map((one): EndedAttempt => {
      const processed = one === lost && ({ kind: 'processed', reason: 'answer-lost' } as const);
      return { ...one, ...processed, origin };
    });
    return { ...message, attempts };
  });
}

export const isOf = (record: RecordFact['record'], line: LineFact): boolean =>
  record.outcome === line.message &&
  record.attempt === line.attempt &&
  record.requestId === line.requestId &&
  record.replay?.name === line.replay &&
  Math.abs(Date.parse(record.settledAt) - line.at) <= LINE_TO_RECORD;

export const startOf = ({ attempts, started }: HistoryMessage) => attempts[0]?.at ?? started?.at ?? '';

/** A message whose id is in log lines or on the dead-letter queue. */
function messageFromLines(
  messageId: string,
  allLines: readonly LineFact[],
  moved: DeadLetterFact | undefined,
  logged: ReadonlySet<string | undefined>,
): HistoryMessage {
  const lines = allLines.filter((line) => line.messageId === messageId);
  const [{ requestId = moved?.requestId, replay } = {}] = lines;
  const ids = { requestId, messageId };
  const ends = lines.filter(isEnd);
  const isCrash = ({ message }: LineFact) => message === CRASHED;
  // A batch can crash after some of its messages were settled.
  const ended = ends
    .filter((one) => !isCrash(one) || !ends.some((end) => !isCrash(end) && end.attempt === one.attempt))
    .map((line) => attemptOf(line, lines));
  const hasEnded = (attempt: number) => ended.some((one) => one.attempt === attempt);
  const starts = lines.filter(isStart).map(({ attempt = 1, at }) => ({ attempt, at: isoTime(at) }));
  const times = [...ended, ...starts].sort(byTime);
  const numbers = times.map(({ attempt }) => attempt);
  const latest = Math.max(0, ...numbers);
  const started = starts.find(({ attempt }) => attempt === latest && !hasEnded(attempt));
  const isMoved = moved !== undefined || (started !== undefined && isReplaced(lines, allLines));
  const end = times.at(-1)?.at ?? isoTime(moved?.at ?? 0);

  // Other attempts ended without a line: they crashed, timed out, or were throttled. A later start shows that.
  const isWhole = moved !== undefined || replay !== undefined || logged.has(requestId);
  const last = isMoved ? latest : latest - 1;
  const silent: EndedAttempt[] = [];
  for (let attempt = isWhole ? 1 : Math.min(...numbers); attempt <= last; attempt += 1) {
    const at = times.find((one) => one.attempt > attempt)?.at ?? end;
    if (!hasEnded(attempt)) silent.push({ kind: 'crashed', at, ...ids, attempt });
  }
  if (isMoved) silent.push({ kind: 'dead-lettered', at: end, ...ids, attempt: Math.max(1, last) });
  const attempts = [...ended, ...silent].sort((a, b) => byTime(a, b) || a.attempt - b.attempt);
  return { ...ids, replay, attempts, started: isMoved ? undefined : started };
}

/** Whether another message of the same request began later: SQS had moved this one, and somebody redrove it. */
function isReplaced(own: readonly LineFact[], lines: readonly LineFact[]): boolean {
  const { messageId, requestId, replay, at: end = 0 } = own.at(-1) ?? {};
  const others = lines.filter((line) => line.requestId === requestId && line.replay === replay);
  const begun = new Map(others.toReversed().map((line) => [line.messageId, line.at]));
  return [...begun].some(([id, at]) => id !== undefined && id !== messageId && at > end);
}

/** @param lines all of its message */
function attemptOf(
  { at, ...line }: Pick<LineFact, 'at' | 'message'> & Partial<LineFact>,
  lines: readonly LineFact[] = [],
): EndedAttempt {
  const { message, requestId, messageId, attempt = 1, latencyMs, error, retryInSeconds = 0, replay } = line;
  const base = { at: isoTime(at), requestId, messageId, attempt, latencyMs, error };
  const kind = ENDS[message] ?? 'failed';
  // A message that could not be moved is retried, although it was given up.
  const isNotMoved = lines.some((one) => one.message === DEAD_LETTER_NOT_SENT && one.attempt === attempt);
  if (kind === 'dead-lettered' && isNotMoved) return { ...base, kind: 'failed' };
  if (kind !== 'failed') return { ...base, kind, reason: skipReason(message, replay) };
  const nextAttemptAt = isoTime(at + retryInSeconds * 1000);
  return { ...base, kind, error: error ?? 'Error', nextAttemptAt };
}

/** Why an attempt with this outcome needed no effect. Undefined if it had one. */
function skipReason(outcome: string, replay: string | undefined): SkipReason | undefined {
  if (outcome === STALE) return 'newer-data';
  if (outcome !== DUPLICATE) return undefined;
  return replay === undefined ? 'already-processed' : 'up-to-date';
}

/** A message whose lines have expired. */
function messageFromRecord({ record, at }: RecordFact): HistoryMessage {
  const { requestId, outcome: message, attempt, failureReason: error, receivedAt } = record;
  const replay = record.replay?.name;
  const isTimed = message !== DEAD_LETTERED && replay === undefined;
  const latencyMs = isTimed ? Math.max(0, at - Date.parse(receivedAt)) : undefined;
  const end = attemptOf({ message, at, requestId, attempt, latencyMs, error, replay });
  return { requestId, replay, attempts: [end] };
}

/** @param own the message that was given up, if the line of its last attempt is late */
function messageFromDeadLetter(fact: DeadLetterFact, own?: HistoryMessage): HistoryMessage {
  const { messageId, requestId, at, error } = fact;
  const ids = { messageId, requestId };
  const attempt = own?.started?.attempt ?? (own?.attempts.at(-1)?.attempt ?? 0) + 1;
  const end: EndedAttempt = { kind: 'dead-lettered', at: isoTime(at), ...ids, attempt, error };
  return { ...ids, ...own, attempts: [...(own?.attempts ?? []), end], started: undefined };
}

/**
 * The attempt that found its own effect. If no attempt is known that processed the event, an earlier call had the effect,
 * and its answer was lost: in an earlier attempt, or in the same one, whose client repeated the call. The latter is
 * known only if the effect was observed after the receipt.
 */
function attemptAfterLostAnswer(
  messages: readonly HistoryMessage[],
  facts: readonly Fact[],
  requests: readonly HistoryRequest[],
): EndedAttempt | undefined {
  const attempts = messages.flatMap((message) => message.attempts);
  if (attempts.some(({ kind }) => kind === 'processed')) return undefined;
  const failed = attempts.filter(({ kind }) => kind === 'failed' || kind === 'crashed');
  const isAfterFailure = ({ messageId, attempt }: EndedAttempt) =>
    failed.some((one) => one.messageId === messageId && one.attempt < attempt);
  const isObserved = ({ requestId, at }: EndedAttempt) => {
    const receipt = requests.find((one) => one.requestId === requestId)?.exchange?.at ?? Infinity;
    return ofKind(facts, 'effect').some((one) => one.at >= receipt && one.at <= Date.parse(at));
  };
  return attempts
    .filter((one) => one.reason === 'already-processed' && (isAfterFailure(one) || isObserved(one)))
    .sort(byTime)[0];
}

function originOf(
  message: HistoryMessage,
  before: readonly HistoryMessage[],
  requests: readonly HistoryRequest[],
): MessageOrigin {
  const { replay: name, requestId } = message;
  if (name !== undefined) return { kind: 'replay', name };
  if (requestId === undefined) return { kind: 'by hand' };
  const earlier = before.filter((other) => other.replay === undefined && other.requestId === requestId);
  const wasParked = requests.some((one) => one.requestId === requestId && one.queue === 'unrouted');
  if (earlier.length === 0) return { kind: wasParked ? 'redriven' : 'delivery' };
  // Only a redrive creates a new message from a message that was given up.
  return { kind: earlier.some((other) => isGivenUp(other, startOf(message))) ? 'redriven' : 'repeated' };
}

/** Whether a message had ended without an effect at that time. */
export function isGivenUp({ attempts }: HistoryMessage, at: string): boolean {
  const last = attempts.findLast((one) => one.at <= at);
  if (last?.kind === 'dead-lettered') return true;
  // A message that was tried again later had stayed on its queue.
  if (last !== attempts.at(-1)) return false;
  return last?.kind === 'crashed' || (last?.kind === 'failed' && (last.nextAttemptAt ?? '') < at);
}
