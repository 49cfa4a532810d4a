import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { Failure } from './service.ts';

/** What is done instead of answering as the service would. */
export type Play =
  | { readonly kind: 'ok' }
  | { readonly kind: 'failure'; readonly status: Failure }
  /** The service's own answer after that time. */
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /** The connection is cut: `before` any byte of the answer, or `within` its body. */
  | { readonly kind: 'cut'; readonly when: 'before' | 'within' };

/** Seconds that an HTTP API waits for a function; then it answers 503 itself. Source: quotas of HTTP APIs. */
export const GATEWAY_LIMIT_MILLISECONDS = 30_000;

/** Steps of a sequence: more than any sender repeats. */
const MOST_STEPS = 100;

/** Seconds: nobody waits that long for an answer. */
const LONGEST_WAIT_SECONDS = 600;

const PLAYS: Readonly<Record<string, Play>> = {
  ok: { kind: 'ok' },
  401: { kind: 'failure', status: 401 },
  429: { kind: 'failure', status: 429 },
  500: { kind: 'failure', status: 500 },
  503: { kind: 'failure', status: 503 },
  cut: { kind: 'cut', when: 'before' },
  slow: { kind: 'slow', milliseconds: 35_000 },
  'cut-late': { kind: 'cut', when: 'within' },
};

const SLOW = /^slow=(\d{1,4}(?:\.\d{1,3})?)(ms|s)$/;

/** Reads a sequence such as `500,500,ok` or `slow=35s`. @throws InvalidArgumentError */
export function plays(text: string): readonly Play[] {
  const words = text.split(',');
  if (words.length > MOST_STEPS) throw new InvalidArgumentError(`At most ${MOST_STEPS} steps.`);
  return words.map(play);
}

function play(word: string): Play {
  const known = Object.hasOwn(PLAYS, word) ? PLAYS[word] : undefined;
  if (known !== undefined) return known;
  const [, amount, unit] = SLOW.exec(word) ?? [];
  const milliseconds = Number(amount) * (unit === 's' ? 1_000 : 1);
  if (amount === undefined || milliseconds > LONGEST_WAIT_SECONDS * 1_000) {
    throw new InvalidArgumentError(
      `Each step is one of ${Object.keys(PLAYS).join(', ')}; slow is slow=35s; joined by commas.`,
    );
  }
  return { kind: 'slow', milliseconds };
}

/**
 * The step of a delivery's request; after the last step it stays.
 * @param attempt 0 for the first request
 */
export function playOf(all: readonly Play[], attempt: number): Play {
  return all[Math.min(attempt, all.length - 1)] ?? { kind: 'ok' };
}
