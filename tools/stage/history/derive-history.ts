import {
  ACCEPTED,
  DISCARDED,
  IGNORED,
  PARKED,
  REJECTED,
  SERVER_ERROR,
  UNUSABLE,
} from '../../../lambda/log-messages.ts';
import {
  byTime,
  discardedBy,
  type Fact,
  identityOf,
  isoTime,
  type LineFact,
  ofKind,
  type RecordFact,
} from './facts.ts';
import { type Delivery, type History, type HistoryStep, isSettled } from './history.ts';
import { locationsOf } from './locations.ts';
import { type HistoryMessage, type HistoryRequest, isOfAttempt, messagesOf } from './messages.ts';

/** Log messages that end a request: what the receiver then answers, and the queue if it is not that of an event. */
const ANSWERS: Readonly<Record<string, readonly [status: number, queue?: string]>> = {
  [ACCEPTED]: [200],
  [PARKED]: [200, 'unrouted'],
  [IGNORED]: [200],
  [UNUSABLE]: [400, 'quarantine'],
  [REJECTED]: [401],
  [SERVER_ERROR]: [500],
};

/**
 * Builds the history of one delivery, or of all deliveries of an event, from what is known about it. Facts may be in
 * any order and repeated. Any fact may be missing, because logs expire and the archive lags. A pure function.
 * @example const { steps, now: [{ state }] } = deriveHistory(facts);
 */
export function deriveHistory(facts: readonly Fact[]): History {
  const all = inOrder(facts);
  const lines = ofKind(all, 'line').filter(({ message }) => message !== '');
  const requests = requestsOf(all, lines);
  const messages = messagesOf(all, lines, requests);
  const records = ofKind(all, 'record');
  const known = [...records.toReversed(), ...lines, ...all];
  const event = known.find((one) => one.event !== undefined)?.event;
  return {
    eventId: known.find((one) => one.eventId !== undefined)?.eventId,
    event,
    shopId:
      records.find(({ record }) => record.shopId !== undefined)?.record.shopId ??
      ofKind(all, 'exchange')[0]?.shopId,
    timestamp: records.find(({ record }) => record.timestamp !== undefined)?.record.timestamp,
    steps: mergedAttempts(stepsOf(lines, requests, messages, records)),
    now: locationsOf({ facts: all, event: event ?? '', requests, messages }),
  };
}

const isAnswer = ({ message, messageId }: LineFact) =>
  messageId === undefined && Object.hasOwn(ANSWERS, message);

function requestsOf(facts: readonly Fact[], lines: readonly LineFact[]): HistoryRequest[] {
  const ends = new Map(lines.filter(isAnswer).map((line) => [line.requestId, line]));
  const exchanges = new Map(ofKind(facts, 'exchange').map((fact) => [fact.requestId, fact]));
  // SQS may have stored it although the receiver did not get the answer of SQS.
  const stored = new Map(ofKind(facts, 'dead-letter').map(({ requestId, queue }) => [requestId, queue]));
  const ids = new Set([...exchanges.keys(), ...ends.keys()].filter((id) => id !== undefined));
  return [...ids]
    .map((requestId) => {
      const [end, exchange] = [ends.get(requestId), exchanges.get(requestId)];
      const [answer = 0, aside] = ANSWERS[end?.message ?? ''] ?? [];
      const status = exchange?.status ?? answer;
      const at = end?.at ?? Math.round((exchange?.at ?? 0) + (exchange?.durationMs ?? 0));
      const queue = (end?.message === ACCEPTED ? end.event : aside) ?? stored.get(requestId);
      return { requestId, exchange, end, status, queue, at };
    })
    .sort((a, b) => a.at - b.at || (a.requestId < b.requestId ? -1 : 1));
}

/**
 * Builds the list row of one delivery.
 * @param facts of this request only
 * @param history derived from these facts
 * @param others the rows of other deliveries of the same bytes
 */
export function deliveryOf(
  id: string,
  facts: readonly Fact[],
  history: History,
  others: readonly Delivery[] = [],
): Delivery {
  const { eventId, event, shopId, steps, now } = history;
  const [{ state, reason, error, since }] = now;
  const exchange = ofKind(facts, 'exchange')[0];
  const received = steps.find(({ kind }) => kind === 'received') ?? steps[0];
  const answered = steps.find(({ kind }) => kind === 'answered');
  const done = steps.find(({ latencyMs }) => latencyMs !== undefined);
  const consumed = steps.filter(({ attempt, kind }) => attempt !== undefined && kind !== 'archived');
  // A replay's attempts are not part of the delivery. If SQS moved the message, that was no attempt.
  const attempts = consumed.filter(
    ({ origin, kind, error: why }) =>
      origin?.kind !== 'replay' && (kind !== 'dead-lettered' || why !== undefined),
  );
  // An event has its effect once.
  const isSkipped = reason === 'answer-lost' && others.some((one) => one.state === 'processed');
  return {
    id,
    eventId,
    event,
    shopId,
    claimed: exchange?.claimed,
    receivedAt: received?.at ?? since,
    state: isSkipped ? 'skipped' : state,
    reason: isSkipped ? 'already-processed' : reason,
    status: answered?.status ?? (consumed.length > 0 ? 200 : undefined),
    attempts: attempts.reduce((total, one) => total + (one.attempts ?? 1), 0),
    error,
    latencyMs: done?.latencyMs,
    bytes: exchange?.bytes,
  };
}

/** Merges consecutive attempts of a message that failed in the same way into one step. */
function mergedAttempts(steps: readonly HistoryStep[]): HistoryStep[] {
  const merged: HistoryStep[] = [];
  for (const step of steps) {
    const last = merged.at(-1);
    if (last !== undefined && isSameFailure(last, step)) {
      const { at, nextAttemptAt } = step;
      merged.splice(-1, 1, { ...last, attempts: (last.attempts ?? 1) + 1, until: at, nextAttemptAt });
    } else {
      merged.push(step);
    }
  }
  return merged;
}

const isSameFailure = (one: HistoryStep, other: HistoryStep) =>
  (one.kind === 'failed' || one.kind === 'crashed') &&
  one.kind === other.kind &&
  one.messageId === other.messageId &&
  one.requestId === other.requestId &&
  one.error === other.error &&
  (one.attempt ?? 1) + (one.attempts ?? 1) === other.attempt;

function inOrder(facts: readonly Fact[]): Fact[] {
  return [...new Map(facts.map((fact) => [identityOf(fact), fact]))]
    .sort(([a, one], [b, other]) => one.at - other.at || (a < b ? -1 : 1))
    .map(([, fact]) => fact);
}

/** Whether everything about a delivery is known and nothing more happens to it automatically. */
export const hasSettled = ({ steps, now }: History): boolean =>
  steps.some(({ kind }) => kind === 'answered') && isSettled(now[0].state);

const ORDER: readonly HistoryStep['kind'][] = ['received', 'queued', 'answered'];

/** The steps of requests and messages, records, and other log lines about them, in order of time. */
function stepsOf(
  lines: readonly LineFact[],
  requests: readonly HistoryRequest[],
  messages: readonly HistoryMessage[],
  records: readonly RecordFact[],
): HistoryStep[] {
  const receipts = new Map(
    records.map(({ requestId, record }) => [requestId, Date.parse(record.receivedAt)]),
  );
  // For a request whose log lines have expired, the archive has the receipt.
  const answered = new Set([undefined, ...requests.map(({ requestId }) => requestId)]);
  const expired = [...receipts].filter(([requestId]) => !answered.has(requestId));
  const steps = [
    ...requests.flatMap((request) => stepsOfRequest(request, receipts.get(request.requestId))),
    ...expired.map(([requestId, at]): HistoryStep => ({ kind: 'received', at: isoTime(at), requestId })),
    ...messages.flatMap(({ attempts }) => attempts),
    ...records.map(archiveStep),
    ...lines.filter((line) => !isAnswer(line) && !isOfAttempt(line)).map(logStep),
  ];
  const rank = ({ kind }: HistoryStep) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
  return steps.sort((a, b) => byTime(a, b) || rank(a) - rank(b));
}

function stepsOfRequest(
  { requestId, exchange, end, status, queue, ...request }: HistoryRequest,
  receipt: number | undefined,
): HistoryStep[] {
  const at = isoTime(request.at);
  // The receipt is not later than the answer, although the clocks of API Gateway and the receiver differ.
  const receivedAt = isoTime(Math.min(exchange?.at ?? receipt ?? request.at, request.at));
  return [
    { kind: 'received', at: receivedAt, requestId, lagMs: end?.lagMs },
    ...(queue === undefined ? [] : [{ kind: 'queued', at, requestId, queue } as const]),
    {
      ...{ kind: 'answered', at, requestId, status, fields: end?.fields, sourceIp: end?.sourceIp },
      rejection: end?.reason?.replace('-', ' '),
      reason: end?.message === IGNORED ? 'ignored-kind' : undefined,
      error: end === undefined ? exchange?.error : end.error,
    },
  ];
}

function archiveStep({ record, at, object }: RecordFact): HistoryStep {
  const { requestId, attempt, forgottenAt } = record;
  return { kind: 'archived', at: isoTime(at), requestId, attempt, object, forgottenAt };
}

function logStep({ level, message, requestId, messageId, error, ...line }: LineFact): HistoryStep {
  const base = { at: isoTime(line.at), requestId, messageId };
  if (message === DISCARDED) return { kind: 'discarded', ...base, discarded: discardedBy(line) };
  return { kind: 'noted', ...base, level, message, error };
}
