import { InvalidArgumentError } from '@commander-js/extra-typings';
import { WEBHOOK_PATH } from '../../lambda/receiver/request.ts';

/** How one request is answered. @default as the service answers it */
export interface AnswerStep {
  /** Status to answer instead of the service's own. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly delayMilliseconds?: number;
  /** Whether the connection is closed without an answer. */
  readonly isCut?: boolean;
}

/** Steps by their names. A name with a time, such as `slow`, may be given another: `slow=35s`. */
const STEPS: Readonly<Record<string, (seconds?: number) => AnswerStep>> = {
  ...Object.fromEntries([401, 429, 500, 502, 503, 504].map((status) => [status, () => ({ status })])),
  ok: () => ({}),
  redirect: () => ({ status: 302, headers: { location: `${WEBHOOK_PATH}/redirected` } }),
  cut: () => ({ isCut: true }),
  slow: (seconds = 35) => ({ delayMilliseconds: seconds * 1_000 }),
  // A REST API sends this header with its own 500, in whole seconds (RFC 9110, section 10.2.3).
  'retry-after': (seconds = 20) => ({ status: 500, headers: { 'retry-after': String(Math.ceil(seconds)) } }),
};

/**
 * Parses the option for simulated answers, such as `500,500,ok` or `slow=35s`.
 * @throws InvalidArgumentError
 */
export function parseSteps(text: string): readonly AnswerStep[] {
  return text.split(',').map((word) => {
    const [, name = word, seconds] = /^(slow|retry-after)=(\d{1,4}(?:\.\d{1,3})?)s$/.exec(word) ?? [];
    if (Object.hasOwn(STEPS, name)) return STEPS[name]?.(seconds ? Number(seconds) : undefined) ?? {};
    throw new InvalidArgumentError(
      `Each step is one of ${Object.keys(STEPS).join(', ')}. Some take a time: slow=35s, retry-after=20s. Join steps with commas.`,
    );
  });
}
