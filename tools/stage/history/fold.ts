import { UNUSABLE } from '../../../lambda/log-messages.ts';
import { type CrashFact, type DeadLetterFact, type Fact, identityOf, ofKind } from './facts.ts';
import { type Delivery, type History, isSettled, type Place, type State, type Step } from './history.ts';
import { type LogLine, parseLogLine } from './log-line.ts';
import {
  type Attempt,
  isAnswer,
  isEnd,
  isGivenUp,
  type Message,
  messagesOf,
  type Request,
  requestsOf,
  startOf,
} from './messages.ts';
import { crashText } from './state-text.ts';

/** Order of steps with the same millisecond. */
const ORDER: readonly Step['kind'][] = ['received', 'queued', 'answered'];

/**
 * Builds the history of one delivery, or of all deliveries of an event, from the facts known. Facts may come in any
 * order and more than once, and each may be missing, because logs expire and the archive lags. Pure.
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
    eventId,
    event,
    shopId,
    timestamp,
    steps: stepsOf(lines, requests, messages),
    now: placesOf(all, event, requests, messages),
  };
}

/** Builds the list row of one delivery. @param facts of this request only @param history folded from these facts */
export function deliveryOf(id: string, facts: readonly Fact[], history: History): Delivery {
  const { eventId, event, shopId, steps, now } = history;
  const [{ state, reason, error }] = now;
  const exchange = ofKind(facts, 'exchange')[0];
  const received = steps.find(({ kind }) => kind === 'received');
  const answered = steps.find(({ kind }) => kind === 'answered');
  const done = steps.find(({ latencyMs }) => latencyMs !== undefined);
  const consumed = steps.filter(({ attempt, kind }) => attempt !== undefined && kind !== 'archived');
  // A replay's attempts are not part of the delivery.
  const attempts = Map.groupBy(
    consumed.filter(({ origin }) => origin?.kind !== 'replay'),
    ({ messageId }) => messageId,
  );
  const status = exchange?.status ?? answered?.status ?? (consumed.length > 0 ? 200 : undefined);
  return {
    id,
    eventId,
    event,
    shopId,
    receivedAt: received?.at ?? steps[0]?.at ?? now[0].since,
    state,
    reason,
    status,
    attempts: sum([...attempts.values()].map((ofMessage) => Math.max(...ofMessage.map(lastAttempt)))),
    error,
    latencyMs: done?.latencyMs,
    bytes: exchange?.bytes,
  };
}

/** Merges consecutive attempts of a message that failed in the same way into one step. */
export function foldedAttempts(steps: readonly Step[]): Step[] {
  const folded: Step[] = [];
  for (const step of steps) {
    const last = folded.at(-1);
    if (last !== undefined && isSameFailure(last, step)) {
      const { attempts = 1, at, until = at, nextAttemptAt } = step;
      folded.splice(-1, 1, { ...last, attempts: (last.attempts ?? 1) + attempts, until, nextAttemptAt });
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

/** Largest absolute time of a Date, in milliseconds since 1970. Source: ECMA-262, "Time Values and Time Range". */
const FARTHEST_TIME = 8.64e15;

const iso = (at: number) =>
  new Date(Math.max(-FARTHEST_TIME, Math.min(FARTHEST_TIME, at)) || 0).toISOString();

const firstOf = (facts: readonly Fact[], name: 'event' | 'eventId') =>
  facts.find((fact) => fact[name] !== undefined)?.[name];

/** Removes duplicates and sorts by time. Facts with equal times get a fixed order. */
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

/** Independent of the order of the properties. */
const textOf = (fact: Fact) => JSON.stringify(Object.entries(fact).sort());

const linesOf = (facts: readonly Fact[]): LogLine[] =>
  ofKind(facts, 'line')
    .flatMap(({ text }) => parseLogLine(text) ?? [])
    .sort((a, b) => a.at - b.at);

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
  const { requestId, exchange, end, status, queue } = request;
  if (status === undefined) return [];
  const at = iso(request.at);
  const receivedAt = exchange?.at ?? receiptOf(requestId, messages);
  const received: Step = {
    kind: 'received',
    // The clocks of API Gateway and the receiver differ.
    at: iso(Math.min(receivedAt ?? request.at, request.at)),
    requestId,
    atTheLatest: receivedAt === undefined || undefined,
    lagMs: end?.lagMs,
  };
  const queued: Step[] = queue === undefined ? [] : [{ kind: 'queued', at, requestId, queue }];
  const answered: Step = {
    kind: 'answered',
    at,
    requestId,
    status,
    fields: end?.fields,
    rejection: end?.reason?.replace('-', ' '),
    sourceIp: end?.sourceIp,
    error: end === undefined ? exchange?.error : end.error,
  };
  return [received, ...queued, answered];
}

/**
 * When API Gateway received the request, in epoch milliseconds: from the archive, or computed from an effect's latency.
 */
function receiptOf(requestId: string, messages: readonly Message[]): number | undefined {
  const attempts = messages.filter((one) => one.requestId === requestId).flatMap((one) => one.attempts);
  const archived = attempts.find(({ record }) => record !== undefined)?.record?.record;
  if (archived !== undefined) return Date.parse(archived.receivedAt);
  // A latency of 0 may mean that the clocks differ.
  const one = attempts.find(({ latencyMs = 0 }) => latencyMs > 0);
  return one && one.at - (one.latencyMs ?? 0);
}

/** Receipts that only the archive still has. */
function receivedByArchive(requests: readonly Request[], messages: readonly Message[]): Step[] {
  const ids = new Set(messages.flatMap(({ requestId }) => requestId ?? []));
  for (const { requestId } of requests) ids.delete(requestId);
  return [...ids].flatMap((requestId): Step[] => {
    const at = receiptOf(requestId, messages);
    return at === undefined ? [] : [{ kind: 'received', at: iso(at), requestId }];
  });
}

function stepsOfAttempt({ origin, requestId, messageId }: Message, one: Attempt): Step[] {
  const { kind, attempt, attempts, reason, latencyMs, retryInSeconds = 0, record } = one;
  const base = { at: iso(one.at), requestId, messageId, origin, attempt };
  const isFailed = kind === 'failed';
  const error = isFailed ? (one.error ?? 'Error') : one.error;
  const nextAttemptAt = isFailed ? iso(one.at + retryInSeconds * 1000) : undefined;
  const step: Step = { kind, ...base, attempts, error, reason, latencyMs, nextAttemptAt };
  if (record === undefined) return [step];
  const {
    object,
    record: { forgottenAt },
  } = record;
  return [step, { ...base, kind: 'archived', at: iso(record.at), object, forgottenAt }];
}

function noted({ at, level, message, requestId, messageId, error }: LogLine): Step {
  return { kind: 'noted', at: iso(at), level, message, requestId, messageId, error };
}

/**
 * States in order of priority: the one that needs a person most comes first. A delivery with several places gets the
 * first.
 */
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
  const known = {
    hasMessages: messages.length > 0,
    withMessages: new Set(messages.map(({ requestId }) => requestId)),
    lastAt: Math.max(...requests.map(({ at }) => at)),
    lastKeptAt: Math.max(...requests.flatMap(({ queue, at }) => (queue === undefined ? [] : [at]))),
    crashes: ofKind(facts, 'crash').filter(({ messageId }) => messageId === undefined),
    redriven: new Set(ofKind(facts, 'redrive').map(({ requestId }) => requestId)),
  };
  const open = [
    ...requests.flatMap((request) => ofRequest(request, event, known)),
    ...messages.flatMap((message) => ofMessage(event ?? '', message, messages, facts)),
    ...ofKind(facts, 'dead-letter').flatMap((letter) => ofLetter(letter, requests)),
  ].sort((a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state));
  const done = doneOf(messages);
  // A processed delivery stays processed, whatever happens to a resend or a replay.
  const [first, ...others] = done?.state === 'processed' ? [done, ...open] : open.length > 0 ? open : [done];
  if (first !== undefined) return [first, ...others.filter((place) => place !== undefined)];
  return [{ state: unansweredOf(facts), since: iso(facts[0]?.at ?? 0) }];
}

/** State if no answer is known: a log line from before the answer, or a redrive without other facts. */
function unansweredOf(facts: readonly Fact[]): State {
  const known = facts.filter(({ kind }) => kind !== 'effect');
  if (known.length === 0) return 'unknown';
  return known.every(({ kind }) => kind === 'redrive') ? 'queued' : 'received';
}

/** Facts across all requests and messages. Times are -Infinity if nothing is known. */
interface Known {
  readonly hasMessages: boolean;
  readonly withMessages: ReadonlySet<string | undefined>;
  readonly lastAt: number;
  /** When the last request was answered whose payload was put on a queue. */
  readonly lastKeptAt: number;
  /** Crashes of the consumer while any of the messages was on its queue. */
  readonly crashes: readonly CrashFact[];
  readonly redriven: ReadonlySet<string>;
}

/** Where the payload of a request is, if none of its messages is known. */
function ofRequest(request: Request, event: string | undefined, known: Known): Place[] {
  const { requestId, exchange, end, status, queue, at } = request;
  if (status === undefined || known.withMessages.has(requestId)) return [];
  const since = iso(at);
  if (status === 200 || (queue !== undefined && queue !== 'quarantine')) {
    const isParked = queue === 'unrouted' && !known.redriven.has(requestId);
    if (isParked) return [{ state: 'parked', queue, since }];
    const crashes = known.crashes.filter((crash) => crash.at >= at).length || undefined;
    return [{ state: 'queued', queue: event ?? '', since, crashes }];
  }
  const error = errorOfAnswer(request);
  // Redriving the quarantine posts the bytes again.
  if (queue === 'quarantine')
    return known.lastKeptAt > at ? [] : [{ state: 'invalid', queue, since, status, error }];
  // The partner retries a failed request, and another delivery of these bytes was kept.
  if (known.lastAt > at || known.hasMessages || known.lastKeptAt > Number.NEGATIVE_INFINITY) return [];
  // If the function fails without an answer, API Gateway answers 500.
  const isRefused = end === undefined && exchange?.byReceiver !== true && status !== 500;
  const state = isRefused ? 'refused' : status === 401 ? 'rejected' : 'failed';
  return [{ state, since, status, error }];
}

/** Where a request is if it is known only from a message on a queue that nothing consumes. */
function ofLetter({ queue, requestId, at, until }: DeadLetterFact, requests: readonly Request[]): Place[] {
  if (queue === undefined || requests.some((request) => request.requestId === requestId)) return [];
  const state = queue === 'unrouted' ? 'parked' : 'invalid';
  return [{ state, queue, since: iso(at), until }];
}

function errorOfAnswer({ end, exchange }: Request): string {
  const { fields = [] } = end ?? {};
  if (fields.length === 1 && fields[0] === 'body') return 'The body is not a JSON object';
  if (fields.length > 0) return `Invalid or missing: ${fields.join(', ')}`;
  if (end?.reason !== undefined) return end.reason.replace('-', ' ');
  if (end?.error !== undefined) return end.error;
  return exchange?.error ?? (end?.message === UNUSABLE ? 'Not an event' : 'Error');
}

/** Where an unfinished message is. */
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
    (other) => other.requestId === requestId && other.replay === replay && isGivenUp(message, startOf(other)),
  );
  if (isRedriven) return [];
  const crashes = attempts.filter(({ kind }) => kind === 'crashed').map((crash) => crash.attempts ?? 1);
  const place = {
    queue: event,
    since: iso(last.at),
    attempts: lastAttempt(last),
    crashes: sum(crashes) || undefined,
    replay,
    error: errorOfMessage(attempts),
  };
  const isOwn = (fact: Fact) => fact.requestId === requestId;
  const redrive = ofKind(facts, 'redrive').findLast((fact) => isOwn(fact) && fact.at >= last.at);
  if (redrive !== undefined) return [{ ...place, state: 'queued', since: iso(redrive.at) }];
  if (last.kind === 'dead-lettered' && !message.buryFailed) {
    return [{ ...place, state: 'dead-letter', until: ofKind(facts, 'dead-letter').find(isOwn)?.until }];
  }
  const { retryInSeconds } = last;
  const nextAttemptAt = retryInSeconds === undefined ? undefined : iso(last.at + retryInSeconds * 1000);
  return [{ ...place, state: 'retrying', nextAttemptAt }];
}

/** Error of the last attempt. If SQS moved the message, of the attempt before. */
function errorOfMessage(attempts: readonly Attempt[]): string {
  const last = attempts.findLast(({ kind, error }) => kind !== 'dead-lettered' || error !== undefined);
  return last?.kind === 'crashed' ? crashText(last.error) : (last?.error ?? crashText(undefined));
}

/**
 * How the delivery ended: processed if any of its messages was, otherwise as its own last message ended. A replay
 * decides only if nothing else does, because its result does not explain why the delivery was skipped.
 */
function doneOf(messages: readonly Message[]): Place | undefined {
  const own = endsOf(messages.filter(({ replay }) => replay === undefined));
  const all = endsOf(messages);
  const end = all.find(({ kind }) => kind === 'processed') ?? own.at(-1) ?? all.at(-1);
  if (end === undefined) return undefined;
  const state = end.kind === 'processed' ? 'processed' : 'skipped';
  return { state, since: iso(end.at), reason: end.reason };
}

const endsOf = (messages: readonly Message[]): Attempt[] =>
  messages
    .flatMap(({ attempts }) => attempts)
    .filter(({ kind }) => kind === 'processed' || kind === 'skipped')
    .sort((a, b) => a.at - b.at);

/** Whether everything about a delivery is known and nothing more happens to it automatically. */
export const hasSettled = ({ steps, now }: History): boolean =>
  steps.some(({ kind }) => kind === 'answered') && isSettled(now[0].state);
