import type { EventName } from '../contract/catalogue.ts';
import type { EffectOutcome } from '../effects/outcome.ts';
import type { Replay } from '../queue/replay.ts';

/**
 * The final result of a message. `Duplicate` may mean its own earlier attempt, which died or was not archived after the
 * effect, or a request that the SDK repeated because the answer was lost.
 */
export type SettledOutcome = EffectOutcome | 'DeadLettered';

/**
 * One settled message as the archive keeps it: a line of JSON. A message that comes twice, as SQS may have it, or as
 * the archive did not take it at first, is archived twice; so is one that is redriven.
 */
export interface ArchiveRecord {
  readonly eventId: string;
  readonly event: EventName;
  /** As a table's key: a very long one is hashed. Absent where the event names none, or could not be read. */
  readonly shopId?: string | undefined;
  /** ISO 8601, as all times here. */
  readonly receivedAt: string;
  /** API Gateway's id of the request that brought it; absent of a message that was sent by hand. */
  readonly requestId?: string | undefined;
  /** The partner's, in the fixed width of `normaliseTimestamp`; absent where the event could not be read. */
  readonly timestamp?: string | undefined;
  readonly outcome: SettledOutcome;
  /** Of a dead letter. */
  readonly failureReason?: string | undefined;
  /** 1 for the first receive. */
  readonly attempt: number;
  readonly settledAt: string;
  /** Of a message that a replay sent: it has neither body nor payloadKey, which are those of its original. */
  readonly replay?: Replay | undefined;
  /** The partner's text. */
  readonly body?: string | undefined;
  /** Where the partner's bytes are in the payload bucket, instead of the body (decision D13). */
  readonly payloadKey?: string | undefined;
  /** When a person's data was taken out of the record: neither body nor payloadKey is left. */
  readonly forgottenAt?: string | undefined;
}

/** The largest record before base64. Source: Firehose API reference, `PutRecordBatch`: 1,000 KiB. */
export const MAXIMUM_RECORD_BYTES = 1_000 * 1024;

/** Kept free for all of a record but its body: ids, times, and a failure's reason of at most 2,048 characters. */
export const RECORD_RESERVE_BYTES = 32 * 1024;

/** A record as a line of the archive. */
export const archiveLine = (record: ArchiveRecord): string => `${JSON.stringify(record)}\n`;
