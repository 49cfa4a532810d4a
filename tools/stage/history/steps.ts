import { isoTime, type RecordFact } from './facts.ts';
import type { HistoryStep } from './history.ts';
import { DISCARDED, type LineFact } from './log-line.ts';
import { type HistoryMessage, isOfAttempt } from './messages.ts';
import { type HistoryRequest, isAnswer } from './requests.ts';

const ORDER: readonly HistoryStep['kind'][] = ['received', 'queued', 'answered'];

/** The steps of requests and messages, records, and other log lines about them, in order of time. */
export function stepsOf(
  lines: readonly LineFact[],
  requests: readonly HistoryRequest[],
  messages: readonly HistoryMessage[],
  records: readonly RecordFact[],
): HistoryStep[] {
  // For a request whose log lines have expired, the archive has the receipt.
  const expired = new Set(messages.flatMap(({ requestId }) => requestId ?? []));
  for (const { requestId } of requests) expired.delete(requestId);
  const steps = [
    ...requests.flatMap((request) => stepsOfRequest(request, receiptOf(request.requestId))),
    ...[...expired].flatMap((requestId): HistoryStep[] => {
      const at = receiptOf(requestId);
      return at === undefined ? [] : [{ kind: 'received', at: isoTime(at), requestId }];
    }),
    ...messages.flatMap(({ attempts }) => attempts),
    ...records.map(archiveStep),
    ...lines.filter((line) => !isAnswer(line) && !isOfAttempt(line)).map(logStep),
  ];
  const rank = ({ kind }: HistoryStep) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
  return steps.sort((a, b) => (a.at === b.at ? rank(a) - rank(b) : a.at < b.at ? -1 : 1));

  /** When API Gateway received a request: from the archive, or computed from an effect's latency. */
  function receiptOf(requestId: string): number | undefined {
    const archived = records.find(({ record }) => record.requestId === requestId)?.record;
    if (archived !== undefined) return Date.parse(archived.receivedAt);
    const attempts = messages.flatMap((one) => (one.requestId === requestId ? one.attempts : []));
    // A latency of 0 may mean that the clocks differ.
    const one = attempts.find(({ latencyMs = 0 }) => latencyMs > 0);
    return one && Date.parse(one.at) - (one.latencyMs ?? 0);
  }
}

function stepsOfRequest(
  { requestId, exchange, end, status, queue, ...request }: HistoryRequest,
  receipt: number | undefined,
): HistoryStep[] {
  if (status === undefined) return [];
  const at = isoTime(request.at);
  const receivedAt = exchange?.at ?? receipt;
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
    ...{ kind: 'answered', at, requestId, status, fields: end?.fields, sourceIp: end?.sourceIp },
    rejection: end?.reason?.replace('-', ' '),
    error: end === undefined ? exchange?.error : end.error,
  };
  return [received, ...queued, answered];
}

const archiveStep = ({
  record: { requestId, attempt, forgottenAt },
  at,
  object,
}: RecordFact): HistoryStep => ({
  ...{ kind: 'archived', at: isoTime(at), requestId, attempt, object, forgottenAt },
});

function logStep({ level, message, requestId, messageId, error, by, reason, ...line }: LineFact) {
  const base = { at: isoTime(line.at), requestId, messageId };
  if (message !== DISCARDED) return { kind: 'noted', ...base, level, message, error } as const;
  const discarded = { by: by ?? 'somebody', reason: reason ?? '' };
  return { kind: 'discarded', ...base, discarded } as const;
}
