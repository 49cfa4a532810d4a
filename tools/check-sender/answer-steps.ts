import { InvalidArgumentError } from '@commander-js/extra-typings';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';

/** How one request is answered. @default as by the service */
export interface AnswerStep {
  /** Replaces the service's own answer by one with this status. */
  readonly status?: number;
  /** Besides the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The answer comes after this time. */
  readonly delayMilliseconds?: number;
  /** The connection is cut: `before` any byte of the answer, or `within` its body. */
  readonly cut?: 'before' | 'within';
}

/** Target of a simulated redirect. Only a sender that follows it requests this path. */
export const REDIRECT_PATH = `${WEBHOOK_PATH}/redirected`;

const TIMED_STEPS: Readonly<Record<string, (milliseconds: number) => AnswerStep>> = {
  slow: (delayMilliseconds) => ({ delayMilliseconds }),
  // A REST API sends this header with its own 500. It is in whole seconds (RFC 9110, section 10.2.3).
  'retry-after': (milliseconds) => ({
    status: 500,
    headers: { 'retry-after': String(Math.ceil(milliseconds / 1_000)) },
  }),
};

const STEPS: Readonly<Record<string, AnswerStep | undefined>> = {
  ...Object.fromEntries([401, 429, 500, 502, 503, 504].map((status) => [status, { status }])),
  ok: {},
  // 302, because every client that follows redirects of a POST follows it.
  redirect: { status: 302, headers: { location: REDIRECT_PATH } },
  cut: { cut: 'before' },
  'cut-late': { cut: 'within' },
  slow: TIMED_STEPS.slow?.(35_000),
  'retry-after': TIMED_STEPS['retry-after']?.(20_000),
};

/** Parses a sequence such as `500,500,ok` or `slow=35s`. @throws InvalidArgumentError */
export function parseSteps(text: string): readonly AnswerStep[] {
  return text.split(',').map((word) => {
    const step = Object.hasOwn(STEPS, word) ? STEPS[word] : timedStep(word);
    if (step !== undefined) return step;
    throw new InvalidArgumentError(
      `Each step is one of ${Object.keys(STEPS).join(', ')}. Some take a time: slow=35s, retry-after=20s. Join steps with commas.`,
    );
  });
}

function timedStep(word: string): AnswerStep | undefined {
  const [, name = '', amount, unit] = /^(slow|retry-after)=(\d{1,4}(?:\.\d{1,3})?)(ms|s)$/.exec(word) ?? [];
  return TIMED_STEPS[name]?.(Number(amount) * (unit === 's' ? 1_000 : 1));
}
