import { parsePayload } from '../events/envelope.ts';
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
import type { EventQueues } from './event-queues.ts';
import type { ReportsOf, RequestIds, RequestReports } from './reports.ts';
import { type GatewayEvent, readRequest, requestIdOf, type WebhookRequest } from './request.ts';
import { decodeSignature, verify } from './signature.ts';
import type { WebhookSecrets } from './webhook-secrets.ts';

export interface ReceiverParts {
  readonly secrets: Pick<WebhookSecrets, 'matchesAny'>;
  readonly queues: Pick<EventQueues, 'enqueue' | 'quarantine'>;
  /** Unknown kinds that are accepted and not stored. @default none */
  readonly ignoredEvents?: ReadonlySet<string>;
  readonly reportsOf: ReportsOf;
}

/** Receives one delivery: verify, parse, route, store, answer. */
export function createReceiver({ secrets, queues, ignoredEvents, reportsOf }: ReceiverParts) {
  async function rejectionReason(
    request: WebhookRequest,
    reports: RequestReports,
  ): Promise<RejectionReason | undefined> {
    const signature = decodeSignature(request.signature);
    if (signature === undefined) return 'malformed-signature';
    const matches = await secrets.matchesAny(
      (accepted) => verify(request.body, signature, accepted),
      reports,
    );
    return matches ? undefined : 'wrong-signature';
  }

  /** @param ids get the event id as soon as it is known, so that a failure is logged with it */
  async function receive(event: GatewayEvent, ids: RequestIds, reports: RequestReports) {
    const { requestId } = ids;
    const request = readRequest(event);
    const { body, sourceIp } = request;
    const eventId = sha256Hex(body);
    ids.eventId = eventId;

    const reason = await rejectionReason(request, reports);
    if (reason !== undefined) {
      reports.outcome({ outcome: REJECTED, reason, sourceIp });
      return refused(invalidSignature, requestId);
    }

    const delivery = { eventId, requestId, receivedAt: new Date(request.receivedAt).toISOString() };
    const parsed = parsePayload(body);
    if (parsed.kind === 'unusable') {
      await queues.quarantine(body, parsed.problems, delivery);
      reports.outcome({ outcome: UNUSABLE, fields: parsed.problems.map(({ field }) => field) });
      return refused(unusableEvent(parsed.problems), requestId);
    }

    if (parsed.kind === 'unknown' && ignoredEvents?.has(parsed.event.event)) {
      reports.outcome({ outcome: IGNORED });
      return accepted('ignored', delivery);
    }
    await queues.enqueue(parsed, body, delivery);
    if (parsed.kind === 'unknown') {
      reports.outcome({ outcome: PARKED });
      return accepted('parked', delivery);
    }
    // At least 0, because the partner's clock may differ from ours.
    const lagMs = Math.max(0, request.receivedAt - Date.parse(parsed.event.timestamp));
    reports.outcome({ outcome: ACCEPTED, event: parsed.event.event, lagMs });
    return accepted('queued', delivery);
  }

  return async (event: GatewayEvent): Promise<GatewayAnswer> => {
    const ids: RequestIds = { requestId: requestIdOf(event) };
    const reports = reportsOf(ids);
    try {
      return await receive(event, ids, reports);
    } catch (error) {
      reports.error(error);
      return refused(serverError, ids.requestId);
    }
  };
}
