import type { Attempt, Delivery, Ending } from './deliveries.ts';
import { type Finding, fine, risky, wrong } from './finding.ts';
import { GATEWAY_LIMIT_MILLISECONDS } from './play.ts';

/** Milliseconds below which a repeat comes at once: whatever failed had no time to pass. */
const AT_ONCE = 500;

/** Seconds from a failure to the first repeat, as docs/partner.md asks for. */
export const FIRST_WAIT_SECONDS = 10;

/** How much longer a distance is than the one before where the sender waits longer each time. */
const GROWING = 1.2;

/** What there is to say of a request that repeats an earlier one. */
export function repeatFindings(delivery: Delivery, attempt: Attempt): Finding[] {
  const index = delivery.attempts.indexOf(attempt);
  const before = delivery.attempts[index - 1];
  // The same bytes with another signature are no repeat: somebody tries once more.
  if (before === undefined || !attempt.isSameSignature) return [];
  const distance = attempt.at - before.at;
  const all: Finding[] = [
    fine({
      kind: 'repeat',
      what: `Repeat ${index} of delivery ${delivery.number}, ${seconds(distance)} after the request before, which ${endingText(before.ending)}.`,
    }),
  ];
  if (before.ending === 200 || before.ending === 400) {
    all.push(
      risky({
        kind: `repeat-after-${before.ending}`,
        what: `The request before got ${before.ending}, which is final, and was repeated.`,
        remedy:
          before.ending === 200
            ? 'Stop at 200: it is kept. Does the sender read the answer?'
            : 'Do not repeat what gets 400: it is kept for review, and will be refused again.',
      }),
    );
  } else if (before.ending !== 'gave up' && before.ending !== 'cut' && distance < AT_ONCE) {
    all.push(
      risky({
        kind: 'repeat-at-once',
        what: 'It was repeated at once.',
        remedy: `Wait ${FIRST_WAIT_SECONDS} s before the first repeat, and twice as long before each next one.`,
      }),
    );
  }
  if (before.ending === undefined) {
    all.push(
      risky({
        kind: 'repeat-while-under-way',
        what: 'The request before has no answer yet.',
        remedy: 'Wait 35 s for the answer before it is sent again.',
      }),
    );
  }
  if (!attempt.isSameBytes) {
    all.push(
      wrong({
        kind: 'repeat-changed',
        what: 'It repeats a delivery with other bytes, as if made anew: it counts as another event.',
        remedy:
          'Keep the body that was sent first, and repeat these bytes; its timestamp, too, is that of the event.',
      }),
    );
  }
  return all;
}

/** What there is to say of a sender that did not wait for the answer. */
export function patienceFindings(milliseconds: number): Finding[] {
  const what = `The sender gave up ${seconds(milliseconds)} after it had begun, before it had an answer.`;
  if (milliseconds >= GATEWAY_LIMIT_MILLISECONDS) return [fine({ kind: 'gave-up', what })];
  return [
    risky({
      kind: 'gave-up-early',
      what,
      remedy:
        'Wait 35 s for the answer: the service may have kept the event, and a repeat is then one more of it.',
    }),
  ];
}

/** How a delivery was repeated. */
export interface RepeatReport {
  readonly delivery: number;
  readonly eventId: string;
  readonly event: string | undefined;
  readonly requests: number;
  readonly endings: readonly (Ending | undefined)[];
  /** Between the beginnings of one request and the next, in milliseconds. */
  readonly distances: readonly number[];
  readonly backOff: 'growing' | 'steady' | 'shrinking' | undefined;
  readonly isSameBytes: boolean;
  readonly isSameSignature: boolean;
  /** Requests that came on a connection which was used before. */
  readonly reused: number;
}

export function repeatReport(delivery: Delivery): RepeatReport {
  const { number, eventId, event, attempts, count } = delivery;
  const distances = attempts.slice(1).map(({ at }, index) => Math.round(at - (attempts[index]?.at ?? at)));
  return {
    delivery: number,
    eventId,
    event,
    requests: count,
    endings: attempts.map(({ ending }) => ending),
    distances,
    backOff: backOffOf(distances),
    isSameBytes: attempts.every(({ isSameBytes }) => isSameBytes),
    isSameSignature: attempts.every(({ isSameSignature }) => isSameSignature),
    reused: attempts.filter(({ isReused }) => isReused).length,
  };
}

/** @returns undefined where there are too few to tell */
function backOffOf(distances: readonly number[]): RepeatReport['backOff'] {
  if (distances.length < 2) return undefined;
  const pairs = distances.slice(1).map((distance, index) => distance / Math.max(1, distances[index] ?? 1));
  const mean = pairs.reduce((product, factor) => product * factor, 1) ** (1 / pairs.length);
  if (mean >= GROWING) return 'growing';
  return mean <= 1 / GROWING ? 'shrinking' : 'steady';
}

const endingText = (ending: Ending | undefined): string => {
  if (ending === undefined) return 'has no answer yet';
  if (ending === 'cut') return 'was cut';
  return ending === 'gave up' ? 'the sender gave up on' : `got ${ending}`;
};

/** `0.4 s`, `12 s`. */
export const seconds = (milliseconds: number) =>
  `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
