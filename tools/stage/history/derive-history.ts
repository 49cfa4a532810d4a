import { type Fact, identityOf, ofKind } from './facts.ts';
import { type Delivery, type History, type HistoryStep, isSettled } from './history.ts';
import { locationsOf } from './locations.ts';
import { messagesOf } from './messages.ts';
import { requestsOf } from './requests.ts';
import { stepsOf } from './steps.ts';

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
  const newest = records.at(-1)?.record;
  const parts = [...records.map(({ record }) => record), ...lines, ...all];
  const event = newest?.event ?? parts.find((one) => one.event !== undefined)?.event;
  return {
    eventId: newest?.eventId ?? parts.find((one) => one.eventId !== undefined)?.eventId,
    event,
    shopId:
      records.find(({ record }) => record.shopId !== undefined)?.record.shopId ??
      ofKind(all, 'exchange')[0]?.shopId,
    timestamp: records.find(({ record }) => record.timestamp !== undefined)?.record.timestamp,
    steps: stepsOf(lines, requests, messages, records),
    now: locationsOf({ facts: all, lines, event: event ?? '', requests, messages }),
  };
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
  const [{ state, reason, error }] = now;
  // If another delivery had the effect, no answer was lost.
  const isSkipped =
    reason === 'answer-lost' && others.some((one) => one.state === 'processed' && one.reason === undefined);
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
  const receivedAt = received?.at ?? steps[0]?.at ?? now[0].since;
  const later = others.filter((one) => one.receivedAt > receivedAt);
  return {
    id,
    eventId,
    event,
    shopId,
    claimed: exchange?.claimed,
    receivedAt,
    state: isSkipped ? 'skipped' : state,
    reason: isSkipped ? 'already-processed' : reason,
    again: state === 'removed' ? later.find(({ status }) => status !== 401)?.id : undefined,
    status,
    attempts: [...attempts.values()].reduce(
      (total, ofMessage) => total + Math.max(...ofMessage.map(({ attempt = 1 }) => attempt)),
      0,
    ),
    error,
    latencyMs: done?.latencyMs,
    bytes: exchange?.bytes,
  };
}

/** Merges consecutive attempts of a message that failed in the same way into one step. */
export function mergedAttempts(steps: readonly HistoryStep[]): HistoryStep[] {
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
