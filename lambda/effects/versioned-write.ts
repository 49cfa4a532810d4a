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
 * The condition of a versioned write: never over a newer version.
 *
 * In a repair only a version that is known to be newer keeps the event out: neither its own, nor none, nor one that
 * is no text, as a comparison with either is false.
 * @param attribute that holds the version; the event's own is `:version`
 */
export function mayWrite({ replay }: Pick<VersionedChange, 'replay'>, attribute = 'version'): string {
  return isRepair(replay)
    ? `NOT ${attribute} > :version`
    : `attribute_not_exists(${attribute}) OR ${attribute} < :version`;
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
