import { InvalidArgumentError } from '@commander-js/extra-typings';
import { GATEWAY_TIMEOUT_SECONDS } from '../../lambda/limits.ts';
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

const STEPS: ReadonlyMap<string, AnswerStep> = new Map<string, AnswerStep>([
  ['ok', {}],
  ...[401, 429, 500, 502, 503, 504].map((status) => [String(status), { status }] as const),
  // A REST API sends this header with its own 500, in whole seconds (RFC 9110, section 10.2.3).
  ['retry-after', { status: 500, headers: { 'retry-after': '20' } }],
  ['redirect', { status: 302, headers: { location: `${WEBHOOK_PATH}/redirected` } }],
  // The function takes 35 s. API Gateway does not wait so long.
  ['slow', { status: 503, delayMilliseconds: GATEWAY_TIMEOUT_SECONDS * 1_000 }],
  ['cut', { isCut: true }],
]);

/**
 * Parses the option for simulated answers, such as `500,500,ok`.
 * @throws InvalidArgumentError
 */
export function parseSteps(text: string): readonly AnswerStep[] {
  return text.split(',').map((word) => {
    const step = STEPS.get(word);
    if (step !== undefined) return step;
    throw new InvalidArgumentError(
      `Each step is one of ${[...STEPS.keys()].join(', ')}. Join steps with commas.`,
    );
  });
}
