import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { normaliseTimestamp } from '../events/timestamp.ts';
import { isRepair, type Replay } from '../queue/replay.ts';

/**
 * The result of an effect. `Duplicate`: this event was processed before, because its notification was sent or its
 * version is stored. `Stale`: a newer version is stored. This event may have been processed before that one. The words
 * are also the names of log messages and metrics.
 */
export type EffectOutcome = 'Processed' | 'Stale' | 'Duplicate';

/** How far the partner's clock may be ahead of ours, in milliseconds (decision D8). */
const CLOCK_TOLERANCE = 5 * 60_000;

/**
 * The version that an event writes to stored state: `timestamp`, then `eventId`, as text that sorts like the versions.
 * The higher one wins, in any order of arrival (decision D8). A `timestamp` that is ahead of the receipt by more than
 * {@link CLOCK_TOLERANCE} counts as the receipt time, so that a wrong clock cannot block a record.
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
  /** The replay that sent the event; undefined for a delivery. A repair may overwrite the event's own earlier write. */
  readonly replay: Replay | undefined;
}

/**
 * The condition of a versioned write: it never overwrites a newer version; only a repair overwrites its own version. A
 * stored version that is missing or not text blocks no event, because DynamoDB cannot compare it.
 * @param attribute that holds the version; the event's own is `:version`
 */
export function mayWrite({ replay }: Pick<VersionedChange, 'replay'>, attribute = 'version'): string {
  return `NOT ${attribute} ${isRepair(replay) ? '>' : '>='} :version`;
}

/**
 * Runs a conditional write. If the condition fails, the stored versions decide between `Duplicate` and `Stale`. Callers
 * must await the outcome before they return it: the stack of an error names only functions that wait.
 * @param version the event's own
 * @param write asks for the stored item with `ReturnValuesOnConditionCheckFailure`. Without the item the outcome is
 * `Stale`
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
