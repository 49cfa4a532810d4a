import { InvalidArgumentError } from '@commander-js/extra-typings';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import type { Failure } from './service.ts';

/** What is done instead of answering as the service would. */
export type Play =
  | { readonly kind: 'ok' }
  | {
      readonly kind: 'failure';
      readonly status: Failure;
      /** Besides the usual ones. @default none */
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** The service's own answer after that time. */
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /** The connection is cut: `before` any byte of the answer, or `within` its body. */
  | { readonly kind: 'cut'; readonly when: 'before' | 'within' };

/** Milliseconds that an HTTP API waits for a function; then it answers 503 itself. Source: quotas of HTTP APIs. */
export const GATEWAY_LIMIT_MILLISECONDS = 30_000;

/** Where a played redirect leads: only a sender that follows it asks for this path. */
export const REDIRECTED_PATH = `${WEBHOOK_PATH}/redirected`;

/** Steps of a sequence: more than any sender repeats. */
const MOST_STEPS = 100;

/** Seconds: nobody waits that long for an answer. */
const LONGEST_WAIT_SECONDS = 600;

const TIMED = {
  slow: (milliseconds: number): Play => ({ kind: 'slow', milliseconds }),
  // A REST API sends it with its own 500. It takes whole seconds (RFC 9110, section 10.2.3).
  'retry-after': (milliseconds: number): Play => ({
    kind: 'failure',
    status: 500,
    headers: { 'retry-after': String(Math.ceil(milliseconds / 1_000)) },
  }),
};

const PLAYS: Readonly<Record<string, Play>> = {
  ok: { kind: 'ok' },
  401: { kind: 'failure', status: 401 },
  429: { kind: 'failure', status: 429 },
  500: { kind: 'failure', status: 500 },
  502: { kind: 'failure', status: 502 },
  503: { kind: 'failure', status: 503 },
  504: { kind: 'failure', status: 504 },
  // Clients that follow any redirect of a POST follow 302.
  redirect: { kind: 'failure', status: 302, headers: { location: REDIRECTED_PATH } },
  cut: { kind: 'cut', when: 'before' },
  'cut-late': { kind: 'cut', when: 'within' },
  slow: TIMED.slow(35_000),
  'retry-after': TIMED['retry-after'](20_000),
};

const TIMED_STEP = /^(slow|retry-after)=(\d{1,4}(?:\.\d{1,3})?)(ms|s)$/;

/** Reads a sequence such as `500,500,ok` or `slow=35s`. @throws InvalidArgumentError */
export function plays(text: string): readonly Play[] {
  const words = text.split(',');
  if (words.length > MOST_STEPS) throw new InvalidArgumentError(`At most ${MOST_STEPS} steps.`);
  return words.map(play);
}

function play(word: string): Play {
  const known = Object.hasOwn(PLAYS, word) ? PLAYS[word] : undefined;
  if (known !== undefined) return known;
  const [, name, amount, unit] = TIMED_STEP.exec(word) ?? [];
  const milliseconds = Number(amount) * (unit === 's' ? 1_000 : 1);
  if (name === undefined || milliseconds > LONGEST_WAIT_SECONDS * 1_000) {
    throw new InvalidArgumentError(
      `Each step is one of ${Object.keys(PLAYS).join(', ')}; slow is slow=35s, retry-after is retry-after=20s; joined by commas.`,
    );
  }
  return TIMED[name as keyof typeof TIMED](milliseconds);
}

/**
 * The step of a delivery's request; after the last step it stays.
 * @param attempt 0 for the first request
 */
export function playOf(all: readonly Play[], attempt: number): Play {
  return all[Math.min(attempt, all.length - 1)] ?? { kind: 'ok' };
}
