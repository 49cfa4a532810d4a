import { GATEWAY_TIMEOUT_SECONDS } from '../../lambda/limits.ts';
import { FIRST_WAIT_SECONDS, type Finding, finding } from './finding.ts';
import type { AttemptEnding, SentAttempt, SentDelivery } from './sent-deliveries.ts';

/** Milliseconds from which on the wait between retries need not grow. Source: docs/partner.md. */
const MAX_WAIT = 60 * 60 * 1_000;
/** Random share of a wait. Source: docs/partner.md. */
const JITTER = 0.25;
/** Ratio of two waits below which the second is shorter. Jitter explains higher ratios. */
const SHRINKING = (1 - JITTER) / (1 + JITTER);
/**
 * Ratio of two waits above which the second is longer. With jitter, doubling gives at least 1.2; the rest is
 * for measurement errors.
 */
const GROWING = 1.1;

/**
 * Minimum milliseconds of a wait to compare. Shorter waits may be delays of the computer, or retries by an HTTP client
 * after a cut or a timeout.
 */
const MIN_COMPARED_WAIT = 500;
/** Milliseconds by which the clocks of sender and checker may disagree about a wait. */
const CLOCK_ERROR = 100;

/** A request of a delivery, with the previous request. */
type Repeat = ReturnType<typeof repeatsOf>[number];

export function* repeatFindings(delivery: SentDelivery, attempt: SentAttempt): Generator<Finding> {
  const index = delivery.attempts.indexOf(attempt);
  const repeat = repeatsOf(delivery)[index - 1];
  // The same bytes with another signature are not a retry: the sender changed something.
  if (repeat === undefined || !attempt.isSameSignature) return;
  const { before, isOwnWait, isStorm, longestBefore } = repeat;
  const how = before.end?.how;
  const wait = seconds(repeat.wait);
  const longest = seconds(longestBefore ?? 0);
  const trend = trendOf(repeat);
  const asked = retryAfter(before);
  const isFirst = isOwnWait && isAnswered(before) && longestBefore === undefined;
  yield finding('repeat', { index, delivery: delivery.number, wait, ending: endingText(how) });
  if (how === 200) yield finding('repeat-after-200');
  if (how === 400) yield finding('repeat-after-400');
  if (how === undefined) yield finding('repeat-while-under-way');
  if (isFirst && repeat.wait < FIRST_WAIT_SECONDS * 1_000 * (1 - JITTER))
    yield finding('repeat-early', { wait });
  if (isStorm) yield finding('repeat-storm', { wait });
  if (trend === 'shrinking') yield finding('repeat-sooner', { wait, longest });
  if (trend === 'steady') yield finding('repeat-steady', { wait, longest });
  if (repeat.wait < asked - CLOCK_ERROR) {
    yield finding('retry-after-ignored', { missing: seconds(asked - repeat.wait), asked: seconds(asked) });
  }
  // A sender must not change bytes that the service accepts.
  if (!attempt.isSameBytes && before.status === 200 && hasFailed(before)) yield finding('repeat-changed');
}

function repeatsOf({ attempts }: SentDelivery) {
  let longestBefore: number | undefined;
  let isQuickBefore = false;
  return attempts.slice(1).map(({ at, earliest }, index) => {
    const previous = attempts[index] as SentAttempt;
    const ended = previous.end?.at ?? at;
    // A retry that began while the previous request was still open. A connection pool may open its connection
    // long before, so the request must also arrive soon after the end of the previous one.
    const isParallel = earliest < ended && at - ended < MIN_COMPARED_WAIT;
    const before = isParallel ? { ...previous, end: undefined } : previous;
    /** Milliseconds since the end of the previous request. 0 if the previous request has not ended. */
    const wait = before.end === undefined ? 0 : Math.max(0, at - before.end.at);
    const isFree = hasFailed(before) && retryAfter(before) === 0;
    const isQuick = isFree && wait < MIN_COMPARED_WAIT;
    /** Whether the sender itself chose the wait, after a failure, and not its HTTP client. */
    const isOwnWait = isFree && (isAnswered(before) || !isQuick);
    const repeat = { before, wait, isStorm: isQuick && isQuickBefore, isOwnWait, longestBefore };
    isQuickBefore = isQuick;
    if (isOwnWait) longestBefore = Math.max(wait, longestBefore ?? 0);
    return repeat;
  });
}

type WaitTrend = 'growing' | 'steady' | 'shrinking';

/** @returns undefined if there are no two waits to compare */
function trendOf({ wait, isOwnWait, longestBefore = 0 }: Repeat): WaitTrend | undefined {
  if (!isOwnWait || longestBefore < MIN_COMPARED_WAIT) return undefined;
  if (wait < longestBefore * SHRINKING) return 'shrinking';
  return wait < Math.min(longestBefore * GROWING, MAX_WAIT * (1 - JITTER)) ? 'steady' : 'growing';
}

const isAnswered = ({ end }: SentAttempt) => typeof end?.how === 'number';

/** Whether the request must be retried: all answers except 200 and 400 demand it (docs/partner.md). */
export const hasFailed = ({ end }: SentAttempt) => end !== undefined && end.how !== 200 && end.how !== 400;

/** Milliseconds to wait that the answer demands. */
const retryAfter = ({ end }: SentAttempt) => (end?.retryAfterSeconds ?? 0) * 1_000;

/** Finding for a sender that closed the connection before the answer. */
export const patienceFinding = (milliseconds: number): Finding =>
  finding(milliseconds < GATEWAY_TIMEOUT_SECONDS * 1_000 ? 'gave-up-early' : 'gave-up', {
    wait: seconds(milliseconds),
  });

/** Summary of how a delivery was retried. */
export function repeatReport(delivery: SentDelivery) {
  const { number, eventId, event, attempts } = delivery;
  const repeats = repeatsOf(delivery);
  const trends = repeats.map(trendOf);
  return {
    delivery: number,
    eventId,
    event,
    requests: attempts.length,
    endings: attempts.map(({ end }) => end?.how),
    /** Milliseconds from the end of each request to the beginning of the next. */
    waits: repeats.map(({ wait }) => Math.round(wait)),
    /** The worst trend of the waits. */
    backOff: (['shrinking', 'steady', 'growing'] as const).find((trend) => trends.includes(trend)),
    isSameBytes: attempts.every(({ isSameBytes }) => isSameBytes),
    isSameSignature: attempts.every(({ isSameSignature }) => isSameSignature),
    /** Number of requests on a connection that had been used before. */
    reused: attempts.filter(({ isReused }) => isReused).length,
  };
}

function endingText(ending: AttemptEnding | undefined): string {
  if (ending === undefined) return 'The previous request had no answer yet.';
  if (ending === 'cut') return 'The previous request was cut.';
  if (ending === 'gave up') return 'The sender gave up on the previous request.';
  return `The previous request got ${ending}.`;
}

/** A duration such as `0.4 s` or `12 s`. */
export const seconds = (milliseconds: number) =>
  `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
