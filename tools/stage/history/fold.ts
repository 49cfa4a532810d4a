import { SMOKE_TEST_PREFIX } from '../../../lambda/smoke-test/request-id.ts';
import {
  type CrashFact,
  type DeadLetterFact,
  type ExchangeFact,
  type Fact,
  identityOf,
  type RecordFact,
} from './facts.ts';
import {
  type Delivery,
  type History,
  isSettled,
  type Origin,
  type Place,
  type SkipReason,
  type State,
  type Step,
  skipReason,
} from './history.ts';
import { errorOf, type LogLine, parseLogLine } from './log-line.ts';
import { crashText } from './words.ts';

/** Milliseconds between a line and its record at most: between them is one call of a batch, to send a dead letter. */
export const LINE_TO_RECORD = 60_000;

/** Steps of the same millisecond, in the order in which they happen. */
const ORDER: readonly Step['kind'][] = ['received', 'queued', 'answered'];

/** How the receiver ends a request, and the status that it answers with then. */
const ANSWERS: Readonly<Record<string, number>> = {
  Accepted: 200,
  Parked: 200,
  Unusable: 400,
  Rejected: 401,
  ServerError: 500,
};

/** How a consumer ends an attempt. */
const ENDS: Readonly<Record<string, AttemptKind>> = {
  Processed: 'processed',
  Stale: 'skipped',
  Duplicate: 'skipped',
  Failed: 'failed',
  DeadLettered: 'dead-lettered',
};

type AttemptKind = 'processed' | 'skipped' | 'failed' | 'dead-lettered' | 'crashed';

/** A request that brought the event. */
interface Request {
  readonly requestId: string;
  readonly exchange: ExchangeFact | undefined;
  /** The line of its answer. */
  readonly end: LogLine | undefined;
  readonly status: number | undefined;
  /** Where the receiver put what it got: an event's queue, `unrouted`, `quarantine`; undefined if it kept nothing. */
  readonly queue: string | undefined;
  /** Epoch milliseconds: when it was answered. */
  readonly at: number;
}

interface Attempt {
  readonly kind: AttemptKind;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly attempt: number;
  /** Of attempts that crashed and of which no time is known: how many in a row. */
  readonly attempts?: number;
  readonly reason?: SkipReason | undefined;
  readonly latencyMs?: number | undefined;
  readonly error?: string | undefined;
  readonly retryInSeconds?: number | undefined;
  readonly record?: RecordFact | undefined;
}

/** A message on an event's queue. */
interface Message {
  readonly messageId: string | undefined;
  readonly requestId: string | undefined;
  readonly replay: string | undefined;
  /** In order of time. */
  readonly attempts: readonly Attempt[];
  /** It comes back although it was given up: it could not be sent to the dead-letter queue. */
  readonly buryFailed: boolean;
  readonly origin: Origin;
}

type Draft = Omit<Message, 'origin'>;

/**
 * The history of whatever is known: of one delivery, or of all deliveries of an event. Facts may come in any order and
 * any number of times, and none of them is needed, because logs expire and the archive is behind. Pure.
 */
export function fold(facts: readonly Fact[]): History {
  const all = inOrder(facts);
  const lines = linesOf(all);
  const requests = requestsOf(all, lines);
  const messages = messagesOf(all, lines, requests);
  const records = ofKind(all, 'record').map(({ record }) => record);
  const exchange = ofKind(all, 'exchange')[0];
  const newest = records.at(-1);
  const event =
    newest?.event ?? lines.find((line) => line.event !== undefined)?.event ?? firstOf(all, 'event');
  const eventId = newest?.eventId ?? lines[0]?.eventId ?? firstOf(all, 'eventId');
  const shopId = records.find((record) => record.shopId !== undefined)?.shopId ?? exchange?.shopId;
  const timestamp = records.find((record) => record.timestamp !== undefined)?.timestamp;
  return {
    ...(eventId !== undefined && { eventId }),
    ...(event !== undefined && { event }),
    ...(shopId !== undefined && { shopId }),
    ...(timestamp !== undefined && { timestamp }),
    steps: stepsOf(lines, requests, messages),
    now: placesOf(all, event, requests, messages),
  };
}

/** The row of one delivery. @param facts of this request only @param history what they fold to */
export function deliveryOf(id: string, facts: readonly Fact[], history: History): Delivery {
  const { eventId, event, shopId, steps, now } = history;
  const [{ state, reason, error }] = now;
  const exchange = ofKind(facts, 'exchange')[0];
  const received = steps.find(({ kind }) => kind === 'received');
  const answered = steps.find(({ kind }) => kind === 'answered');
  const done = steps.find(({ latencyMs }) => latencyMs !== undefined);
  const attempts = Map.groupBy(
    steps.filter(({ attempt, kind }) => attempt !== undefined && kind !== 'archived'),
    ({ messageId }) => messageId,
  );
  const consumed = attempts.size > 0;
  const status = exchange?.status ?? answered?.status ?? (consumed ? 200 : undefined);
  return {
    id,
    ...(eventId !== undefined && { eventId }),
    ...(event !== undefined && { event }),
    ...(shopId !== undefined && { shopId }),
    receivedAt: received?.at ?? steps[0]?.at ?? now[0].since,
    state,
    ...(reason !== undefined && { reason }),
    ...(status !== undefined && { status }),
    attempts: sum([...attempts.values()].map((ofMessage) => Math.max(...ofMessage.map(lastAttempt)))),
    ...(error !== undefined && { error }),
    ...(done?.latencyMs !== undefined && { latencyMs: done.latencyMs }),
    ...(exchange?.bytes !== undefined && { bytes: exchange.bytes }),
    ...(id.startsWith(SMOKE_TEST_PREFIX) && { smokeTest: true }),
  };
}

/** The steps, with attempts of a message in a row that failed alike as one step. */
export function foldedAttempts(steps: readonly Step[]): Step[] {
  const folded: Step[] = [];
  for (const step of steps) {
    const last = folded.at(-1);
    if (last !== undefined && isSameFailure(last, step)) {
      const attempts = (last.attempts ?? 1) + (step.attempts ?? 1);
      const { nextAttemptAt } = step;
      folded.splice(-1, 1, {
        ...last,
        attempts,
        until: step.until ?? step.at,
        ...(nextAttemptAt !== undefined && { nextAttemptAt }),
      });
    } else {
      folded.push(step);
    }
  }
  return folded;
}

const isSameFailure = (one: Step, other: Step) =>
  (one.kind === 'failed' || one.kind === 'crashed') &&
  one.kind === other.kind &&
  one.messageId === other.messageId &&
  one.requestId === other.requestId &&
  one.error === other.error &&
  lastAttempt(one) + 1 === other.attempt;

const lastAttempt = ({ attempt = 1, attempts = 1 }: Pick<Step, 'attempt' | 'attempts'>) =>
  attempt + attempts - 1;

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

const iso = (at: number) => new Date(at).toISOString();

const ofKind = <Kind extends Fact['kind']>(facts: readonly Fact[], kind: Kind) =>
  facts.filter((fact): fact is Extract<Fact, { kind: Kind }> => fact.kind === kind);

const firstOf = (facts: readonly Fact[], name: 'event' | 'eventId') =>
  facts.find((fact) => fact[name] !== undefined)?.[name];

/** Each fact once, by time; facts of the same time in an order that is always the same. */
function inOrder(facts: readonly Fact[]): Fact[] {
  const byIdentity = new Map<string, Fact>();
  for (const fact of facts) {
    const identity = identityOf(fact);
    const known = byIdentity.get(identity);
    if (known === undefined || textOf(fact) < textOf(known)) byIdentity.set(identity, fact);
  }
  return [...byIdentity]
    .sort(([a, one], [b, other]) => one.at - other.at || (a < b ? -1 : 1))
    .map(([, fact]) => fact);
}

/** The same for the same properties, in whatever order they are. */
const textOf = (fact: Fact) => JSON.stringify(Object.entries(fact).sort());

const linesOf = (facts: readonly Fact[]): LogLine[] =>
  ofKind(facts, 'line')
    .flatMap(({ text }) => parseLogLine(text) ?? [])
    .sort((a, b) => a.at - b.at);

function requestsOf(facts: readonly Fact[], lines: readonly LogLine[]): Request[] {
  const ends = new Map<string, LogLine>();
  for (const line of lines) {
    if (line.requestId !== undefined && isAnswer(line)) ends.set(line.requestId, line);
  }
  const exchanges = new Map(ofKind(facts, 'exchange').map((exchange) => [exchange.requestId, exchange]));
  const ids = new Set([...exchanges.keys(), ...ends.keys()]);
  return [...ids]
    .map((requestId) => {
      const [end, exchange] = [ends.get(requestId), exchanges.get(requestId)];
      const status = exchange?.status ?? (end && ANSWERS[end.message]);
      const answeredAt = exchange && exchange.at + Math.round(exchange.durationMs);
      return {
        requestId,
        exchange,
        end,
        status,
        queue: queueOf(end, exchange),
        at: end?.at ?? answeredAt ?? 0,
      };
    })
    .sort((a, b) => a.at - b.at || (a.requestId < b.requestId ? -1 : 1));
}

const isAnswer = ({ message, messageId }: LogLine) =>
  messageId === undefined && Object.hasOwn(ANSWERS, message);

const isEnd = ({ message, messageId }: LogLine) => messageId !== undefined && Object.hasOwn(ENDS, message);

function queueOf(end: LogLine | undefined, exchange: ExchangeFact | undefined): string | undefined {
  if (end?.message === 'Accepted') return end.event;
  if (end?.message === 'Parked') return 'unrouted';
  if (end?.message === 'Unusable') return 'quarantine';
  if (end !== undefined || exchange?.byReceiver !== true) return undefined;
  if (exchange.status === 400) return 'quarantine';
  if (exchange.status !== 200) return undefined;
  return exchange.parked ? 'unrouted' : exchange.event;
}

/** The messages that an event became, in order of time. */
function messagesOf(
  facts: readonly Fact[],
  lines: readonly LogLine[],
  requests: readonly Request[],
): Message[] {
  const records = new Set(ofKind(facts, 'record'));
  const crashes = new Set(ofKind(facts, 'crash'));
  const letters = new Set(ofKind(facts, 'dead-letter').filter(({ queue }) => queue === undefined));
  const byId = Map.groupBy(
    lines.filter(({ messageId }) => messageId !== undefined),
    ({ messageId = '' }) => messageId,
  );
  const moved = [...letters].filter(({ error }) => error === undefined);
  for (const { messageId } of [...crashes, ...moved]) {
    if (messageId !== undefined && !byId.has(messageId)) byId.set(messageId, []);
  }
  const ofMessages = [...byId].map(([messageId, own]) => {
    const isWhole = (requestId: string | undefined, replay: string | undefined) =>
      replay !== undefined || requests.some((request) => request.requestId === requestId);
    return draftOf(messageId, own, { records, crashes, letters, isWhole });
  });
  const drafts = [...ofMessages, ...[...records].map(draftOfRecord)];
  // A dead letter that a consumer sent is a message of its own, and known by the attempt that gave it up.
  for (const letter of letters) {
    const isKnown = drafts.some(
      ({ requestId, attempts }) =>
        requestId === letter.requestId && attempts.some(({ kind }) => kind === 'dead-lettered'),
    );
    if (!isKnown) drafts.push(draftOfLetter(letter));
  }
  const known = drafts.filter(({ attempts }) => attempts.length > 0).sort(byTime);
  const crashed = [...crashes].filter(({ messageId }) => messageId === undefined);
  const complete = withCrashes(known, crashed, requests).sort(byTime);
  return complete.map((draft, index) => ({
    ...draft,
    origin: originOf(draft, complete.slice(0, index), requests, facts),
  }));
}

const startOf = ({ attempts }: Draft) => attempts[0]?.at ?? 0;

const byTime = (a: Draft, b: Draft) =>
  startOf(a) - startOf(b) || ((a.messageId ?? '') < (b.messageId ?? '') ? -1 : 1);

interface Left {
  /** Facts that belong to no message yet: a message takes its own. */
  readonly records: Set<RecordFact>;
  readonly crashes: Set<CrashFact>;
  readonly letters: Set<DeadLetterFact>;
  /** Whether the log reaches back to the beginning of a message. */
  readonly isWhole: (requestId: string | undefined, replay: string | undefined) => boolean;
}

function draftOf(messageId: string, lines: readonly LogLine[], left: Left): Draft {
  const letter = [...left.letters].find((one) => one.messageId === messageId);
  const crashes = [...left.crashes].filter((one) => one.messageId === messageId);
  const requestId = lines[0]?.requestId ?? letter?.requestId ?? crashes[0]?.requestId;
  const replay = lines[0]?.replay;
  const attempts = lines.filter(isEnd).map((line) => attemptOf(line, left.records));
  const seen = new Set(attempts.map(({ attempt }) => attempt));
  for (const { attempt, at, error } of crashes) {
    if (attempt === undefined || seen.has(attempt)) continue;
    seen.add(attempt);
    attempts.push({ kind: 'crashed', at, attempt, error });
  }
  if (letter !== undefined) {
    left.letters.delete(letter);
    const at = Math.max(letter.at, ...attempts.map((one) => one.at));
    const last = Math.max(0, ...seen);
    const { receives = last } = letter;
    attempts.push({ kind: 'dead-lettered', at, attempt: Math.max(receives, last), error: letter.error });
  }
  const isWhole = letter !== undefined || left.isWhole(requestId, replay);
  const sorted = attempts.sort((a, b) => a.at - b.at || a.attempt - b.attempt);
  const last = lines.filter(isEnd).at(-1)?.at ?? 0;
  return {
    messageId,
    requestId,
    replay,
    attempts: withUnseen(sorted, isWhole, letter !== undefined && letter.error === undefined),
    buryFailed: lines.some(({ message, at }) => message === 'BuryFailed' && at >= last),
  };
}

function attemptOf(line: LogLine, records: Set<RecordFact>): Attempt {
  const record = [...records].find((fact) => isOf(fact, line));
  if (record !== undefined) records.delete(record);
  const kind = ENDS[line.message] ?? 'failed';
  return {
    kind,
    at: line.at,
    attempt: line.attempt ?? 1,
    reason: reasonOf(line.message, line.replay),
    latencyMs: line.latencyMs,
    ...(line.error !== undefined && { error: errorOf(line) }),
    retryInSeconds: line.retryInSeconds,
    record,
  };
}

function reasonOf(outcome: string, replay: string | undefined): SkipReason | undefined {
  if (outcome !== 'Stale' && outcome !== 'Duplicate') return undefined;
  return skipReason(outcome, replay !== undefined);
}

/** Whether a record is of the attempt that a line tells of. */
export const isOf = ({ record }: RecordFact, line: LogLine): boolean =>
  record.outcome === line.message &&
  record.attempt === line.attempt &&
  record.requestId === line.requestId &&
  record.replay?.name === line.replay &&
  Math.abs(Date.parse(record.settledAt) - line.at) <= LINE_TO_RECORD;

/** Attempts that left no line are crashes. @param moved SQS gave the message up, so its last attempt crashed, too */
function withUnseen(attempts: readonly Attempt[], isWhole: boolean, moved: boolean): Attempt[] {
  const all: Attempt[] = [];
  let last = isWhole ? 0 : (attempts[0]?.attempt ?? 0);
  for (const one of attempts) {
    const isMove = moved && one.kind === 'dead-lettered';
    const missing = one.attempt - last - (isMove ? 0 : 1);
    if (missing > 0) all.push({ kind: 'crashed', at: one.at, attempt: last + 1, attempts: missing });
    all.push(one);
    last = Math.max(last, one.attempt);
  }
  return all;
}

function draftOfRecord(fact: RecordFact): Draft {
  const { requestId, replay, outcome, attempt, failureReason, receivedAt } = fact.record;
  const isTimed = outcome !== 'DeadLettered' && replay === undefined;
  const one: Attempt = {
    kind: ENDS[outcome] ?? 'processed',
    at: fact.at,
    attempt,
    reason: reasonOf(outcome, replay?.name),
    latencyMs: isTimed ? Math.max(0, fact.at - Date.parse(receivedAt)) : undefined,
    error: failureReason,
    record: fact,
  };
  return { messageId: undefined, requestId, replay: replay?.name, attempts: [one], buryFailed: false };
}

function draftOfLetter({ messageId, requestId, at, error }: DeadLetterFact): Draft {
  const one: Attempt = { kind: 'dead-lettered', at, attempt: 1, error };
  return { messageId, requestId, replay: undefined, attempts: [one], buryFailed: false };
}

/**
 * Gives crashes of a consumer to the message that was on its queue then, without a line. A message that comes back has a
 * higher attempt, so crashes before a first attempt are of an earlier message, which SQS gave up.
 */
function withCrashes(
  drafts: readonly Draft[],
  crashes: readonly CrashFact[],
  requests: readonly Request[],
): Draft[] {
  const left = new Set(crashes);
  const complete: Draft[] = [];
  for (const { requestId, at, queue, status } of requests) {
    if (status !== 200 || queue === undefined) continue;
    const own = drafts.filter((draft) => draft.requestId === requestId && draft.replay === undefined);
    const first = own[0];
    const end = first === undefined ? Number.POSITIVE_INFINITY : endOfSilence(first);
    const silent = [...left].filter((crash) => crash.at >= at && crash.at <= end);
    if (silent.length === 0) continue;
    for (const crash of silent) left.delete(crash);
    if (first !== undefined && first.attempts[0]?.kind === 'crashed') {
      complete.push({ ...first, attempts: timed(first.attempts, silent) });
    } else {
      const attempts = silent.map(
        ({ at: crashedAt, error }, index): Attempt => ({
          kind: 'crashed',
          at: crashedAt,
          attempt: index + 1,
          error,
        }),
      );
      const last = silent.at(-1);
      // A first attempt came later, so SQS had moved the message, and somebody redrove it.
      if (first !== undefined && last !== undefined) {
        attempts.push({ kind: 'dead-lettered', at: last.at, attempt: silent.length });
      }
      complete.push({ messageId: undefined, requestId, replay: undefined, attempts, buryFailed: false });
    }
  }
  const timedIds = new Set(complete.map(({ messageId }) => messageId));
  return [
    ...complete,
    ...drafts.filter(({ messageId }) => messageId === undefined || !timedIds.has(messageId)),
  ];
}

/** Until when no attempt of a message left a line. */
function endOfSilence({ attempts }: Draft): number {
  const seen = attempts.find(({ kind, error }) => kind !== 'crashed' && (kind !== 'dead-lettered' || error));
  return seen?.at ?? Number.POSITIVE_INFINITY;
}

/** The first attempts, of which only the number is known, with the times of the last crashes. */
function timed([unseen, ...others]: readonly Attempt[], crashes: readonly CrashFact[]): Attempt[] {
  if (unseen === undefined) return [];
  const count = unseen.attempts ?? 1;
  const own = crashes.slice(-count);
  const before = count - own.length;
  const rest: Attempt[] = before > 0 ? [{ ...unseen, at: own[0]?.at ?? unseen.at, attempts: before }] : [];
  const last = own.map(
    ({ at, error }, index): Attempt => ({
      kind: 'crashed',
      at,
      error,
      attempt: unseen.attempt + before + index,
    }),
  );
  const end = own.at(-1)?.at ?? 0;
  return [...rest, ...last, ...others.map((one) => (one.at < end ? { ...one, at: end } : one))];
}

function originOf(
  draft: Draft,
  before: readonly Draft[],
  requests: readonly Request[],
  facts: readonly Fact[],
): Origin {
  const { replay: name, requestId } = draft;
  if (name !== undefined) {
    const replay = ofKind(facts, 'record').find(({ record }) => record.replay?.name === name)?.record.replay;
    return { kind: 'replay', name, ...(replay && { mode: replay.mode, notify: replay.notify }) };
  }
  if (requestId === undefined) return { kind: 'by hand' };
  const wasParked = requests.some(
    (request) => request.requestId === requestId && request.queue === 'unrouted',
  );
  const earlier = before.filter((other) => other.replay === undefined && other.requestId === requestId);
  if (earlier.length === 0) return { kind: wasParked ? 'redriven' : 'delivery' };
  // Only a redrive makes a new message of one that was given up.
  return { kind: earlier.some((other) => isGivenUp(other, startOf(draft))) ? 'redriven' : 'repeated' };
}

/** Whether a message had ended without an effect at a time. */
function isGivenUp({ attempts }: Draft, at: number): boolean {
  const last = attempts.findLast((one) => one.at <= at);
  if (last === undefined) return false;
  if (last.kind === 'failed') return last.at + (last.retryInSeconds ?? 0) * 1000 < at;
  return last.kind === 'dead-lettered' || last.kind === 'crashed';
}

function stepsOf(
  lines: readonly LogLine[],
  requests: readonly Request[],
  messages: readonly Message[],
): Step[] {
  const steps = [
    ...requests.flatMap((request) => stepsOfRequest(request, messages)),
    ...receivedByArchive(requests, messages),
    ...messages.flatMap((message) => message.attempts.flatMap((attempt) => stepsOfAttempt(message, attempt))),
    ...lines.filter((line) => !isAnswer(line) && !isEnd(line)).map(noted),
  ];
  const rank = ({ kind }: Step) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
  return steps.sort((a, b) => (a.at === b.at ? rank(a) - rank(b) : a.at < b.at ? -1 : 1));
}

function stepsOfRequest(request: Request, messages: readonly Message[]): Step[] {
  const { requestId, exchange, end, status, queue, at } = request;
  if (status === undefined) return [];
  const done = iso(at);
  const receivedAt = exchange?.at ?? receiptOf(requestId, messages);
  const lagMs = end?.lagMs;
  const received: Step = {
    kind: 'received',
    // API Gateway's clock and the receiver's differ.
    at: receivedAt === undefined || receivedAt > at ? done : iso(receivedAt),
    requestId,
    ...(receivedAt === undefined && { atTheLatest: true }),
    ...(lagMs !== undefined && { lagMs }),
    ...(requestId.startsWith(SMOKE_TEST_PREFIX) && { smokeTest: true }),
  };
  const queued: Step[] = queue === undefined ? [] : [{ kind: 'queued', at: done, requestId, queue }];
  return [received, ...queued, answerOf(request, status)];
}

function answerOf({ requestId, end, exchange, at }: Request, status: number): Step {
  const error =
    end?.message === 'ServerError' ? errorOf(end) : end === undefined ? exchange?.error : undefined;
  return {
    kind: 'answered',
    at: iso(at),
    requestId,
    status,
    ...(end?.fields && { fields: end.fields }),
    ...(end?.reason && { rejection: end.reason.replace('-', ' ') }),
    ...(end?.sourceIp && { sourceIp: end.sourceIp }),
    ...(error !== undefined && { error }),
  };
}

/** Epoch milliseconds when API Gateway had the request: as the archive has it, or by what an effect counted from it. */
function receiptOf(requestId: string, messages: readonly Message[]): number | undefined {
  const attempts = messages
    .filter((message) => message.requestId === requestId)
    .flatMap((one) => one.attempts);
  const archived = attempts.find(({ record }) => record !== undefined)?.record?.record;
  if (archived !== undefined) return Date.parse(archived.receivedAt);
  // 0 may be that the clocks differ.
  const one = attempts.find(({ latencyMs = 0 }) => latencyMs > 0);
  return one && one.at - (one.latencyMs ?? 0);
}

/** Receipts of which neither the gateway nor the receiver's log has anything any more. */
function receivedByArchive(requests: readonly Request[], messages: readonly Message[]): Step[] {
  const known = new Set(requests.map(({ requestId }) => requestId));
  const ids = new Set(messages.flatMap(({ requestId = '' }) => (known.has(requestId) ? [] : [requestId])));
  ids.delete('');
  return [...ids].flatMap((requestId): Step[] => {
    const at = receiptOf(requestId, messages);
    return at === undefined ? [] : [{ kind: 'received', at: iso(at), requestId }];
  });
}

function stepsOfAttempt({ origin, requestId, messageId }: Message, one: Attempt): Step[] {
  const { kind, at, attempt, attempts, reason, latencyMs, retryInSeconds, record } = one;
  const error = kind === 'failed' ? (one.error ?? 'Error') : one.error;
  const base = {
    at: iso(at),
    origin,
    attempt,
    ...(requestId !== undefined && { requestId }),
    ...(messageId !== undefined && { messageId }),
  };
  const step: Step = {
    kind,
    ...base,
    ...(attempts !== undefined && { attempts }),
    ...(error !== undefined && { error }),
    ...(reason !== undefined && { reason }),
    ...(latencyMs !== undefined && { latencyMs }),
    ...(kind === 'failed' && { nextAttemptAt: iso(at + (retryInSeconds ?? 0) * 1000) }),
  };
  if (record === undefined) return [step];
  const { settledAt, forgottenAt } = record.record;
  const archived: Step = {
    ...base,
    kind: 'archived',
    at: new Date(settledAt).toISOString(),
    object: record.object,
    ...(forgottenAt !== undefined && { forgottenAt }),
  };
  return [step, archived];
}

function noted(line: LogLine): Step {
  const { at, level, message, requestId, messageId } = line;
  return {
    kind: 'noted',
    at: iso(at),
    level,
    message,
    ...(requestId !== undefined && { requestId }),
    ...(messageId !== undefined && { messageId }),
    ...(line.error !== undefined && { error: errorOf(line) }),
  };
}

/** The first of these that something is in comes first: what a person has to look at. */
const WORST_FIRST: readonly State[] = [
  'dead-letter',
  'retrying',
  'queued',
  'parked',
  'invalid',
  'failed',
  'rejected',
];

function placesOf(
  facts: readonly Fact[],
  event: string | undefined,
  requests: readonly Request[],
  messages: readonly Message[],
): [Place, ...Place[]] {
  const open = [
    ...requests.flatMap((request) => ofRequest(request, requests, messages)),
    ...messages.flatMap((message) => ofMessage(event ?? '', message, messages, facts)),
    ...ofKind(facts, 'dead-letter').flatMap((letter) => ofLetter(letter, requests)),
  ].sort((a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state));
  const done = doneOf(messages);
  // What was processed once stays so, whatever becomes of a resend or a replay.
  const [first, ...others] = done?.state === 'processed' ? [done, ...open] : open.length > 0 ? open : [done];
  if (first !== undefined) return [first, ...others.filter((place) => place !== undefined)];
  return [{ state: unansweredOf(facts), since: iso(facts[0]?.at ?? 0) }];
}

/** A line that comes before the answer's, or a redrive of what is not known otherwise. */
function unansweredOf(facts: readonly Fact[]): State {
  const known = facts.filter(({ kind }) => kind !== 'effect');
  if (known.length === 0) return 'unknown';
  return known.every(({ kind }) => kind === 'redrive') ? 'queued' : 'received';
}

/** Where what a request brought is, as long as no message of it is known. */
function ofRequest(request: Request, requests: readonly Request[], messages: readonly Message[]): Place[] {
  const { requestId, exchange, end, status, queue, at } = request;
  if (status === undefined || messages.some((message) => message.requestId === requestId)) return [];
  const since = iso(at);
  if (status === 200)
    return [{ state: queue === 'unrouted' ? 'parked' : 'queued', queue: queue ?? '', since }];
  const later = requests.filter((other) => other.at > at);
  const error = errorOfAnswer(request);
  // A redrive of the quarantine delivers the bytes again.
  if (queue === 'quarantine')
    return later.length > 0 ? [] : [{ state: 'invalid', queue, since, status, error }];
  // The partner repeats it, and what was accepted once is accepted.
  const isElsewhere =
    later.length > 0 || messages.length > 0 || requests.some((other) => other.queue !== undefined);
  if (isElsewhere) return [];
  // A function that fails without an answer is a 500, whoever says so.
  const isRefused = end === undefined && exchange?.byReceiver !== true && status !== 500;
  const state = isRefused ? 'refused' : status === 401 ? 'rejected' : 'failed';
  return [{ state, since, status, error }];
}

/** Where a request is that is known by what waits on a queue alone. */
function ofLetter({ queue, requestId, at, until }: DeadLetterFact, requests: readonly Request[]): Place[] {
  if (queue === undefined || requests.some((request) => request.requestId === requestId)) return [];
  const state = queue === 'unrouted' ? 'parked' : 'invalid';
  return [{ state, queue, since: iso(at), ...(until !== undefined && { until }) }];
}

function errorOfAnswer({ end, exchange }: Request): string {
  if (end?.fields !== undefined && end.fields.length > 0) return `Unusable: ${end.fields.join(', ')}`;
  if (end?.reason !== undefined) return end.reason.replace('-', ' ');
  if (end?.error !== undefined) return errorOf(end);
  return exchange?.error ?? (end?.message === 'Unusable' ? 'Not an event' : 'Error');
}

/** Where a message is that is not done. */
function ofMessage(
  event: string,
  message: Message,
  messages: readonly Message[],
  facts: readonly Fact[],
): Place[] {
  const { attempts, requestId, replay } = message;
  const last = attempts.at(-1);
  if (last === undefined || last.kind === 'processed' || last.kind === 'skipped') return [];
  const later = messages.slice(messages.indexOf(message) + 1);
  const isRedriven = later.some(
    ({ origin, requestId: other }) => origin.kind === 'redriven' && other === requestId,
  );
  if (isRedriven) return [];
  const crashes = attempts.filter(({ kind }) => kind === 'crashed');
  const place = {
    queue: event,
    since: iso(last.at),
    attempts: lastAttempt(last),
    ...(crashes.length > 0 && { crashes: sum(crashes.map((crash) => crash.attempts ?? 1)) }),
    ...(replay !== undefined && { replay }),
    error: errorOfMessage(attempts),
  };
  const redrive = ofKind(facts, 'redrive').findLast(
    (fact) => fact.requestId === requestId && fact.at >= last.at,
  );
  if (redrive !== undefined) return [{ ...place, state: 'queued', since: iso(redrive.at) }];
  if (last.kind === 'dead-lettered' && !message.buryFailed) {
    const letter = ofKind(facts, 'dead-letter').find((fact) => fact.requestId === requestId);
    return [{ ...place, state: 'dead-letter', ...(letter?.until && { until: letter.until }) }];
  }
  const { retryInSeconds } = last;
  const next = retryInSeconds === undefined ? {} : { nextAttemptAt: iso(last.at + retryInSeconds * 1000) };
  return [{ ...place, state: 'retrying', ...next }];
}

/** What the last attempt failed with. Of a message that SQS moved, the attempt before. */
function errorOfMessage(attempts: readonly Attempt[]): string {
  const last = attempts.findLast(({ kind, error }) => kind !== 'dead-lettered' || error !== undefined);
  return last?.kind === 'crashed' ? crashText(last.error) : (last?.error ?? crashText(undefined));
}

/** How the delivery ended: with an effect if any message of it had one, else as the last one said. */
function doneOf(messages: readonly Message[]): Place | undefined {
  const ends = messages
    .flatMap(({ attempts }) => attempts)
    .filter(({ kind }) => kind === 'processed' || kind === 'skipped')
    .sort((a, b) => a.at - b.at);
  const end = ends.find(({ kind }) => kind === 'processed') ?? ends.at(-1);
  if (end === undefined) return undefined;
  if (end.kind === 'processed') return { state: 'processed', since: iso(end.at) };
  return { state: 'skipped', since: iso(end.at), ...(end.reason && { reason: end.reason }) };
}

/** Whether nothing more happens to a delivery by itself, and all of it is known. */
export const hasSettled = ({ steps, now }: History): boolean =>
  steps.some(({ kind }) => kind === 'answered') && isSettled(now[0].state);
