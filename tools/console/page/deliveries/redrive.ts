import type { Delivery } from '../../../stage/history/history.ts';

/** Maximum number of deliveries that one action sends. Each is a separate command. */
export const MAX_RESENT = 100;

/** Maximum number of event ids per redrive: the server accepts commands up to 128 KiB. */
export const MAX_REDRIVEN = 1_000;

/** The queue from which a delivery can be redriven, as `npm run dlq` names it. Undefined if no queue keeps it. */
function queueOf({ state, event = '' }: Delivery, events: readonly string[]): string | undefined {
  if (state === 'dead-letter') return event;
  if (state === 'invalid') return 'quarantine';
  return state === 'parked' && events.includes(event) ? 'unrouted' : undefined;
}

/**
 * Event ids by the queue to redrive them from.
 * @param events with a consumer: a redrive does not move others
 */
export function redrivable(
  deliveries: readonly Delivery[],
  events: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  // Two deliveries of the same bytes have the same event id.
  const queues = new Map<string, Set<string>>();
  for (const delivery of deliveries) {
    const queue = queueOf(delivery, events);
    if (queue === undefined || delivery.eventId === undefined) continue;
    queues.set(queue, (queues.get(queue) ?? new Set()).add(delivery.eventId));
  }
  return new Map([...queues].map(([queue, ids]) => [queue, [...ids]]));
}
