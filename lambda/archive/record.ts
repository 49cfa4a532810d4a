import type * as z from 'zod/mini';
import type { recordSchema } from './record-schema.ts';

/**
 * One settled message in the archive: a line of JSON. A message has a record each time it is settled: SQS may deliver
 * it twice, the archive may reject it at first, or somebody may redrive it.
 */
export type ArchiveRecord = Readonly<z.infer<typeof recordSchema>>;

export type SettledOutcome = ArchiveRecord['outcome'];

/** The largest record before base64. Source: Firehose API reference, `PutRecordBatch`: 1,000 KiB. */
export const MAX_RECORD_BYTES = 1_000 * 1024;

/** Bytes reserved for the fields other than the body: ids, times, and a failure reason of at most 2,048 characters. */
export const RECORD_RESERVE_BYTES = 32 * 1024;

export const archiveLine = (record: ArchiveRecord): string => `${JSON.stringify(record)}\n`;
