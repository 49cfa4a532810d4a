import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import type { EffectOutcome } from './outcome.ts';

/** The version of the state as a whole: its write is the newest, or it does not happen. */
export const NEWER_THAN_STORED = 'attribute_not_exists(version) OR version < :version';

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
