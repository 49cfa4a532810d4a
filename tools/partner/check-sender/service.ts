import { STATUS_CODES } from 'node:http';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import { type Answer, invalidSignature, refused, serverError } from '../../../lambda/receiver/answers.ts';
import { createReceiver, type Outcome } from '../../../lambda/receiver/receive.ts';
import { type GatewayEvent, requestIdOf } from '../../../lambda/receiver/request.ts';
import { httpApi } from '../../../local/gateway/http-api.ts';
import { type HttpRequest, type HttpResponse, shortId } from '../../../local/gateway/http-message.ts';
import type { Api } from '../../../local/gateway/server.ts';

/** What the service says to a request. */
export interface ServiceAnswer {
  readonly response: HttpResponse;
  /** @default the request did not reach the receiver: API Gateway answers */
  readonly outcome?: Outcome;
}

type Body = () => Promise<Buffer | undefined>;

type Receiver = (event: GatewayEvent) => Promise<Answer>;

/** It has no AWS, no configuration and no name. */
const LOCAL = { apiId: 'checker', accountId: '000000000000', region: 'us-east-1' };

/**
 * Answers as the service does: its receiver behind its HTTP API. What it accepts it forgets: its queues take
 * everything and keep nothing.
 */
export async function serviceAnswer(
  request: HttpRequest,
  readBody: Body,
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
  const { response } = await httpApiBefore(receiver).answer(request, readBody);
  return { response, ...(outcome !== undefined && { outcome }) };
}

/** Failures that the receiver answers itself, whatever the request is like. */
const RECEIVER_FAILURES = {
  401: httpApiBefore(async (event) => refused(invalidSignature, requestIdOf(event))),
  500: httpApiBefore(async (event) => refused(serverError, requestIdOf(event))),
};

/** Those that a gateway answers; the redirect is another party's. */
export type Failure = keyof typeof RECEIVER_FAILURES | 302 | 429 | 502 | 503 | 504;

/** Answers with a failure, in the words of the receiver or of API Gateway. */
export async function failureAnswer(
  request: HttpRequest,
  body: Buffer,
  failure: Failure,
): Promise<HttpResponse> {
  if (failure === 401 || failure === 500) {
    const { response } = await RECEIVER_FAILURES[failure].answer(request, async () => body);
    return response;
  }
  return {
    status: failure,
    headers: { 'content-type': 'application/json', 'apigw-requestid': shortId() },
    body: Buffer.from(JSON.stringify({ message: STATUS_CODES[failure] })),
  };
}

function httpApiBefore(receiver: Receiver): Api {
  return httpApi({
    ...LOCAL,
    routes: [
      {
        routeKey: `POST ${WEBHOOK_PATH}`,
        invoke: async (event) => ({ ok: true, payload: await receiver(event) }),
      },
    ],
  });
}
