import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { type PartnerEvent, parsePayload } from '../events/envelope.ts';
import { sha256Hex } from '../hash.ts';
import type { RejectionReason } from '../metric-names.ts';
import type { Delivery, EventQueues } from './event-queues.ts';
import { invalidSignature, unusableEvent } from './problem.ts';
import { type GatewayEvent, readRequest, type WebhookRequest } from './request.ts';
import { decodeSignature, verify } from './signature.ts';
import type { WebhookSecrets } from './webhook-secrets.ts';

/** What became of a request; each is a metric and a log line. */
export type Outcome =
  | { readonly outcome: 'Accepted'; readonly event: string; readonly lagMs: number }
  | { readonly outcome: 'Parked' }
  | { readonly outcome: 'Unusable'; readonly fields: readonly string[] }
  | { readonly outcome: 'Rejected'; readonly reason: RejectionReason };

export interface ReceiverParts {
  readonly secrets: Pick<WebhookSecrets, 'fit'>;
  readonly queues: Pick<EventQueues, 'enqueue' | 'quarantine'>;
  /** Told whose delivery it is before anything is done with it, so that every log line can say so. */
  readonly identify: (ids: Pick<Delivery, 'eventId' | 'requestId'>) => void;
  readonly report: (outcome: Outcome, request: WebhookRequest) => Promise<void>;
}

/**
 * Receives one delivery: verify, parse, route, make durable, answer.
 * @throws Problem for 401 and 400; any other error means that the event is not safe, and is a 500
 */
export function createReceiver({ secrets, queues, identify, report }: ReceiverParts) {
  async function authenticate(request: WebhookRequest): Promise<void> {
    const signature = decodeSignature(request.signature);
    if (signature === undefined) {
      await report({ outcome: 'Rejected', reason: 'malformed-signature' }, request);
      throw invalidSignature();
    }
    if (await secrets.fit((accepted) => verify(request.body, signature, accepted))) return;
    await report({ outcome: 'Rejected', reason: 'wrong-signature' }, request);
    throw invalidSignature();
  }

  return async (event: GatewayEvent): Promise<APIGatewayProxyStructuredResultV2> => {
    const request = readRequest(event);
    const { requestId, body } = request;
    const eventId = sha256Hex(body);
    identify({ eventId, requestId });
    await authenticate(request);

    const delivery = { eventId, requestId, receivedAt: new Date(request.receivedAt).toISOString() };
    const parsed = parsePayload(body);
    if (parsed.kind === 'unusable') {
      await queues.quarantine(body, parsed.problems, delivery);
      await report({ outcome: 'Unusable', fields: parsed.problems.map(({ field }) => field) }, request);
      throw unusableEvent(parsed.problems);
    }

    await queues.enqueue(parsed, body, delivery);
    const known = parsed.kind === 'event';
    await report(known ? accepted(parsed.event, request) : { outcome: 'Parked' }, request);
    return {
      statusCode: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ status: known ? 'queued' : 'parked', eventId, requestId }),
    };
  };
}

function accepted({ event, timestamp }: PartnerEvent, { receivedAt }: WebhookRequest): Outcome {
  // The partner's clock and ours are not the same.
  return { outcome: 'Accepted', event, lagMs: Math.max(0, receivedAt - Date.parse(timestamp)) };
}
