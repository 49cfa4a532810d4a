import type { InvocationResult } from '../invocation.ts';

/**
 * The outcome of a batch. Messages that are not deleted return to the queue after their visibility timeout.
 */
export interface BatchOutcome {
  deleted: string[];
  /**
   * Why the function's response is malformed, in which case all messages have failed. Undefined if it is
   * well-formed.
   */
  malformed?: string;
}

/**
 * Decides by Lambda's rules which messages of a batch to delete
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html). The rules do not cover
 * three cases, for which we assume: an object without `batchItemFailures` is a success, a response that is
 * not an object is malformed, and an identifier may be repeated.
 */
export function batchOutcome(
  messageIds: string[],
  result: InvocationResult,
  reportBatchItemFailures: boolean,
): BatchOutcome {
  if (!result.ok) return { deleted: [] };
  if (!reportBatchItemFailures || result.payload === null || result.payload === undefined) {
    return { deleted: messageIds };
  }
  if (typeof result.payload !== 'object' || Array.isArray(result.payload)) {
    return malformed('it is not an object');
  }
  const failures = 'batchItemFailures' in result.payload ? result.payload.batchItemFailures : undefined;
  if (failures === null || failures === undefined) return { deleted: messageIds };
  if (!Array.isArray(failures)) return malformed('batchItemFailures is not a list');

  const remaining = new Set(messageIds);
  for (const failure of failures) {
    const identifier = itemIdentifier(failure);
    if (identifier === undefined) return malformed('an item has no itemIdentifier');
    if (!messageIds.includes(identifier)) return malformed('an itemIdentifier is not of this batch');
    remaining.delete(identifier);
  }
  return { deleted: [...remaining] };
}

function itemIdentifier(failure: unknown): string | undefined {
  if (typeof failure !== 'object' || failure === null || !('itemIdentifier' in failure)) return undefined;
  return typeof failure.itemIdentifier === 'string' ? failure.itemIdentifier : undefined;
}

function malformed(reason: string): BatchOutcome {
  return { deleted: [], malformed: reason };
}
