import { AsyncLocalStorage } from 'node:async_hooks';
import { logger } from '../telemetry.ts';

const keysOfRecord = new AsyncLocalStorage<Readonly<Record<string, unknown>>>();

/**
 * Does the work on one record, whose keys are then on each line of {@link recordLog} that the work writes.
 * The logger's own keys would not do: the records of a batch are worked on in parallel.
 */
export function withRecordKeys<Result>(keys: Readonly<Record<string, unknown>>, work: () => Result): Result {
  return keysOfRecord.run(keys, work);
}

const line =
  (level: 'info' | 'warn' | 'error') =>
  (message: string, facts: Record<string, unknown> = {}) =>
    logger[level](message, { ...keysOfRecord.getStore(), ...facts });

export const recordLog = { info: line('info'), warn: line('warn'), error: line('error') };
