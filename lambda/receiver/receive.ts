import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { parsePayload } from '../contract/envelope.ts';
import { sha256Hex } from '../hash.ts';
import type { EventQueues } from './event-queues.ts';
import { invalidSignature, unusableEvent } from './problem.ts';
import { rawBody } from './raw-body.ts';
import { decodeSignature, verify } from './signature.ts';
import type { WebhookSecrets } from './webhook-secrets.ts';

/** The request header with the signature (contract, Endpoints), in the lower case of payload format 2.0. */
const SIGNATURE_HEADER = 'x-webhook-signature';

/** What became of a request; each is a metric and a log line. */
export type Outcome =
  | { readonly outcome: 'Accepted'; readonly event: string; readonly eventId: string }
  | { readonly outcome: 'Parked'; readonly eventId: string }
  | { readonly outcome: 'Unusable'; readonly eventId: string; readonly fields: readonly string[] }
  | { readonly outcome: 'Rejected'; readonly reason: 'malformed-signature' | 'wrong-signature' };

export interface ReceiverParts {
  readonly secrets: WebhookSecrets;
  readonly queues: EventQueues;
  readonly report: (outcome: Outcome, request: APIGatewayProxyEventV2) => void;
}

/**
 * Receives one delivery: verify, parse, route, make durable, answer.
 * @throws Problem for 401 and 400; any other error means that the event is not safe, and is a 500
 */
export function createReceiver({ secrets, queues, report }: ReceiverParts) {
  async function authenticate(request: APIGatewayProxyEventV2, body: Buffer): Promise<void> {
    const signature = decodeSignature(request.headers[SIGNATURE_HEADER]);
    if (signature === undefined) {
      report({ outcome: 'Rejected', reason: 'malformed-signature' }, request);
      throw invalidSignature();
    }
    if (await secrets.fit((accepted) => verify(body, signature, accepted))) return;
    report({ outcome: 'Rejected', reason: 'wrong-signature' }, request);
    throw invalidSignature();
  }

  return async (request: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> => {
    const body = rawBody(request);
    await authenticate(request, body);

    const { requestId, timeEpoch } = request.requestContext;
    const delivery = { eventId: sha256Hex(body), requestId, receivedAt: new Date(timeEpoch).toISOString() };
    const { eventId } = delivery;
    const parsed = parsePayload(body);
    if (parsed.kind === 'unusable') {
      await queues.quarantine(body, parsed.problems, delivery);
      report({ outcome: 'Unusable', eventId, fields: parsed.problems.map(({ field }) => field) }, request);
      throw unusableEvent(parsed.problems);
    }

    await queues.enqueue(parsed, body, delivery);
    const known = parsed.kind === 'event';
    report(
      known ? { outcome: 'Accepted', event: parsed.event.event, eventId } : { outcome: 'Parked', eventId },
      request,
    );
    return {
      statusCode: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ status: known ? 'queued' : 'parked', eventId, requestId }),
    };
  };
}
