import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { parsePayload } from '../contract/envelope.ts';
import { sha256Hex } from '../hash.ts';
import type { RejectionReason } from '../metric-names.ts';
import type { Delivery, EventQueues } from './event-queues.ts';
import { invalidSignature, unusableEvent } from './problem.ts';
import { rawBody } from './raw-body.ts';
import { decodeSignature, verify } from './signature.ts';
import type { WebhookSecrets } from './webhook-secrets.ts';

/** The request header with the signature (contract, Endpoints), in the lower case of payload format 2.0. */
const SIGNATURE_HEADER = 'x-webhook-signature';

/** What became of a request; each is a metric and a log line. */
export type Outcome =
  | { readonly outcome: 'Accepted'; readonly event: string; readonly lagMs: number }
  | { readonly outcome: 'Parked' }
  | { readonly outcome: 'Unusable'; readonly fields: readonly string[] }
  | { readonly outcome: 'Rejected'; readonly reason: RejectionReason };

export interface ReceiverParts {
  readonly secrets: WebhookSecrets;
  readonly queues: EventQueues;
  /** Told whose delivery it is before anything is done with it, so that every log line can say so. */
  readonly identify: (ids: Pick<Delivery, 'eventId' | 'requestId'>) => void;
  readonly report: (outcome: Outcome, request: APIGatewayProxyEventV2) => void;
}

/**
 * Receives one delivery: verify, parse, route, make durable, answer.
 * @throws Problem for 401 and 400; any other error means that the event is not safe, and is a 500
 */
export function createReceiver({ secrets, queues, identify, report }: ReceiverParts) {
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
    const { requestId, timeEpoch } = request.requestContext;
    const body = rawBody(request);
    const eventId = sha256Hex(body);
    identify({ eventId, requestId });
    await authenticate(request, body);

    const delivery = { eventId, requestId, receivedAt: new Date(timeEpoch).toISOString() };
    const parsed = parsePayload(body);
    if (parsed.kind === 'unusable') {
      await queues.quarantine(body, parsed.problems, delivery);
      report({ outcome: 'Unusable', fields: parsed.problems.map(({ field }) => field) }, request);
      throw unusableEvent(parsed.problems);
    }

    await queues.enqueue(parsed, body, delivery);
    const known = parsed.kind === 'event';
    if (known) {
      const { event, timestamp } = parsed.event;
      // The partner's clock and ours are not the same.
      const lagMs = Math.max(0, timeEpoch - Date.parse(timestamp));
      report({ outcome: 'Accepted', event, lagMs }, request);
    } else {
      report({ outcome: 'Parked' }, request);
    }
    return {
      statusCode: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ status: known ? 'queued' : 'parked', eventId, requestId }),
    };
  };
}
