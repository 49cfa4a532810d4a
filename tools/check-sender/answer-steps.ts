import { InvalidArgumentError } from '@commander-js/extra-typings';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';

/** How one request is answered. @default as the service answers it */
export interface AnswerStep {
  /** Status to answer instead of the service's own. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly delayMilliseconds?: number;
  /** Where the connection is closed: `before` the first byte of the answer, or `within` its body. */
  readonly cut?: 'before' | 'within';
}

/** Steps by their names. A name with a time, such as `slow`, may be given another: `slow=35s`. */
const STEPS: Readonly<Record<string, (milliseconds?: number) => AnswerStep>> = {
  ...Object.fromEntries([401, 429, 500, 502, 503, 504].map((status) => [status, () => ({ status })])),
  ok: () => ({}),
  redirect: () => ({ status: 302, headers: { location: `${WEBHOOK_PATH}/redirected` } }),
  cut: () => ({ cut: 'before' }),
  'cut-late': () => ({ cut: 'within' }),
  slow: (delayMilliseconds = 35_000) => ({ delayMilliseconds }),
  // A REST API sends this header with its own 500, in whole seconds (RFC 9110, section 10.2.3).
  'retry-after': (milliseconds = 20_000) => ({
    status: 500,
    headers: { 'retry-after': String(Math.ceil(milliseconds / 1_000)) },
  }),
};

/**
 * Parses the option for simulated answers, such as `500,500,ok` or `slow=35s`.
 * @throws InvalidArgumentError
 */
export function parseSteps(text: string): readonly AnswerStep[] {
  return text.split(',').map((word) => {
    const [, name = word, amount, unit] =
      /^(slow|retry-after)=(\d{1,4}(?:\.\d{1,3})?)(ms|s)$/.exec(word) ?? [];
    if (!Object.hasOwn(STEPS, name)) {
      throw new InvalidArgumentError(
        `Each step is one of ${Object.keys(STEPS).join(', ')}. Some take a time: slow=35s, retry-after=20s. Join steps with commas.`,
      );
    }
    const milliseconds = amount === undefined ? undefined : Number(amount) * (unit === 's' ? 1_000 : 1);
    return STEPS[name]?.(milliseconds) ?? {};
  });
}
