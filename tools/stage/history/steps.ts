import { isoTime } from './facts.ts';
import type { HistoryStep } from './history.ts';
import { DISCARDED, type ParsedLogLine } from './log-line.ts';
import { type HistoryAttempt, type HistoryMessage, isOfAttempt } from './messages.ts';
import { type HistoryRequest, isAnswer } from './requests.ts';

/** Order of steps with the same millisecond. */
const ORDER: readonly HistoryStep['kind'][] = ['received', 'queued', 'answered'];

/** The steps of requests and messages, and other log lines about them, in order of time. */
export function stepsOf(
  lines: readonly ParsedLogLine[],
  requests: readonly HistoryRequest[],
  messages: readonly HistoryMessage[],
): HistoryStep[] {
  const steps = [
    ...requests.flatMap((request) => stepsOfRequest(request, messages)),
    ...receivedByArchive(requests, messages),
    ...messages.flatMap((message) => message.attempts.flatMap((attempt) => stepsOfAttempt(message, attempt))),
    ...lines.filter((line) => !isAnswer(line) && !isOfAttempt(line)).map(logStep),
  ];
  const rank = ({ kind }: HistoryStep) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
  return steps.sort((a, b) => (a.at === b.at ? rank(a) - rank(b) : a.at < b.at ? -1 : 1));
}

function stepsOfRequest(request: HistoryRequest, messages: readonly HistoryMessage[]): HistoryStep[] {
  const { requestId, exchange, end, status, queue } = request;
  if (status === undefined) return [];
  const at = isoTime(request.at);
  const receivedAt = exchange?.at ?? receiptOf(requestId, messages);
  const received: HistoryStep = {
    kind: 'received',
    // The receipt is not later than the answer, although the clocks of API Gateway and the receiver differ.
    at: isoTime(Math.min(receivedAt ?? request.at, request.at)),
    requestId,
    atTheLatest: receivedAt === undefined || undefined,
    lagMs: end?.lagMs,
  };
  const queued: HistoryStep[] = queue === undefined ? [] : [{ kind: 'queued', at, requestId, queue }];
  const answered: HistoryStep = {
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
function receiptOf(requestId: string, messages: readonly HistoryMessage[]): number | undefined {
  const attempts = messages.filter((one) => one.requestId === requestId).flatMap((one) => one.attempts);
  const archived = attempts.find(({ record }) => record !== undefined)?.record?.record;
  if (archived !== undefined) return Date.parse(archived.receivedAt);
  // A latency of 0 may mean that the clocks differ.
  const one = attempts.find(({ latencyMs = 0 }) => latencyMs > 0);
  return one && one.at - (one.latencyMs ?? 0);
}

/** The steps `received` of requests whose log lines have expired, from the archive. */
function receivedByArchive(
  requests: readonly HistoryRequest[],
  messages: readonly HistoryMessage[],
): HistoryStep[] {
  const ids = new Set(messages.flatMap(({ requestId }) => requestId ?? []));
  for (const { requestId } of requests) ids.delete(requestId);
  return [...ids].flatMap((requestId): HistoryStep[] => {
    const at = receiptOf(requestId, messages);
    return at === undefined ? [] : [{ kind: 'received', at: isoTime(at), requestId }];
  });
}

function stepsOfAttempt(message: HistoryMessage, one: HistoryAttempt): HistoryStep[] {
  const { origin, requestId, messageId } = message;
  const { kind, attempt, reason, latencyMs, retryInSeconds = 0, record } = one;
  const base = { at: isoTime(one.at), requestId, messageId, origin, attempt };
  const isFailed = kind === 'failed';
  const error = isFailed ? (one.error ?? 'Error') : one.error;
  const nextAttemptAt = isFailed ? isoTime(one.at + retryInSeconds * 1000) : undefined;
  const step: HistoryStep = { kind, ...base, error, reason, latencyMs, nextAttemptAt };
  if (record === undefined) return [step];
  const { forgottenAt } = record.record;
  return [step, { ...base, kind: 'archived', at: isoTime(record.at), object: record.object, forgottenAt }];
}

function logStep({
  at,
  level,
  message,
  requestId,
  messageId,
  error,
  by,
  reason,
}: ParsedLogLine): HistoryStep {
  const base = { at: isoTime(at), requestId, messageId };
  if (message !== DISCARDED) return { kind: 'noted', ...base, level, message, error };
  return { kind: 'discarded', ...base, discarded: { by: by ?? 'somebody', reason: reason ?? '' } };
}
