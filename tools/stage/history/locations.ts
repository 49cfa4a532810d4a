import { UNUSABLE } from '../../../lambda/log-messages.ts';
import { type DeadLetterFact, type Fact, isoTime, ofKind } from './facts.ts';
import type { DeliveryState, HistoryLocation } from './history.ts';
import { type HistoryAttempt, type HistoryMessage, isGivenUp, startOf } from './messages.ts';
import type { HistoryRequest } from './requests.ts';
import { crashText } from './state-text.ts';

/**
 * States in order of priority: the one that needs a person most comes first. A delivery with several locations gets the
 * first.
 */
const WORST_FIRST: readonly DeliveryState[] = [
  'dead-letter',
  'retrying',
  'queued',
  'parked',
  'invalid',
  'failed',
  'rejected',
];

/** Where a delivery and its messages are. */
export function locationsOf(
  facts: readonly Fact[],
  event: string | undefined,
  requests: readonly HistoryRequest[],
  messages: readonly HistoryMessage[],
): [HistoryLocation, ...HistoryLocation[]] {
  const open = [
    ...requests.flatMap((request) => locationOfRequest(request, { facts, event, requests, messages }) ?? []),
    ...messages.flatMap((message) => locationOfMessage(event ?? '', message, messages, facts) ?? []),
    ...ofKind(facts, 'dead-letter').flatMap((deadLetter) => locationOfDeadLetter(deadLetter, requests) ?? []),
  ].sort((a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state));
  const done = doneOf(messages);
  // A processed delivery stays processed, even if a resend or replay fails, unless a dead letter needs a person.
  const isDone = done?.state === 'processed' && open[0]?.state !== 'dead-letter';
  const [first, ...others] = isDone ? [done, ...open] : [...open, done];
  if (first !== undefined) return [first, ...others.filter((location) => location !== undefined)];
  return [{ state: unansweredOf(facts), since: isoTime(facts[0]?.at ?? 0) }];
}

/**
 * The state of a delivery whose answer is unknown: only log lines from before the answer, or only a redrive are known.
 */
function unansweredOf(facts: readonly Fact[]): DeliveryState {
  const known = facts.filter(({ kind }) => kind !== 'effect');
  if (known.length === 0) return 'unknown';
  return known.every(({ kind }) => kind === 'redrive') ? 'queued' : 'received';
}

interface DeliveryParts {
  readonly facts: readonly Fact[];
  readonly event: string | undefined;
  readonly requests: readonly HistoryRequest[];
  readonly messages: readonly HistoryMessage[];
}

/** Where the payload of a request is, if none of its messages is known. */
function locationOfRequest(
  request: HistoryRequest,
  { facts, event = '', requests, messages }: DeliveryParts,
): HistoryLocation | undefined {
  const { requestId, status, queue, at } = request;
  if (status === undefined || messages.some((message) => message.requestId === requestId)) return undefined;
  const since = isoTime(at);
  if (queue === 'unrouted') {
    const isRedriven = ofKind(facts, 'redrive').some((redrive) => redrive.requestId === requestId);
    return isRedriven ? { state: 'queued', queue: event, since } : { state: 'parked', queue, since };
  }
  const error = errorOfAnswer(request);
  const isStored = (other: HistoryRequest) => other.queue !== undefined;
  if (queue === 'quarantine') {
    // Redriving the quarantine posts the bytes again.
    const isRedriven = requests.some((other) => isStored(other) && other.at > at);
    return isRedriven ? undefined : { state: 'invalid', queue, since, status, error };
  }
  if (status === 200 || queue !== undefined) return { state: 'queued', queue: event, since };
  // The partner repeated the failed request, or another delivery of these bytes was stored.
  const isRepeated = messages.length > 0 || requests.some((other) => other.at > at || isStored(other));
  return isRepeated ? undefined : { state: stateOfRefusal(request), since, status, error };
}

function stateOfRefusal({ exchange, end, status }: HistoryRequest): DeliveryState {
  // If the function fails without an answer, API Gateway answers 500.
  if (end === undefined && exchange?.byReceiver !== true && status !== 500) return 'refused';
  return status === 401 ? 'rejected' : 'failed';
}

function errorOfAnswer({ end, exchange }: HistoryRequest): string {
  const { fields = [] } = end ?? {};
  if (fields.length === 1 && fields[0] === 'body') return 'The body is not a JSON object';
  if (fields.length > 0) return `Invalid or missing: ${fields.join(', ')}`;
  if (end?.reason !== undefined) return end.reason.replace('-', ' ');
  if (end?.error !== undefined) return end.error;
  return exchange?.error ?? (end?.message === UNUSABLE ? 'Not an event' : 'Error');
}

/** Where a request is if it is known only from a message on a queue that nothing consumes. */
function locationOfDeadLetter(
  { queue, requestId, at, until }: DeadLetterFact,
  requests: readonly HistoryRequest[],
): HistoryLocation | undefined {
  if (queue === undefined || requests.some((request) => request.requestId === requestId)) return undefined;
  const state = queue === 'unrouted' ? 'parked' : 'invalid';
  return { state, queue, since: isoTime(at), until };
}

/** Where an unfinished message is. */
function locationOfMessage(
  event: string,
  message: HistoryMessage,
  messages: readonly HistoryMessage[],
  facts: readonly Fact[],
): HistoryLocation | undefined {
  const { attempts, requestId, replay, started } = message;
  const last = attempts.at(-1);
  const since = started?.at ?? last?.at;
  // A crash after a success does not count: SQS sends the message again, but nothing is left to do.
  const end = attempts.findLast(({ kind }) => kind !== 'crashed');
  const isDone = end?.kind === 'processed' || end?.kind === 'skipped';
  if (since === undefined || isDone) return undefined;
  const later = messages.slice(messages.indexOf(message) + 1);
  const isRedriven = later.some(
    (other) => other.requestId === requestId && other.replay === replay && isGivenUp(message, startOf(other)),
  );
  if (isRedriven) return undefined;
  const location = {
    queue: event,
    since: isoTime(since),
    attempts: last?.attempt ?? (started?.attempt ?? 1) - 1,
    replay,
    error: errorOfMessage(attempts),
  };
  const isOwn = (fact: Fact) => fact.requestId === requestId;
  const redrive = ofKind(facts, 'redrive').findLast((fact) => isOwn(fact) && fact.at >= since);
  if (redrive !== undefined) return { ...location, state: 'queued', since: isoTime(redrive.at) };
  if (last?.kind === 'dead-lettered' && !message.notMoved) {
    return { ...location, state: 'dead-letter', until: ofKind(facts, 'dead-letter').find(isOwn)?.until };
  }
  if (started !== undefined) return { ...location, state: 'retrying', startedAt: isoTime(started.at) };
  const nextAttemptAt =
    last?.retryInSeconds === undefined ? undefined : isoTime(last.at + last.retryInSeconds * 1000);
  return { ...location, state: 'retrying', nextAttemptAt };
}

/** Error of the last attempt. If SQS itself moved the message, the error of the attempt before. */
function errorOfMessage(attempts: readonly HistoryAttempt[]): string | undefined {
  const last = attempts.findLast(({ kind, error }) => kind !== 'dead-lettered' || error !== undefined);
  return last?.kind === 'crashed' ? crashText(last.error) : last?.error;
}

/**
 * How the delivery ended: processed if any of its messages was, otherwise as its own last message ended. A replay
 * decides only if nothing else does, because its result does not explain why the delivery was skipped.
 */
function doneOf(messages: readonly HistoryMessage[]): HistoryLocation | undefined {
  const own = endsOf(messages.filter(({ replay }) => replay === undefined));
  const all = endsOf(messages);
  const end = all.find(({ kind }) => kind === 'processed') ?? own.at(-1) ?? all.at(-1);
  if (end === undefined) return undefined;
  const state = end.kind === 'processed' ? 'processed' : 'skipped';
  return { state, since: isoTime(end.at), reason: end.reason };
}

const endsOf = (messages: readonly HistoryMessage[]): HistoryAttempt[] =>
  messages
    .flatMap(({ attempts }) => attempts)
    .filter(({ kind }) => kind === 'processed' || kind === 'skipped')
    .sort((a, b) => a.at - b.at);
