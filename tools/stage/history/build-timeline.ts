import { SMOKE_TEST_PREFIX } from '../../../lambda/smoke-test/request-id.ts';
import { errorOf, type LogLine } from './log-line.ts';
import { endsAttempt, type FoundRecord, type Message, messagesOf, type Work } from './messages.ts';
import { answerOf, endsRequest, queueOf, type Request, requestsOf } from './requests.ts';
import type { Step, Timeline } from './timeline.ts';
import { whereabouts } from './whereabouts.ts';

/** Steps of the same millisecond, in the order in which they were done. */
const ORDER: readonly Step['what'][] = ['received', 'queued', 'answered'];

/**
 * The timeline of one event, from whatever lines and records there are of it: none of either is needed, as logs
 * expire and the archive is behind. Pure.
 * @param lines of this event, in any order
 * @param records of this event, in any order; the same one may be there twice
 * @param now epoch milliseconds
 */
export function buildTimeline(
  eventId: string,
  lines: readonly LogLine[],
  records: readonly FoundRecord[],
  now: number,
): Timeline {
  const sorted = lines.toSorted((a, b) => a.at - b.at);
  const requests = requestsOf(sorted);
  const messages = messagesOf(sorted, requests, records);
  const newest = records.map(({ record }) => record).at(-1);
  const event = newest?.event ?? sorted.find((line) => line.event !== undefined)?.event;
  const shopId = records.find(({ record }) => record.shopId !== undefined)?.record.shopId;
  const timestamp = records.find(({ record }) => record.timestamp !== undefined)?.record.timestamp;
  const steps: Step[] = [
    ...requests.flatMap((request) => stepsOfRequest(request, messages)),
    ...receivedByArchive(requests, messages),
    ...messages.flatMap(stepsOfMessage),
    ...sorted.filter((line) => !isTold(line)).map(noted),
  ];
  return {
    eventId,
    ...(event !== undefined && { event }),
    ...(shopId !== undefined && { shopId }),
    ...(timestamp !== undefined && { timestamp }),
    steps: inOrder(steps),
    now: whereabouts(event, requests, messages, now),
  };
}

function stepsOfRequest({ requestId, end }: Request, messages: readonly Message[]): Step[] {
  if (end === undefined) return [];
  const done = new Date(end.at).toISOString();
  const receivedAt = receiptOf(requestId, messages);
  const received: Step = {
    what: 'received',
    // API Gateway's clock and the receiver's are not the same.
    at: receivedAt === undefined || receivedAt > done ? done : receivedAt,
    requestId,
    exact: receivedAt !== undefined,
    ...(end.lagMs !== undefined && { lagMs: end.lagMs }),
    ...(requestId.startsWith(SMOKE_TEST_PREFIX) && { smokeTest: true }),
  };
  const queue = queueOf(end);
  return [
    received,
    ...(queue === undefined ? [] : [{ what: 'queued' as const, at: done, requestId, queue }]),
    answerOf(requestId, end),
  ];
}

/** When API Gateway had the request: as the archive has it, or by what an effect counted from it. */
function receiptOf(requestId: string, messages: readonly Message[]): string | undefined {
  const work = messages.filter((message) => message.requestId === requestId).flatMap(({ works }) => works);
  const archived = work.find(({ record }) => record !== undefined)?.record;
  if (archived !== undefined) return archived.record.receivedAt;
  // 0 may be that the clocks differ.
  const timed = work.find(({ latencyMs = 0 }) => latencyMs > 0);
  return timed && new Date(timed.at - (timed.latencyMs ?? 0)).toISOString();
}

/** Receipts of which the receiver's log has nothing any more. */
function receivedByArchive(requests: readonly Request[], messages: readonly Message[]): Step[] {
  const logged = new Set(requests.flatMap(({ requestId, end }) => (end === undefined ? [] : [requestId])));
  const others = new Set(
    messages.flatMap(({ requestId }) =>
      requestId === undefined || logged.has(requestId) ? [] : [requestId],
    ),
  );
  return [...others].flatMap((requestId) => {
    const at = receiptOf(requestId, messages);
    return at === undefined ? [] : [{ what: 'received' as const, at, requestId, exact: true }];
  });
}

function stepsOfMessage(message: Message): Step[] {
  return [...unseen(message), ...message.works.flatMap((work) => stepsOfWork(message, work))];
}

function stepsOfWork(message: Message, work: Work): Step[] {
  const of = ofAttempt(message, work.attempt, work.at);
  const steps: Step[] = [];
  const { kind, record } = work;
  if (kind === 'failed') {
    const { error = 'Error', retryInSeconds = 0 } = work;
    const nextAttemptAt = new Date(work.at + retryInSeconds * 1000).toISOString();
    steps.push({ what: 'failed', ...of, error, retryInSeconds, nextAttemptAt });
  } else if (kind === 'dead-lettered') {
    steps.push({ what: 'dead-lettered', ...of, error: work.error ?? 'Error' });
  } else {
    const { latencyMs } = work;
    steps.push({ what: 'effect', ...of, outcome: kind, ...(latencyMs !== undefined && { latencyMs }) });
  }
  if (record !== undefined) {
    const { outcome, settledAt, forgottenAt } = record.record;
    steps.push({
      what: 'archived',
      ...of,
      at: settledAt,
      outcome,
      object: record.object,
      ...(forgottenAt !== undefined && { forgottenAt }),
    });
  }
  return steps;
}

/** Attempts before one that was seen. Where the log begins later than the event, nothing is missing. */
function unseen(message: Message): Step[] {
  const { works, isWhole } = message;
  const steps: Step[] = [];
  let last = isWhole ? 0 : (works[0]?.attempt ?? 0);
  for (const { attempt, at } of works) {
    const missing = attempt - last - 1;
    if (missing > 0) {
      steps.push({ what: 'unseen', ...ofAttempt(message, last + 1, at), attempts: missing });
    }
    last = Math.max(last, attempt);
  }
  return steps;
}

function ofAttempt({ origin, requestId, messageId }: Message, attempt: number, at: number) {
  return {
    at: new Date(at).toISOString(),
    origin,
    attempt,
    ...(requestId !== undefined && { requestId }),
    ...(messageId !== undefined && { messageId }),
  };
}

const isTold = (line: LogLine) => (line.messageId === undefined ? endsRequest(line) : endsAttempt(line));

function noted(line: LogLine): Step {
  const { at, level, message, requestId, messageId } = line;
  return {
    what: 'noted',
    at: new Date(at).toISOString(),
    level,
    message,
    ...(requestId !== undefined && { requestId }),
    ...(messageId !== undefined && { messageId }),
    ...(line.error !== undefined && { error: errorOf(line) }),
  };
}

function inOrder(steps: readonly Step[]): Step[] {
  const rank = ({ what }: Step) => (ORDER.includes(what) ? ORDER.indexOf(what) : ORDER.length);
  return steps.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at) || rank(a) - rank(b));
}
