import { AsyncLocalStorage } from 'node:async_hooks';
import { logger } from '../telemetry.ts';

/** What every log line of a consumer says of the message that it is about. */
export interface RecordKeys {
  readonly event: string;
  readonly eventId: string;
  /** API Gateway's id of the request that brought the event; absent of a message that was sent by hand. */
  readonly requestId: string | undefined;
  readonly messageId: string;
  /** 1 for the first receive. */
  readonly attempt: number;
  /** Name of the replay that sent the message. */
  readonly replay: string | undefined;
}

const keysOfRecord = new AsyncLocalStorage<RecordKeys>();

/**
 * Does the work on one record, whose keys are then on each line of {@link recordLog} that the work writes.
 * The logger's own keys would not do: the records of a batch are worked on in parallel.
 */
export function withRecordKeys<Result>(keys: RecordKeys, work: () => Result): Result {
  return keysOfRecord.run(keys, work);
}

const line =
  (level: 'info' | 'warn' | 'error') =>
  (message: string, facts: Record<string, unknown> = {}) =>
    logger[level](message, { ...keysOfRecord.getStore(), ...facts });

/** The log of consumers and effects. */
export const recordLog = { info: line('info'), warn: line('warn'), error: line('error') };
