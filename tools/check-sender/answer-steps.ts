import { InvalidArgumentError } from '@commander-js/extra-typings';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';

/** How one request is answered. @default as the service answers it */
export interface AnswerStep {
  /** Status to answer instead of the service's own. */
  readonly status?: number;
  /** Headers besides those of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly delayMilliseconds?: number;
  /** Where the connection is closed: `before` the first byte of the answer, or `within` its body. */
  readonly cut?: 'before' | 'within';
}

/** Target of the simulated redirect. Only a sender that follows redirects requests this path. */
export const REDIRECT_PATH = `${WEBHOOK_PATH}/redirected`;

const TIMED_STEPS: Readonly<Record<string, (milliseconds: number) => AnswerStep>> = {
  slow: (delayMilliseconds) => ({ delayMilliseconds }),
  // A REST API sends this header with its own 500, in whole seconds (RFC 9110, section 10.2.3).
  'retry-after': (milliseconds) => ({
    status: 500,
    headers: { 'retry-after': String(Math.ceil(milliseconds / 1_000)) },
  }),
};

const STEPS: Readonly<Record<string, AnswerStep | undefined>> = {
  ...Object.fromEntries([401, 429, 500, 502, 503, 504].map((status) => [status, { status }])),
  ok: {},
  // Every client that follows redirects of a POST follows a 302.
  redirect: { status: 302, headers: { location: REDIRECT_PATH } },
  cut: { cut: 'before' },
  'cut-late': { cut: 'within' },
  slow: TIMED_STEPS.slow?.(35_000),
  'retry-after': TIMED_STEPS['retry-after']?.(20_000),
};

/**
 * Parses the option for simulated answers, such as `500,500,ok` or `slow=35s`.
 * @throws InvalidArgumentError
 */
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
