import type * as z from 'zod/mini';
import type { recordSchema } from './record-schema.ts';

/**
 * One settled message as the archive keeps it: a line of JSON. A message has a record for each time that it was settled:
 * SQS may deliver it twice, the archive may refuse it at first, or somebody redrives it.
 */
export type ArchiveRecord = Readonly<z.infer<typeof recordSchema>>;

export type SettledOutcome = ArchiveRecord['outcome'];

/** The largest record before base64. Source: Firehose API reference, `PutRecordBatch`: 1,000 KiB. */
export const MAX_RECORD_BYTES = 1_000 * 1024;

/** Kept free for all of a record but its body: ids, times, and a failure's reason of at most 2,048 characters. */
export const RECORD_RESERVE_BYTES = 32 * 1024;

export const archiveLine = (record: ArchiveRecord): string => `${JSON.stringify(record)}\n`;
