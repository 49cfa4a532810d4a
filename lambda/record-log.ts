import { AsyncLocalStorage } from 'node:async_hooks';
import { logger } from './telemetry.ts';

const keysOfRecord = new AsyncLocalStorage<Readonly<Record<string, unknown>>>();

/**
 * Runs the work on one record. Each line that the work writes to {@link recordLog} has these keys. The logger's own
 * keys do not work here, because the records of a batch are processed in parallel.
 */
export function withRecordKeys<Result>(keys: Readonly<Record<string, unknown>>, work: () => Result): Result {
  return keysOfRecord.run(keys, work);
}

const line =
  (level: 'info' | 'warn' | 'error') =>
  (message: string, fields: Record<string, unknown> = {}) =>
    logger[level](message, { ...keysOfRecord.getStore(), ...fields });

export const recordLog = { info: line('info'), warn: line('warn'), error: line('error') };
