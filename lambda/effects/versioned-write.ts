import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { isRepair, type Replay } from '../queue/replay.ts';
import type { EffectOutcome } from './outcome.ts';

/** What an event gives to the state that it writes. */
export interface VersionedChange {
  /** ISO 8601. */
  readonly at: string;
  readonly version: string;
  /** That sent the event; undefined of a delivery. A repair writes anew what the event has written before. */
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
