import middy from '@middy/core';
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { WEBHOOK_PATH } from '../../lambda/contract/webhook-path.ts';
import { invalidSignature, problemResponses } from '../../lambda/receiver/problem.ts';
import { createReceiver, type Outcome } from '../../lambda/receiver/receive.ts';
import type { GatewayEvent } from '../../lambda/receiver/request.ts';
import { TooManyRequestsError } from '../../local/functions/invocation.ts';
import { type HttpApiOptions, httpApi } from '../../local/gateway/http-api.ts';
import type { HttpRequest, HttpResponse } from '../../local/gateway/http-message.ts';
import type { Api } from '../../local/gateway/server.ts';

/** What the service says to a request. */
export interface ServiceAnswer {
  readonly response: HttpResponse;
  /** @default the request did not reach the receiver: API Gateway answers */
  readonly outcome?: Outcome;
}

type Body = () => Promise<Buffer | undefined>;

type Receiver = (event: GatewayEvent) => Promise<APIGatewayProxyStructuredResultV2>;

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
    secrets: { fit: async (test) => test([secret]) },
    queues: { enqueue: async () => {}, quarantine: async () => {} },
    identify: () => {},
    report: async (reported) => {
      outcome = reported;
    },
  });
  const { response } = await apiBefore(receiver).answer(request, readBody);
  return { response, ...(outcome !== undefined && { outcome }) };
}

/** Answers that the service gives for reasons of its own, whatever the request is like. */
const FAILURES = {
  401: apiBefore(async () => {
    throw invalidSignature();
  }),
  429: apiBefore(async () => ({}), { throttle: { rate: 0, burst: 0 } }),
  500: apiBefore(async () => {
    throw new Error('played');
  }),
  503: httpApiBefore(async () => {
    throw new TooManyRequestsError();
  }),
};

export type Failure = keyof typeof FAILURES;

/** Answers with a failure, in the service's words. */
export async function failureAnswer(
  request: HttpRequest,
  body: Buffer,
  failure: Failure,
): Promise<HttpResponse> {
  const { response } = await FAILURES[failure].answer(request, async () => body);
  return response;
}

function apiBefore(receiver: Receiver, options: Pick<HttpApiOptions, 'throttle'> = {}): Api {
  const handler = middy<GatewayEvent, APIGatewayProxyStructuredResultV2>()
    .use(problemResponses(async () => {}))
    .handler(receiver);
  return httpApiBefore(
    async (event) => ({ ok: true, payload: await handler(event, {} as Context) }),
    options,
  );
}

type Invoke = HttpApiOptions['routes'][number]['invoke'];

function httpApiBefore(invoke: Invoke, options: Pick<HttpApiOptions, 'throttle'> = {}): Api {
  return httpApi({ ...LOCAL, ...options, routes: [{ routeKey: `POST ${WEBHOOK_PATH}`, invoke }] });
}
