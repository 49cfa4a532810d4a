import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { normaliseTimestamp } from '../events/timestamp.ts';
import { isRepair, type Replay } from '../queue/replay.ts';

/**
 * The result of an effect. `Duplicate`: this event had its effect before, because its notification was sent or its
 * version is stored. `Stale`: a newer version is stored. This event may have been processed before that one. The words
 * are the names of log messages and metrics.
 */
export type EffectOutcome = 'Processed' | 'Stale' | 'Duplicate';

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

/** The change that an event makes to stored state. */
export interface VersionedChange {
  /** When the receiver got the event, ISO 8601. */
  readonly receivedAt: string;
  readonly version: string;
  /** That sent the event; undefined of a delivery. A repair rewrites what the event has written before. */
  readonly replay: Replay | undefined;
}

/**
 * The condition of a versioned write: never over a newer version, and in a repair over its own. A version that is absent or no
 * text keeps no event out, because DynamoDB compares neither.
 * @param attribute that holds the version; the event's own is `:version`
 */
export function mayWrite({ replay }: Pick<VersionedChange, 'replay'>, attribute = 'version'): string {
  return `NOT ${attribute} ${isRepair(replay) ? '>' : '>='} :version`;
}

/**
 * Carries out a conditional write. If the condition fails, the stored versions decide between `Duplicate` and `Stale`.
 * Callers await the outcome before they return it: the stack of an error names only functions that wait.
 * @param version the event's own
 * @param write asks for the stored item with `ReturnValuesOnConditionCheckFailure`. Without the item the outcome is `Stale`
 * @param attributes that hold versions
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
