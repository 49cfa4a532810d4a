import { normaliseTimestamp } from '../events/timestamp.ts';

/** How far the partner's clock may be ahead of ours, in milliseconds (decision D8). */
const CLOCK_TOLERANCE = 5 * 60_000;

/**
 * The version that an event gives to the state it writes: (`timestamp`, then `eventId`), as a text
 * whose order is the order of versions. The higher one wins, whichever comes first (decision D8).
 *
 * A `timestamp` further ahead of the receipt than {@link CLOCK_TOLERANCE} counts as the receipt time,
 * so that a wrong clock cannot freeze a record.
 * @param event `timestamp` in the fixed width of `normaliseTimestamp`; `receivedAt` in ISO 8601, UTC
 */
export function versionOf(event: { timestamp: string; receivedAt: string; eventId: string }): string {
  const received = Date.parse(event.receivedAt);
  const latest = normaliseTimestamp(new Date(received + CLOCK_TOLERANCE).toISOString()) ?? '';
  const ahead = event.timestamp > latest;
  const moment = ahead ? normaliseTimestamp(new Date(received).toISOString()) : event.timestamp;
  return `${moment}#${event.eventId}`;
}
