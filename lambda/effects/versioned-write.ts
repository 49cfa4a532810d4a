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
 * Carries out a conditional write; a condition that does not hold means that the event is stale. Who returns
 * its outcome awaits it first: the stack of an error names the functions that wait, and no others.
 */
export async function versionedWrite(write: () => Promise<unknown>): Promise<EffectOutcome> {
  try {
    await write();
    return 'Processed';
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return 'Stale';
    throw error;
  }
}
