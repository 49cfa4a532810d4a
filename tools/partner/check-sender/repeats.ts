import { GATEWAY_TIMEOUT_SECONDS } from '../../../lambda/limits.ts';
import type { Attempt, Delivery, Ending } from './deliveries.ts';
import { type Finding, findingsOf, type Rule, risky } from './finding.ts';
import { GATEWAY_TIMEOUT_MILLISECONDS } from './responses.ts';

/** Minimum seconds to wait for an answer, as docs/partner.md requires. */
export const ANSWER_WAIT_SECONDS = GATEWAY_TIMEOUT_SECONDS.http + 5;

/** Seconds from a failure to the first repeat, as docs/partner.md requires. */
export const FIRST_WAIT_SECONDS = 10;

/** Milliseconds after which waits no longer grow, as docs/partner.md requires. */
const MAX_WAIT = 60 * 60 * 1_000;

/** Random share of a wait, as docs/partner.md requires. */
const JITTER = 0.25;

/** Minimum ratio of two waits of equal length, whatever the jitter. */
const SHRINKING = (1 - JITTER) / (1 + JITTER);

/** With jitter, doubling a wait gives a ratio of at least 1.2. The difference allows for measurement errors. */
const GROWING = 1.1;

/**
 * Shorter waits, in milliseconds, are not compared: delays of the computer are as long. After a cut or a timeout the
 * HTTP client itself may repeat this quickly.
 */
const MIN_COMPARED_WAIT = 500;

/** Milliseconds by which two clocks may measure the same wait differently. */
const CLOCK_ERROR = 100;

/** A request, and the previous one of the same delivery. */
interface Repeat {
  /** 1 for the delivery's second request. */
  readonly index: number;
  readonly delivery: number;
  readonly before: Attempt;
  /** Milliseconds since the end of the previous request. 0 if that has not ended. */
  readonly wait: number;
  /** Whether it and the repeat before it followed failures without a wait that can be compared. */
  readonly isStorm: boolean;
  /** Whether the sender chose the wait itself, after a failure. */
  readonly isOwnWait: boolean;
  /** The longest earlier wait of this kind, in milliseconds. @default none so far */
  readonly longestBefore: number | undefined;
  readonly isSameBytes: boolean;
}

const WAIT_LONGER = `Wait ${FIRST_WAIT_SECONDS} s before the first repeat, and twice as long before each next one.`;

const REPEATS: readonly Rule<Repeat>[] = [
  {
    kind: 'repeat',
    grade: 'fine',
    applies: () => true,
    what: ({ index, delivery, before, wait }) =>
      `Repeat ${index} of delivery ${delivery}, after ${seconds(wait)}. ${endingText(before.end?.how)}`,
  },
  {
    kind: 'repeat-after-200',
    grade: 'risky',
    applies: ({ before }) => before.end?.how === 200,
    what: 'The previous request got 200. This is final, but it was repeated.',
    remedy: 'Stop after 200: the event is stored. Check whether the sender reads the answer.',
  },
  {
    kind: 'repeat-after-400',
    grade: 'risky',
    applies: ({ before }) => before.end?.how === 400,
    what: 'The previous request got 400. This is final, but it was repeated.',
    remedy: 'Do not repeat after 400. The event is stored for review, and a repeat would be rejected again.',
  },
  {
    kind: 'repeat-while-under-way',
    grade: 'risky',
    applies: ({ before }) => before.end === undefined,
    what: 'It was sent before the previous request had an answer.',
    remedy: `Wait ${ANSWER_WAIT_SECONDS} s for the answer before you send it again. Check that only one worker sends an event.`,
  },
  {
    kind: 'repeat-early',
    grade: 'risky',
    applies: ({ before, isOwnWait, wait, longestBefore }) =>
      isOwnWait &&
      isAnswered(before) &&
      longestBefore === undefined &&
      wait < FIRST_WAIT_SECONDS * 1_000 * (1 - JITTER),
    what: ({ wait }) => `The first repeat came too early, after ${seconds(wait)}.`,
    remedy: `${WAIT_LONGER} A test may use shorter waits.`,
  },
  {
    kind: 'repeat-storm',
    grade: 'wrong',
    applies: ({ isStorm }) => isStorm,
    what: ({ wait }) =>
      `It was repeated again and again without waits: this time after ${seconds(wait)}. Waits must grow.`,
    remedy: `${WAIT_LONGER} A test may use shorter waits, from ${MIN_COMPARED_WAIT / 1_000} s on.`,
  },
  {
    kind: 'repeat-sooner',
    grade: 'wrong',
    applies: (repeat) => trendOf(repeat) === 'shrinking',
    what: ({ wait, longestBefore = 0 }) =>
      `The wait was ${seconds(wait)}, but an earlier one was ${seconds(longestBefore)}. Waits must grow.`,
    remedy: WAIT_LONGER,
  },
  {
    kind: 'repeat-steady',
    grade: 'risky',
    applies: (repeat) => trendOf(repeat) === 'steady',
    what: ({ wait, longestBefore = 0 }) =>
      `The wait was ${seconds(wait)}, but an earlier one was ${seconds(longestBefore)}. Waits should grow.`,
    remedy: WAIT_LONGER,
  },
  {
    kind: 'retry-after-ignored',
    grade: 'wrong',
    applies: ({ before, wait }) => wait < retryAfter(before) - CLOCK_ERROR,
    what: ({ before, wait }) =>
      `The wait was ${seconds(retryAfter(before) - wait)} shorter than the ${seconds(retryAfter(before))} of Retry-After.`,
    remedy: 'Wait at least as long as Retry-After says.',
  },
  {
    kind: 'repeat-changed',
    grade: 'wrong',
    // Bytes that the service rejects must change.
    applies: ({ before, isSameBytes }) => !isSameBytes && before.status === 200 && hasFailed(before),
    what: 'This repeats a delivery with other bytes, so it counts as another event.',
    remedy: 'Store the body, and repeat the same bytes with the same timestamp.',
  },
];

export function repeatFindings(delivery: Delivery, attempt: Attempt): Finding[] {
  const repeat = repeatsOf(delivery)[delivery.attempts.indexOf(attempt) - 1];
  // The same bytes with another signature are not a repeat, but a new try.
  if (repeat === undefined || !attempt.isSameSignature) return [];
  return findingsOf(REPEATS, repeat);
}

function repeatsOf({ number, attempts }: Delivery): Repeat[] {
  let longestBefore: number | undefined;
  let isQuickBefore = false;
  return attempts.slice(1).map(({ at, earliest, isSameBytes }, index) => {
    const previous = attempts[index] as Attempt;
    const ended = previous.end?.at ?? at;
    // A pool may open a connection long before it is used.
    const isParallel = earliest < ended && at - ended < MIN_COMPARED_WAIT;
    const before = isParallel ? { ...previous, end: undefined } : previous;
    const wait = before.end === undefined ? 0 : Math.max(0, at - before.end.at);
    const isFree = hasFailed(before) && retryAfter(before) === 0;
    const isQuick = isFree && wait < MIN_COMPARED_WAIT;
    const isOwnWait = isFree && (isAnswered(before) || !isQuick);
    const repeat = {
      index: index + 1,
      delivery: number,
      before,
      wait,
      isStorm: isQuick && isQuickBefore,
      isOwnWait,
      longestBefore,
      isSameBytes,
    };
    isQuickBefore = isQuick;
    if (isOwnWait) longestBefore = Math.max(wait, longestBefore ?? 0);
    return repeat;
  });
}

type Trend = 'growing' | 'steady' | 'shrinking';

/** @returns undefined if there is nothing to compare */
function trendOf({ wait, isOwnWait, longestBefore = 0 }: Repeat): Trend | undefined {
  if (!isOwnWait || longestBefore < MIN_COMPARED_WAIT) return undefined;
  if (wait < longestBefore * SHRINKING) return 'shrinking';
  return wait < Math.min(longestBefore * GROWING, MAX_WAIT * (1 - JITTER)) ? 'steady' : 'growing';
}

const isAnswered = ({ end }: Attempt) => typeof end?.how === 'number';

/** Everything except 200 and 400 must be sent again (docs/partner.md). */
export const hasFailed = ({ end }: Attempt) => end !== undefined && end.how !== 200 && end.how !== 400;

/** In milliseconds. */
const retryAfter = ({ end }: Attempt) => (end?.retryAfterSeconds ?? 0) * 1_000;

/** A finding about a sender that did not wait for the answer. */
export function patienceFinding(milliseconds: number): Finding {
  const what = `The sender gave up after ${seconds(milliseconds)}, before it got an answer.`;
  if (milliseconds >= GATEWAY_TIMEOUT_MILLISECONDS) return { grade: 'fine', kind: 'gave-up', what };
  return risky({
    kind: 'gave-up-early',
    what,
    remedy: `Wait ${ANSWER_WAIT_SECONDS} s. The service may have stored the event, and a repeat would be a duplicate.`,
  });
}

export interface RepeatReport {
  readonly delivery: number;
  readonly eventId: string;
  readonly event: string | undefined;
  readonly requests: number;
  readonly endings: readonly (Ending | undefined)[];
  /** From the end of one request to the beginning of the next, in milliseconds. */
  readonly waits: readonly number[];
  /** The worst trend among the waits that can be compared. */
  readonly backOff: Trend | undefined;
  readonly isSameBytes: boolean;
  readonly isSameSignature: boolean;
  /** Requests on a connection that was used before. */
  readonly reused: number;
}

export function repeatReport(delivery: Delivery): RepeatReport {
  const { number, eventId, event, attempts, count } = delivery;
  const repeats = repeatsOf(delivery);
  const trends = repeats.map(trendOf);
  return {
    delivery: number,
    eventId,
    event,
    requests: count,
    endings: attempts.map(({ end }) => end?.how),
    waits: repeats.map(({ wait }) => Math.round(wait)),
    backOff: (['shrinking', 'steady', 'growing'] as const).find((trend) => trends.includes(trend)),
    isSameBytes: attempts.every(({ isSameBytes }) => isSameBytes),
    isSameSignature: attempts.every(({ isSameSignature }) => isSameSignature),
    reused: attempts.filter(({ isReused }) => isReused).length,
  };
}

function endingText(ending: Ending | undefined): string {
  if (ending === undefined) return 'The previous request had no answer yet.';
  if (ending === 'cut') return 'The previous request was cut.';
  if (ending === 'gave up') return 'The sender gave up on the previous request.';
  return `The previous request got ${ending}.`;
}

/** `0.4 s`, `12 s`. */
export const seconds = (milliseconds: number) =>
  `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
