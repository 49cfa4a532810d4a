import { DISCARDED, IGNORED, UNUSABLE } from '../../../lambda/log-messages.ts';
import { byTime, discardedBy, type Fact, isoTime, ofKind } from './facts.ts';
import { type DeliveryState, type HistoryLocation, type HistoryStep, queueOf, stateOn } from './history.ts';
import { type HistoryMessage, type HistoryRequest, isGivenUp, startOf } from './messages.ts';
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
  'refused',
  'removed',
  'skipped',
];

interface DeliveryParts {
  readonly facts: readonly Fact[];
  readonly event: string;
  readonly requests: readonly HistoryRequest[];
  readonly messages: readonly HistoryMessage[];
}

/**
 * Where a delivery and its messages are. Logs say where a message should be. What was seen on a queue, or was not there
 * any more, overrides them.
 */
export function locationsOf(parts: DeliveryParts): [HistoryLocation, ...HistoryLocation[]] {
  const { facts, requests, messages } = parts;
  const fromLogs = [
    ...requests.flatMap((request) => locationOfRequest(request, parts) ?? []),
    ...messages.flatMap((message) => locationOfMessage(message, parts) ?? []),
  ];
  const setAside = onQueues(parts, fromLogs);
  const isOnQueue = (one: HistoryLocation) => setAside.some((other) => isSamePlace(one, other));
  const open = [
    ...setAside,
    ...fromLogs.filter((one) => !isOnQueue(one)).map((location) => ifRemoved(location, parts)),
  ].sort((a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state));
  const done = doneOf(messages);
  // A processed delivery stays processed, even if a resend or replay fails, unless a dead letter needs a person.
  const isDone = done?.state === 'processed' && open[0]?.state !== 'dead-letter';
  const unfinished = done === undefined ? open : open.filter(({ state }) => state !== 'removed');
  const [first, ...others] = isDone ? [done, ...unfinished] : [...unfinished, done];
  if (first !== undefined) return [first, ...others.filter((location) => location !== undefined)];
  // Only log lines from before the answer may be known, or only that a message is gone.
  const isKnown = facts.some(({ kind }) => kind !== 'effect' && kind !== 'left');
  return [{ state: isKnown ? 'received' : 'unknown', since: isoTime(facts[0]?.at ?? 0) }];
}

const isSamePlace = (one: HistoryLocation, other: HistoryLocation) =>
  one.state === other.state && one.requestId === other.requestId;

/** The messages that were seen on queues that nothing consumes, one for each request and queue. */
function onQueues({ facts }: DeliveryParts, fromLogs: readonly HistoryLocation[]): HistoryLocation[] {
  const found: HistoryLocation[] = [];
  const left = ofKind(facts, 'left');
  for (const { queue, requestId, at, seenAt, until, error } of ofKind(facts, 'dead-letter')) {
    const seen = { state: stateOn(queue), requestId, queue, since: isoTime(at), until };
    const hasLeft = left.some((one) => one.requestId === requestId && one.queue === queue && one.at > seenAt);
    if (hasLeft || found.some((other) => isSamePlace(seen, other))) continue;
    const known = fromLogs.find((other) => isSamePlace(seen, other));
    found.push(known === undefined ? { ...seen, error } : { ...known, until });
  }
  return found;
}

/** A message that should be on a queue that nothing consumes, if it has left it. */
function ifRemoved(location: HistoryLocation, { facts, requests }: DeliveryParts): HistoryLocation {
  const { state, requestId, queue, since } = location;
  if (queueOf({ state }) === undefined) return location;
  const later = facts.filter((fact) => fact.requestId === requestId && fact.at >= Date.parse(since));
  const redrive = ofKind(later, 'redrive').at(-1);
  if (redrive !== undefined) return { ...location, state: 'queued', since: isoTime(redrive.at) };
  const line = ofKind(later, 'line').findLast(({ message }) => message === DISCARDED);
  const left = ofKind(later, 'left').findLast((fact) => fact.queue === queue);
  const at = line?.at ?? left?.at;
  if (at === undefined) return location;
  const again = requests.find((other) => other.at > Date.parse(since) && other.queue !== undefined);
  const discarded = line && discardedBy(line);
  return { state: 'removed', requestId, queue, since: isoTime(at), again: again?.requestId, discarded };
}

/** Where the payload of a request is, if none of its messages is known. */
function locationOfRequest(
  request: HistoryRequest,
  { facts, event, requests, messages }: DeliveryParts,
): HistoryLocation | undefined {
  const { requestId, status, queue, at } = request;
  if (messages.some((message) => message.requestId === requestId)) return undefined;
  const base = { requestId, since: isoTime(at) };
  if (request.end?.message === IGNORED) return { ...base, state: 'skipped', reason: 'ignored-kind' };
  if (queue === 'unrouted') return { ...base, state: 'parked', queue };
  const error = errorOfAnswer(request);
  const isStored = (other: HistoryRequest) => other.queue !== undefined;
  if (queue === 'quarantine') {
    // Redriving the quarantine posts the bytes again.
    const isRedriven = requests.some((other) => isStored(other) && other.at > at);
    const seen = [...ofKind(facts, 'left'), ...ofKind(facts, 'dead-letter')];
    const isSeen = seen.some((fact) => fact.requestId === requestId);
    return isRedriven && !isSeen ? undefined : { ...base, state: 'invalid', queue, status, error };
  }
  if (status === 200 || queue !== undefined) return { ...base, state: 'queued', queue: event };
  // The partner repeated the failed request, or another delivery of these bytes was stored.
  const isRepeated = messages.length > 0 || requests.some((other) => other.at > at || isStored(other));
  return isRepeated ? undefined : { ...base, state: stateOfRefusal(request), status, error };
}

function stateOfRefusal({ end, status }: HistoryRequest): DeliveryState {
  // The receiver logs each answer. If the function fails without an answer, API Gateway answers 500.
  if (end === undefined && status !== 500) return 'refused';
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

function locationOfMessage(
  message: HistoryMessage,
  { event, messages }: DeliveryParts,
): HistoryLocation | undefined {
  const { attempts, requestId, replay, started } = message;
  const last = attempts.at(-1);
  // A crash after a success does not count: SQS sends the message again, but nothing is left to do.
  const end = attempts.findLast(({ kind }) => kind !== 'crashed');
  if (end?.kind === 'processed' || end?.kind === 'skipped') return undefined;
  const later = messages.slice(messages.indexOf(message) + 1);
  const isRedriven = later.some(
    (other) => other.requestId === requestId && other.replay === replay && isGivenUp(message, startOf(other)),
  );
  if (isRedriven) return undefined;
  const location = {
    requestId,
    queue: event,
    since: started?.at ?? last?.at ?? '',
    attempts: last?.attempt ?? (started?.attempt ?? 1) - 1,
    replay,
    error: errorOfMessage(attempts),
  };
  if (last?.kind === 'dead-lettered') return { ...location, state: 'dead-letter' };
  if (started !== undefined) return { ...location, state: 'retrying', startedAt: started.at };
  return { ...location, state: 'retrying', nextAttemptAt: last?.nextAttemptAt };
}

/** Error of the last attempt. If SQS itself moved the message, the error of the attempt before. */
function errorOfMessage(attempts: readonly HistoryStep[]): string | undefined {
  const last = attempts.findLast(({ kind, error }) => kind !== 'dead-lettered' || error !== undefined);
  return last?.kind === 'crashed' ? crashText(last.error) : last?.error;
}

/**
 * How the delivery ended: processed if any of its messages was, otherwise as its own last message ended. A replay
 * decides only if nothing else does, because its result does not explain why the delivery was skipped.
 */
function doneOf(messages: readonly HistoryMessage[]): HistoryLocation | undefined {
  const ends = messages
    .flatMap(({ attempts }) => attempts)
    .filter(({ kind }) => kind === 'processed' || kind === 'skipped')
    .sort(byTime);
  const own = ends.filter(({ origin }) => origin?.kind !== 'replay');
  const end = ends.find(({ kind }) => kind === 'processed') ?? own.at(-1) ?? ends.at(-1);
  if (end === undefined) return undefined;
  const state = end.kind === 'processed' ? 'processed' : 'skipped';
  return { state, since: end.at, reason: end.reason };
}
