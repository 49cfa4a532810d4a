import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { normaliseTimestamp } from '../events/timestamp.ts';
import { CLOCK_TOLERANCE } from '../limits.ts';
import type { DUPLICATE, PROCESSED, STALE } from '../log-messages.ts';
import { isRepair, type Replay } from '../queue/replay.ts';

/**
 * The result of an effect. `Duplicate`: this event was processed before, because its notification was sent or its
 * version is stored. `Stale`: a newer version is stored. This event may have been processed before that one. The words
 * are also the names of log messages and metrics.
 */
export type EffectOutcome = typeof PROCESSED | typeof STALE | typeof DUPLICATE;

/** The fields that decide the order of events. */
export interface EventTimes {
  /** The partner's timestamp, in the fixed width of `normaliseTimestamp`. */
  readonly timestamp: string;
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
}

/**
 * The time by which an event is ordered, in the width of `timestamp`: `timestamp`, but at most {@link CLOCK_TOLERANCE}
 * after the event's first receipt, so that a wrong clock cannot block an item (decision D8). If one event has a later
 * timestamp and a later receipt than another event, its effective timestamp is later, too: a clock that drifts past the
 * tolerance keeps the order of its events.
 */
export function effectiveTimestamp({ timestamp, receivedAt }: EventTimes): string {
  const latest = normaliseTimestamp(new Date(Date.parse(receivedAt) + CLOCK_TOLERANCE).toISOString());
  // A time after the year 9999 has no text in this width. No timestamp can be later.
  return latest !== undefined && latest < timestamp ? latest : timestamp;
}

/** Whether the partner's clock is so far ahead of this receipt that the timestamp does not count. */
export const isTooFarAhead = (times: EventTimes): boolean => effectiveTimestamp(times) !== times.timestamp;

/**
 * The version that an event writes to stored state: the {@link effectiveTimestamp}, then `eventId`, as text that sorts
 * like the versions. The higher one wins, in any order of arrival (decision D8).
 */
export function versionOf(event: EventTimes & { readonly eventId: string }): string {
  return `${effectiveTimestamp(event)}#${event.eventId}`;
}

/** What decides whether an event may overwrite stored state. */
export interface VersionedChange {
  /** When the receiver got the event, ISO 8601. */
  readonly receivedAt: string;
  readonly version: string;
  /** The replay that sent the event; undefined for a delivery. A repair may overwrite the event's own earlier write. */
  readonly replay: Replay | undefined;
}

/**
 * The condition of a versioned write: it never overwrites a newer version; only a repair overwrites its own version. A
 * stored version that is missing or not text blocks no event, because DynamoDB cannot compare it.
 * @param attribute with the stored version; the event's own is `:version`
 */
export function mayWrite({ replay }: Pick<VersionedChange, 'replay'>, attribute = 'version'): string {
  return `NOT ${attribute} ${isRepair(replay) ? '>' : '>='} :version`;
}

/**
 * Runs a conditional write. If the condition fails, the stored versions decide between `Duplicate` and `Stale`. Callers
 * must await the outcome before they return it: the stack of an error names only functions that wait.
 * @param version the event's own version
 * @param write asks for the stored item with `ReturnValuesOnConditionCheckFailure`. Without the item the outcome is
 * `Stale`
 * @param attributes with stored versions
 */
export async function versionedWrite(
  version: string,
  write: () => Promise<unknown>,
  attributes: readonly string[] = ['version'],
): Promise<EffectOutcome> {
  try {
    await write();
    return 'Processed';
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return attributes.some((name) => error.Item?.[name]?.S === version) ? 'Duplicate' : 'Stale';
  }
}
