import { valuesOf } from 'local-aws/http-message';
import { sha256Hex } from '../../lambda/hash.ts';
import { GATEWAY_TIMEOUT_SECONDS } from '../../lambda/limits.ts';
import { SIGNATURE_HEADER } from '../../lambda/receiver/signature.ts';
import type { SignedRequest } from './explain-signature.ts';
import { type Finding, note, risky, wrong } from './finding.ts';
import { canonicalText } from './json-writers.ts';

/** Maximum number of deliveries to remember, as hashes only. The oldest is dropped first. */
const MAX_DELIVERIES = 10_000;

/** Milliseconds from a failure to the first repeat in production, with its random share. Source: docs/partner.md. */
const FIRST_WAIT = 7_500;
/** Seconds that a sender must wait for an answer: longer than the gateway. Source: docs/partner.md. */
export const ANSWER_WAIT_SECONDS = 35;
/** Milliseconds below which two waits in a row are a storm. Source: docs/partner.md. */
const STORM = 500;
/** Milliseconds of the longest wait, with its random share: from here on, waits need not grow. Source: docs/partner.md. */
const LONGEST_WAIT = 45 * 60_000;
/** Milliseconds by which the clocks of sender and checker may disagree about a wait. */
const CLOCK_ERROR = 100;

const WAIT_LONGER = 'In production, wait 10 s before the first repeat, and then twice as long each time.';

/** How a request ended: the status of the answer, or that the sender got none. */
export type RequestEnding = number | 'no answer';

interface Attempt {
  /** Milliseconds since the end of the attempt before. */
  readonly wait: number;
  readonly bodyHash: string;
  readonly signature: string;
  /** Undefined until the request has ended. `at` is of the clock of `performance.now()`. */
  end: { readonly how: RequestEnding; readonly at: number; readonly retryAfterSeconds: number } | undefined;
}

/** One event, which its sender repeats until it is accepted. */
interface SentDelivery {
  readonly number: number;
  /** Hashes of its bytes, and of its JSON. */
  readonly keys: readonly string[];
  readonly attempts: Attempt[];
}

/** 200 and 400 are final. */
const mustRepeat = (how: RequestEnding) => how !== 200 && how !== 400;

/** Groups requests by delivery: equal bytes, or equal JSON that was written differently. */
export class SentDeliveries {
  #all: SentDelivery[] = [];
  #count = 0;

  /**
   * Records a request that has no answer yet.
   * @returns its delivery, whose last attempt it is
   */
  record({ headers, body }: SignedRequest, at: number): { delivery: SentDelivery; attempt: Attempt } {
    const bodyHash = sha256Hex(body);
    const keys = [bodyHash, sha256Hex(canonicalText(body.toString()) ?? body)];
    let delivery = this.#all.findLast((known) => known.keys.some((key) => keys.includes(key)));
    if (delivery === undefined) {
      this.#count += 1;
      delivery = { number: this.#count, keys, attempts: [] };
      this.#all = [...this.#all.slice(1 - MAX_DELIVERIES), delivery];
    }
    const signature = sha256Hex(valuesOf(headers, SIGNATURE_HEADER).join());
    const wait = Math.max(0, at - (delivery.attempts.at(-1)?.end?.at ?? at));
    const attempt: Attempt = { wait, bodyHash, signature, end: undefined };
    delivery.attempts.push(attempt);
    return { delivery, attempt };
  }

  all(): readonly SentDelivery[] {
    return this.#all;
  }

  /** Number of deliveries that should have been repeated until they were accepted. */
  unrepeated(): number {
    return this.#all.filter(({ attempts }) =>
      attempts.every(({ end }) => end !== undefined && mustRepeat(end.how)),
    ).length;
  }
}

/** Judges the last attempt of a delivery: whether it was wanted, and its wait. Nothing for the only one. */
export function* repeatFindings({ attempts, number }: SentDelivery): Generator<Finding> {
  const [before, attempt] = attempts.slice(-2);
  if (before === undefined || attempt === undefined) return;
  const isSameBody = before.bodyHash === attempt.bodyHash;
  // The same bytes with another signature are a correction, not a repeat.
  if (isSameBody && before.signature !== attempt.signature) return;
  const { wait } = attempt;
  const { how = 'no answer yet', retryAfterSeconds = 0 } = before.end ?? {};
  const isShort = attempts.length === 2 && wait < FIRST_WAIT;
  const what = `Repeat ${attempts.length - 1} of delivery ${number}, ${seconds(wait)} after ${how}.`;
  yield note('repeat', isShort ? `${what} ${WAIT_LONGER}` : what);
  if (how === 'no answer yet') {
    const remedy = `Wait ${ANSWER_WAIT_SECONDS} s for the answer.`;
    yield risky('repeat-while-under-way', 'It was sent before the previous request had an answer.', remedy);
    return;
  }
  if (!mustRepeat(how)) {
    const what = `The previous request got ${how}. This is final, but it was repeated.`;
    yield risky('repeat-after-final', what, 'Stop after 200 and 400: the event is stored.');
    return;
  }
  if (!isSameBody) {
    const what = 'This repeats a delivery with other bytes, so it counts as another event.';
    yield wrong('repeat-changed', what, 'Store the body, and repeat the same bytes.');
  }
  const asked = retryAfterSeconds * 1_000;
  if (wait < asked - CLOCK_ERROR) {
    const what = `The wait was ${seconds(wait)}, but Retry-After asked for ${seconds(asked)}.`;
    yield wrong('retry-after-ignored', what, 'Wait at least as long as Retry-After says.');
  }
  // After Retry-After, a wait may be longer than the next one.
  const free = attempts.slice(1, -1).filter((_, index) => !attempts[index]?.end?.retryAfterSeconds);
  const longest = Math.max(0, ...free.map((one) => one.wait));
  // A single quick repeat may come from an HTTP client whose connection was cut.
  if (attempts.length > 2 && Math.max(wait, before.wait) < STORM)
    yield wrong('repeat-storm', `It was repeated after ${seconds(wait)}.`, WAIT_LONGER);
  else if (wait < Math.min(longest, LONGEST_WAIT)) {
    const what = `The wait was ${seconds(wait)}, but an earlier one was ${seconds(longest)}. Waits must grow.`;
    yield risky('repeat-sooner', what, WAIT_LONGER);
  }
}

/** A finding for a sender that closed the connection before the answer. */
export function patienceFinding(milliseconds: number): Finding {
  const what = `The sender gave up after ${seconds(milliseconds)}, before it got an answer.`;
  if (milliseconds >= GATEWAY_TIMEOUT_SECONDS * 1_000) return note('gave-up', what);
  const remedy = `Wait ${ANSWER_WAIT_SECONDS} s. The service may have stored the event, and a repeat would be a duplicate.`;
  return risky('gave-up-early', what, remedy);
}

/** A duration such as `0.4 s` or `12 s`. */
const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
