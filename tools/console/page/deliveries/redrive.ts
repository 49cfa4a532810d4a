import type { Delivery } from '../../../stage/history/history.ts';

/** Deliveries that one action sends at most: each is a command of its own. */
export const MAX_RESENT = 100;

/** Event ids of one redrive at most: the server takes a command of 128 KiB. */
export const MAX_REDRIVEN = 1_000;

/** The queue that keeps a delivery for redrive, as `npm run dlq` names it; undefined if none does. */
function queueOf({ state, event = '' }: Delivery, events: readonly string[]): string | undefined {
  if (state === 'dead-letter') return event;
  if (state === 'invalid') return 'quarantine';
  return state === 'parked' && events.includes(event) ? 'unrouted' : undefined;
}

/**
 * Event ids by the queue that a redrive takes them from.
 * @param events with a consumer: a redrive leaves others where they are
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
