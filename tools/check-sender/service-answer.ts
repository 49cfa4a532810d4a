import { STATUS_CODES } from 'node:http';
import { type HttpResponse, httpApi, shortId } from 'local-aws/gateway';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import { createReceiver, type DeliveryOutcome } from '../../lambda/receiver/receive.ts';
import type { SentRequest } from './signed-messages.ts';

/**
 * The answer of the service: receiver and HTTP API, with queues that accept everything and store nothing.
 * @param failure status of a failure to simulate. @default none
 */
export async function serviceAnswer(
  request: SentRequest,
  secret: string,
  failure?: 401 | 500,
): Promise<ServiceAnswer> {
  let outcome: DeliveryOutcome | undefined;
  const receiver = createReceiver({
    secrets: { matchesAny: async (test) => failure !== 401 && test([secret]) },
    queues: { enqueue: async () => {}, quarantine: async () => {} },
    identify: () => {
      if (failure === 500) throw new Error('simulated');
    },
    report: async (reported) => {
      outcome = reported;
    },
    reportError: async () => {},
  });
  const api = httpApi({
    apiId: 'checker',
    routes: [
      {
        routeKey: `POST ${WEBHOOK_PATH}`,
        invoke: async (event) => ({ ok: true, payload: await receiver(event) }),
      },
    ],
  });
  const { response } = await api.answer(request, async () => (request.isTooLarge ? undefined : request.body));
  return { response, outcome };
}

export interface ServiceAnswer {
  readonly response: HttpResponse;
  /** What the receiver did. Undefined if API Gateway answered itself. */
  readonly outcome?: DeliveryOutcome | undefined;
}

/** The answer to a simulated failure, with the text of the receiver or API Gateway. */
export async function failureAnswer(request: SentRequest, status: number): Promise<HttpResponse> {
  if (status === 401 || status === 500) return (await serviceAnswer(request, '', status)).response;
  return {
    status,
    headers: { 'content-type': 'application/json', 'apigw-requestid': shortId() },
    body: Buffer.from(JSON.stringify({ message: STATUS_CODES[status] })),
  };
}
