import { STATUS_CODES } from 'node:http';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import { GATEWAY_TIMEOUT_SECONDS } from '../../../lambda/limits.ts';
import { type Answer, invalidSignature, refused, serverError } from '../../../lambda/receiver/answers.ts';
import { createReceiver, type Outcome } from '../../../lambda/receiver/receive.ts';
import { type GatewayEvent, requestIdOf } from '../../../lambda/receiver/request.ts';
import { httpApi } from '../../../local/gateway/http-api.ts';
import { type HttpRequest, type HttpResponse, shortId } from '../../../local/gateway/http-message.ts';

/** Milliseconds that an HTTP API waits for a function. Then it answers 503 itself. */
export const GATEWAY_TIMEOUT_MILLISECONDS = GATEWAY_TIMEOUT_SECONDS.http * 1000;

/** Target of a simulated redirect. Only a sender that follows it requests this path. */
export const REDIRECT_PATH = `${WEBHOOK_PATH}/redirected`;

/** Maximum steps of a sequence: more than any sender repeats. */
const MAX_STEPS = 100;

/** Maximum seconds of a step: nobody waits that long for an answer. */
const MAX_STEP_SECONDS = 600;

export interface ServiceAnswer {
  readonly response: HttpResponse;
  /** @default the request did not reach the receiver: API Gateway answers */
  readonly outcome?: Outcome;
}

/**
 * Answers like the service: its receiver behind its HTTP API. Its queues accept everything and store nothing.
 * @param readBody returns undefined if the body is too large
 */
export async function serviceAnswer(
  request: HttpRequest,
  readBody: () => Promise<Buffer | undefined>,
  secret: string,
): Promise<ServiceAnswer> {
  let outcome: Outcome | undefined;
  const receiver = createReceiver({
    secrets: { matchesAny: async (test) => test([secret]) },
    queues: { enqueue: async () => {}, quarantine: async () => {} },
    identify: () => {},
    report: async (reported) => {
      outcome = reported;
    },
    reportError: async () => {},
  });
  const { response } = await apiOf(receiver).answer(request, readBody);
  return { response, ...(outcome !== undefined && { outcome }) };
}

const apiOf = (receiver: (event: GatewayEvent) => Promise<Answer>) =>
  httpApi({
    apiId: 'checker',
    routes: [
      {
        routeKey: `POST ${WEBHOOK_PATH}`,
        invoke: async (event) => ({ ok: true, payload: await receiver(event) }),
      },
    ],
  });

/** A simulated answer that replaces the service's own. */
export type Step =
  | { readonly kind: 'ok' }
  | {
      readonly kind: 'failure';
      readonly status: number;
      /** Besides the usual ones. @default none */
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** The service's own answer after that time. */
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /** The connection is cut: `before` any byte of the answer, or `within` its body. */
  | { readonly kind: 'cut'; readonly when: 'before' | 'within' };

const TIMED_STEPS = {
  slow: (milliseconds: number): Step => ({ kind: 'slow', milliseconds }),
  // A REST API sends this header with its own 500. It is in whole seconds (RFC 9110, section 10.2.3).
  'retry-after': (milliseconds: number): Step => ({
    kind: 'failure',
    status: 500,
    headers: { 'retry-after': String(Math.ceil(milliseconds / 1_000)) },
  }),
};

const failure = (status: number): Step => ({ kind: 'failure', status });

const STEPS: Readonly<Record<string, Step>> = {
  ...Object.fromEntries([401, 429, 500, 502, 503, 504].map((status) => [status, failure(status)])),
  ok: { kind: 'ok' },
  // 302, because every client that follows redirects of a POST follows it.
  redirect: { kind: 'failure', status: 302, headers: { location: REDIRECT_PATH } },
  cut: { kind: 'cut', when: 'before' },
  'cut-late': { kind: 'cut', when: 'within' },
  slow: TIMED_STEPS.slow(35_000),
  'retry-after': TIMED_STEPS['retry-after'](20_000),
};

/** Parses a sequence such as `500,500,ok` or `slow=35s`. @throws InvalidArgumentError */
export function parseSteps(text: string): readonly Step[] {
  const words = text.split(',');
  if (words.length > MAX_STEPS) throw new InvalidArgumentError(`At most ${MAX_STEPS} steps.`);
  return words.map((word) => {
    const step = Object.hasOwn(STEPS, word) ? STEPS[word] : timedStep(word);
    if (step !== undefined) return step;
    throw new InvalidArgumentError(
      `Each step is one of ${Object.keys(STEPS).join(', ')}. Some take a time: slow=35s, retry-after=20s. Join steps with commas.`,
    );
  });
}

function timedStep(word: string): Step | undefined {
  const [, name, amount, unit] = /^(slow|retry-after)=(\d{1,4}(?:\.\d{1,3})?)(ms|s)$/.exec(word) ?? [];
  const milliseconds = Number(amount) * (unit === 's' ? 1_000 : 1);
  if (name === undefined || milliseconds > MAX_STEP_SECONDS * 1_000) return undefined;
  return TIMED_STEPS[name as keyof typeof TIMED_STEPS](milliseconds);
}

/**
 * The step for a delivery's request. The last step applies to all further requests.
 * @param attempt 0 for the first request
 */
export const stepOf = (steps: readonly Step[], attempt: number): Step =>
  steps[Math.min(attempt, steps.length - 1)] ?? { kind: 'ok' };

/** Answers with a failure, in the words of the receiver or API Gateway. */
export async function failureAnswer(
  request: HttpRequest,
  body: Buffer,
  status: number,
): Promise<HttpResponse> {
  if (status === 401 || status === 500) {
    const problem = status === 401 ? invalidSignature : serverError;
    const api = apiOf(async (event) => refused(problem, requestIdOf(event)));
    return (await api.answer(request, async () => body)).response;
  }
  return {
    status,
    headers: { 'content-type': 'application/json', 'apigw-requestid': shortId() },
    body: Buffer.from(JSON.stringify({ message: STATUS_CODES[status] })),
  };
}
