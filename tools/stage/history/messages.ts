import {
  ACCEPTED,
  BURY_FAILED,
  DEAD_LETTERED,
  DUPLICATE,
  FAILED,
  PARKED,
  PROCESSED,
  REJECTED,
  SERVER_ERROR,
  STALE,
  UNUSABLE,
} from '../../../lambda/log-messages.ts';
import {
  type CrashFact,
  type DeadLetterFact,
  type ExchangeFact,
  type Fact,
  ofKind,
  type RecordFact,
} from './facts.ts';
import { type Origin, type SkipReason, type Step, skipReason } from './history.ts';
import type { LogLine } from './log-line.ts';

/** Maximum milliseconds between a log line and its record. In between is one batch call that sends dead letters. */
export const LINE_TO_RECORD = 60_000;

/** Log messages that end a request, and the status that the receiver then answers with. */
const ANSWERS: Readonly<Record<string, number>> = {
  [ACCEPTED]: 200,
  [PARKED]: 200,
  [UNUSABLE]: 400,
  [REJECTED]: 401,
  [SERVER_ERROR]: 500,
};

/** Log messages that end an attempt of a consumer. */
const ENDS: Readonly<Record<string, Step['kind']>> = {
  [PROCESSED]: 'processed',
  [STALE]: 'skipped',
  [DUPLICATE]: 'skipped',
  [FAILED]: 'failed',
  [DEAD_LETTERED]: 'dead-lettered',
};

export interface Request {
  readonly requestId: string;
  readonly exchange: ExchangeFact | undefined;
  /** The log line of its answer. */
  readonly end: LogLine | undefined;
  readonly status: number | undefined;
  /**
   * Where the receiver put the payload: an event's queue, `unrouted` or `quarantine`. Undefined if it stored nothing.
   */
  readonly queue: string | undefined;
  /** When it was answered. Epoch milliseconds. */
  readonly at: number;
}

export interface Attempt {
  readonly kind: Step['kind'];
  /** Epoch milliseconds. */
  readonly at: number;
  readonly attempt: number;
  /** Number of crashed attempts in a row whose times are unknown. @default 1 */
  readonly attempts?: number;
  readonly reason?: SkipReason | undefined;
  readonly latencyMs?: number | undefined;
  readonly error?: string | undefined;
  readonly retryInSeconds?: number | undefined;
  readonly record?: RecordFact | undefined;
}

export interface Message {
  readonly messageId?: string | undefined;
  readonly requestId: string | undefined;
  /** Name of the replay that sent it. */
  readonly replay?: string | undefined;
  /** In order of time. */
  readonly attempts: readonly Attempt[];
  /** The message could not be sent to the dead-letter queue, so it is retried although it was given up. */
  readonly buryFailed?: boolean;
  readonly origin: Origin;
}

type Draft = Omit<Message, 'origin'>;

export const isAnswer = ({ message, messageId }: LogLine) =>
  messageId === undefined && Object.hasOwn(ANSWERS, message);

export const isEnd = ({ message, messageId }: LogLine) =>
  messageId !== undefined && Object.hasOwn(ENDS, message);

/** The requests that brought an event, in order of time. */
export function requestsOf(facts: readonly Fact[], lines: readonly LogLine[]): Request[] {
  const ends = new Map(lines.filter(isAnswer).map((line) => [line.requestId, line]));
  const exchanges = new Map(ofKind(facts, 'exchange').map((fact) => [fact.requestId, fact]));
  const ids = new Set([...exchanges.keys(), ...ends.keys()].filter((id) => id !== undefined));
  return [...ids]
    .map((requestId) => {
      const [end, exchange] = [ends.get(requestId), exchanges.get(requestId)];
      const status = exchange?.status ?? ANSWERS[end?.message ?? ''];
      const at = end?.at ?? Math.round((exchange?.at ?? 0) + (exchange?.durationMs ?? 0));
      return { requestId, exchange, end, status, queue: queueOf(end, exchange), at };
    })
    .sort((a, b) => a.at - b.at || (a.requestId < b.requestId ? -1 : 1));
}

function queueOf(end: LogLine | undefined, exchange: ExchangeFact | undefined): string | undefined {
  if (end?.message === ACCEPTED) return end.event;
  if (end?.message === PARKED) return 'unrouted';
  if (end?.message === UNUSABLE) return 'quarantine';
  if (end !== undefined || exchange?.byReceiver !== true) return undefined;
  if (exchange.status === 400) return 'quarantine';
  if (exchange.status !== 200) return undefined;
  return exchange.parked ? 'unrouted' : exchange.event;
}

/** The messages of an event, in order of time. */
export function messagesOf(
  facts: readonly Fact[],
  lines: readonly LogLine[],
  requests: readonly Request[],
): Message[] {
  const records = new Set(ofKind(facts, 'record'));
  const crashes = ofKind(facts, 'crash');
  // No consumer knows parked or quarantined messages.
  const letters = ofKind(facts, 'dead-letter').filter(({ queue }) => queue === undefined);
  const moved = letters.filter(({ error }) => error === undefined);
  const isLogged = new Set<string | undefined>(requests.map(({ requestId }) => requestId));
  const ids = new Set([...lines, ...crashes, ...moved].flatMap(({ messageId }) => messageId ?? []));
  const drafts = [...ids].map((messageId) => {
    const isOwn = (other: { readonly messageId?: string | undefined }) => other.messageId === messageId;
    return draftOf(
      messageId,
      lines.filter(isOwn),
      crashes.filter(isOwn),
      moved.find(isOwn),
      records,
      isLogged,
    );
  });
  drafts.push(...[...records].map(draftOfRecord));
  // A consumer sends a dead letter as a new message. Skip it if an attempt already reports it.
  for (const { messageId, requestId, at, error } of letters) {
    const isKnown = drafts.some(
      (draft) => draft.requestId === requestId && draft.attempts.some(({ kind }) => kind === 'dead-lettered'),
    );
    if (!isKnown)
      drafts.push({ messageId, requestId, attempts: [{ kind: 'dead-lettered', at, attempt: 1, error }] });
  }
  const known = drafts.filter(({ attempts }) => attempts.length > 0).sort(byTime);
  const complete = withCrashes(
    known,
    crashes.filter(({ messageId }) => messageId === undefined),
    requests,
  );
  return complete.sort(byTime).map((draft, index, all) => ({
    ...draft,
    origin: originOf(draft, all.slice(0, index), requests, facts),
  }));
}

export const startOf = ({ attempts }: Draft) => attempts[0]?.at ?? 0;

const byTime = (a: Draft, b: Draft) =>
  startOf(a) - startOf(b) || ((a.messageId ?? '') < (b.messageId ?? '') ? -1 : 1);

/**
 * @param letter the dead letter, if SQS moved the message
 * @param records not yet assigned to a message; the function removes those that it assigns
 * @param isLogged whether the log has these requests, and so the beginning of their messages
 */
function draftOf(
  messageId: string,
  lines: readonly LogLine[],
  crashes: readonly CrashFact[],
  letter: DeadLetterFact | undefined,
  records: Set<RecordFact>,
  isLogged: ReadonlySet<string | undefined>,
): Draft {
  const requestId = lines[0]?.requestId ?? letter?.requestId ?? crashes[0]?.requestId;
  const replay = lines[0]?.replay;
  const ends = lines.filter(isEnd);
  const attempts = ends.map((line) => attemptOf(line, records));
  for (const { attempt = 1, at, error } of crashes) {
    const isSeen = attempts.some((seen) => seen.attempt === attempt);
    if (!isSeen) attempts.push({ kind: 'crashed', at, attempt, error });
  }
  const last = Math.max(0, ...attempts.map(({ attempt }) => attempt));
  if (letter !== undefined) {
    const at = Math.max(letter.at, ...attempts.map((one) => one.at));
    attempts.push({ kind: 'dead-lettered', at, attempt: Math.max(letter.receives ?? 0, last) });
  }
  attempts.sort((a, b) => a.at - b.at || a.attempt - b.attempt);
  const isWhole = letter !== undefined || replay !== undefined || isLogged.has(requestId);
  const lastEnd = ends.at(-1)?.at ?? 0;
  const buryFailed =
    letter === undefined && lines.some(({ message, at }) => message === BURY_FAILED && at >= lastEnd);
  return {
    messageId,
    requestId,
    replay,
    attempts: withUnseen(attempts, isWhole, letter !== undefined),
    buryFailed,
  };
}

function attemptOf(line: LogLine, records: Set<RecordFact>): Attempt {
  const { message, at, attempt = 1, latencyMs, error, retryInSeconds, replay } = line;
  const record = [...records].find((fact) => isOf(fact, line));
  if (record !== undefined) records.delete(record);
  const kind = ENDS[message] ?? 'failed';
  return { kind, at, attempt, reason: skipReason(message, replay), latencyMs, error, retryInSeconds, record };
}

/** Whether a record belongs to the attempt that a line reports. */
export const isOf = ({ record }: RecordFact, line: LogLine): boolean =>
  record.outcome === line.message &&
  record.attempt === line.attempt &&
  record.requestId === line.requestId &&
  record.replay?.name === line.replay &&
  Math.abs(Date.parse(record.settledAt) - line.at) <= LINE_TO_RECORD;

/**
 * Adds attempts that left no line: they crashed. @param isMoved SQS moved the message, so its last attempt crashed, too
 */
function withUnseen(attempts: readonly Attempt[], isWhole: boolean, isMoved: boolean): Attempt[] {
  const all: Attempt[] = [];
  let last = isWhole ? 0 : (attempts[0]?.attempt ?? 0);
  for (const one of attempts) {
    const isMove = isMoved && one === attempts.at(-1);
    const missing = one.attempt - last - (isMove ? 0 : 1);
    if (missing > 0) all.push({ kind: 'crashed', at: one.at, attempt: last + 1, attempts: missing });
    all.push(one);
    last = Math.max(last, one.attempt);
  }
  return all;
}

/** A message whose lines have expired. */
function draftOfRecord(record: RecordFact): Draft {
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

/**
 * Assigns crashes of a consumer that have no line to the message that was on its queue at that time. A message that
 * comes back has a higher attempt number. So crashes before a first attempt belong to an earlier message, which SQS
 * moved and somebody redrove. Without an attempt or a dead letter, the crashes may belong to another message.
 */
function withCrashes(
  drafts: readonly Draft[],
  crashes: readonly CrashFact[],
  requests: readonly Request[],
): Draft[] {
  const left = new Set(crashes);
  const complete = new Set(drafts);
  for (const { requestId, at, queue, status } of requests) {
    if (status !== 200 || queue === undefined) continue;
    const first = drafts.find((draft) => draft.requestId === requestId && draft.replay === undefined);
    if (first === undefined) continue;
    const end = endOfSilence(first);
    const silent = [...left].filter((crash) => crash.at >= at && crash.at <= end);
    if (silent.length === 0) continue;
    for (const crash of silent) left.delete(crash);
    const unseen = first.attempts[0]?.kind === 'crashed' ? (first.attempts[0].attempts ?? 1) : 0;
    if (unseen > 0) {
      complete.delete(first);
      complete.add({ ...first, attempts: timed(first.attempts, silent) });
    }
    const before = silent.slice(0, silent.length - unseen);
    // Fewer crashes than the queue allows belong to other messages.
    if (before.length === 0 || before.length < unseen) continue;
    const attempts = before.map((crash, index) => crashed(crash, index + 1));
    attempts.push({ kind: 'dead-lettered', at: before.at(-1)?.at ?? at, attempt: before.length });
    complete.add({ requestId, attempts });
  }
  return [...complete];
}

const crashed = ({ at, error }: CrashFact, attempt: number): Attempt => ({
  kind: 'crashed',
  at,
  error,
  attempt,
});

/** End of the time in which no attempt of a message left a line. */
function endOfSilence({ attempts }: Draft): number {
  const seen = attempts.find(({ kind, error }) => kind !== 'crashed' && (kind !== 'dead-lettered' || error));
  return seen?.at ?? Number.POSITIVE_INFINITY;
}

/** Assigns the times of the last crashes to the first attempts, whose times are unknown. */
function timed([unseen, ...others]: readonly Attempt[], crashes: readonly CrashFact[]): Attempt[] {
  if (unseen === undefined) return [];
  const own = crashes.slice(-(unseen.attempts ?? 1));
  const attempts = (unseen.attempts ?? 1) - own.length;
  const rest = attempts > 0 ? [{ ...unseen, at: own[0]?.at ?? unseen.at, attempts }] : [];
  const last = own.map((crash, index) => crashed(crash, unseen.attempt + attempts + index));
  const end = own.at(-1)?.at ?? 0;
  return [...rest, ...last, ...others.map((one) => ({ ...one, at: Math.max(one.at, end) }))];
}

function originOf(
  draft: Draft,
  before: readonly Draft[],
  requests: readonly Request[],
  facts: readonly Fact[],
): Origin {
  const { replay: name, requestId } = draft;
  if (name !== undefined) {
    const { mode, notify } = {
      ...ofKind(facts, 'record').find(({ record }) => record.replay?.name === name)?.record.replay,
    };
    return { kind: 'replay', name, mode, notify };
  }
  if (requestId === undefined) return { kind: 'by hand' };
  const earlier = before.filter((other) => other.replay === undefined && other.requestId === requestId);
  if (earlier.length === 0) {
    const wasParked = requests.some((one) => one.requestId === requestId && one.queue === 'unrouted');
    return { kind: wasParked ? 'redriven' : 'delivery' };
  }
  // Only a redrive creates a new message from one that was given up.
  return { kind: earlier.some((other) => isGivenUp(other, startOf(draft))) ? 'redriven' : 'repeated' };
}

/** Whether a message had ended without an effect at that time. */
export function isGivenUp({ attempts }: Draft, at: number): boolean {
  const last = attempts.findLast((one) => one.at <= at);
  if (last?.kind === 'failed') return last.at + (last.retryInSeconds ?? 0) * 1000 < at;
  return last?.kind === 'dead-lettered' || last?.kind === 'crashed';
}
