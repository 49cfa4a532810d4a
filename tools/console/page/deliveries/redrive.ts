import type { Delivery } from '../../../stage/history/history.ts';

/** Deliveries that one action sends at most: each is a command of its own. */
export const MAX_RESENT = 100;

/** The queue that keeps a delivery for redrive, as `npm run dlq` names it; undefined if none does. */
function queueOf({ state, event }: Delivery): string | undefined {
  if (state === 'dead-letter') return event;
  if (state === 'invalid') return 'quarantine';
  return state === 'parked' ? 'unrouted' : undefined;
}

/** Event ids by the queue that a redrive takes them from. */
export function redrivable(deliveries: readonly Delivery[]): ReadonlyMap<string, readonly string[]> {
  const queues = new Map<string, string[]>();
  for (const delivery of deliveries) {
    const queue = queueOf(delivery);
    if (queue === undefined || delivery.eventId === undefined) continue;
    const ids = queues.get(queue) ?? [];
    queues.set(queue, ids);
    // Two deliveries of the same bytes have the same event id.
    if (!ids.includes(delivery.eventId)) ids.push(delivery.eventId);
  }
  return queues;
}
