import type * as v from 'valibot';
import type { recordSchema } from './record-schema.ts';

/**
 * One settled message in the archive: a line of JSON. A message has a record each time it is settled: SQS may deliver
 * it twice, the archive may reject it at first, or somebody may redrive it.
 */
export type ArchiveRecord = Readonly<v.InferOutput<typeof recordSchema>>;

export type SettledOutcome = ArchiveRecord['outcome'];

export const archiveLine = (record: ArchiveRecord): string => `${JSON.stringify(record)}\n`;
