import { type PartnerEvent, parsePayload } from '../events/envelope.ts';
import { sha256Hex } from '../hash.ts';
import { ACCEPTED, IGNORED, PARKED, REJECTED, UNUSABLE } from '../log-messages.ts';
import type { RejectionReason } from '../metric-names.ts';
import {
  accepted,
  type GatewayAnswer,
  invalidSignature,
  refused,
  serverError,
  unusableEvent,
} from './answers.ts';
import type { DeliveryMetadata, EventQueues } from './event-queues.ts';
import { type GatewayEvent, readRequest, requestIdOf, type WebhookRequest } from './request.ts';
import { decodeSignature, verify } from './signature.ts';
import type { WebhookSecrets } from './webhook-secrets.ts';

/** The outcome of a request. Each is the message of a log line, and some are also a metric. */
export type DeliveryOutcome =
  | { readonly outcome: typeof ACCEPTED; readonly event: string; readonly lagMs: number }
  | { readonly outcome: typeof PARKED | typeof IGNORED }
  | { readonly outcome: typeof UNUSABLE; readonly fields: readonly string[] }
  | { readonly outcome: typeof REJECTED; readonly reason: RejectionReason };

export interface ReceiverParts {
  readonly secrets: Pick<WebhookSecrets, 'matchesAny'>;
  readonly queues: Pick<EventQueues, 'enqueue' | 'quarantine'>;
  /** Unknown kinds that are accepted and not stored. @default none */
  readonly ignoredEvents?: ReadonlySet<string>;
  /** Called first, so that every log line has the ids of the delivery. */
  readonly identify: (ids: Pick<DeliveryMetadata, 'eventId' | 'requestId'>) => void;
  readonly report: (outcome: DeliveryOutcome, request: WebhookRequest) => Promise<void>;
  /** Called with the cause of a 500: the event is not stored. */
  readonly reportError: (error: unknown) => Promise<void>;
}

/** Receives one delivery: verify, parse, route, store, answer. */
export function createReceiver(parts: ReceiverParts) {
  const { secrets, queues, ignoredEvents, identify, report, reportError } = parts;

  async function rejectionReason(request: WebhookRequest): Promise<RejectionReason | undefined> {
    const signature = decodeSignature(request.signature);
    if (signature === undefined) return 'malformed-signature';
    const matches = await secrets.matchesAny((accepted) => verify(request.body, signature, accepted));
    return matches ? undefined : 'wrong-signature';
  }

  async function receive(event: GatewayEvent): Promise<GatewayAnswer> {
    const request = readRequest(event);
    const { requestId, body } = request;
    const eventId = sha256Hex(body);
    identify({ eventId, requestId });

    const reason = await rejectionReason(request);
    if (reason !== undefined) {
      await report({ outcome: REJECTED, reason }, request);
      return refused(invalidSignature, requestId);
    }

    const delivery = { eventId, requestId, receivedAt: new Date(request.receivedAt).toISOString() };
    const parsed = parsePayload(body);
    if (parsed.kind === 'unusable') {
      await queues.quarantine(body, parsed.problems, delivery);
      await report({ outcome: UNUSABLE, fields: parsed.problems.map(({ field }) => field) }, request);
      return refused(unusableEvent(parsed.problems), requestId);
    }

    if (parsed.kind === 'unknown' && ignoredEvents?.has(parsed.event.event)) {
      await report({ outcome: IGNORED }, request);
      return accepted('ignored', delivery);
    }
    await queues.enqueue(parsed, body, delivery);
    if (parsed.kind === 'unknown') {
      await report({ outcome: PARKED }, request);
      return accepted('parked', delivery);
    }
    await report(acceptedOutcome(parsed.event, request), request);
    return accepted('queued', delivery);
  }

  return async (event: GatewayEvent): Promise<GatewayAnswer> => {
    try {
      return await receive(event);
    } catch (error) {
      await reportError(error);
      return refused(serverError, requestIdOf(event));
    }
  };
}

function acceptedOutcome(
  { event, timestamp }: PartnerEvent,
  { receivedAt }: WebhookRequest,
): DeliveryOutcome {
  // At least 0, because the partner's clock may differ from ours.
  return { outcome: ACCEPTED, event, lagMs: Math.max(0, receivedAt - Date.parse(timestamp)) };
}
