import { gunzipSync, gzipSync } from 'node:zlib';
import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { archiveLine } from '../../../../lambda/archive/archive.ts';
import type { ArchiveRecord } from '../../../../lambda/archive/record-schema.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { deleteObjects, keysUnder } from '../../../stage/s3-objects.ts';
import type { Stage } from '../../../stage/stage.ts';

/** A record of shop.updated with a body, settled a second after its receipt, with some properties replaced. */
export function archived(given: Partial<ArchiveRecord> = {}): ArchiveRecord {
  const body = JSON.stringify({
    event: 'shop.updated',
    data: { shop_id: 'shop-1', name: 'Personal name' },
    timestamp: '2026-01-31T09:00:00Z',
  });
  return {
    eventId: sha256Hex(given.body ?? body),
    event: 'shop.updated',
    shopId: 'shop-1',
    receivedAt: '2026-01-31T09:00:01.000Z',
    requestId: 'request-1',
    timestamp: '2026-01-31T09:00:00.000000000Z',
    outcome: 'Processed',
    attempt: 1,
    settledAt: '2026-01-31T09:00:02.000Z',
    body,
    ...given,
  };
}

/** The key of an object, in the format that `lib/archive/event-archive.ts` sets for Firehose. @param hour `2026-01-31T09` */
export function objectKey(name: string, event = 'shop.updated', hour = '2026-01-31T09'): string {
  const [date, clock] = hour.split('T');
  return `event=${event}/date=${date}/hour=${clock}/${name}.jsonl.gz`;
}

/** Puts any bytes under a key of the archive. */
export async function putObject({ s3, outputs }: ArchiveOf, Key: string, Body: Buffer): Promise<void> {
  await s3.send(new PutObjectCommand({ Bucket: outputs.ArchiveBucket, Key, Body }));
}

export function putRecords(stack: ArchiveOf, key: string, records: readonly ArchiveRecord[]): Promise<void> {
  return putObject(stack, key, gzipSync(records.map(archiveLine).join('')));
}

export async function textOf({ s3, outputs }: ArchiveOf, Key: string): Promise<string> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: outputs.ArchiveBucket, Key }));
  return gunzipSync((await Body?.transformToByteArray()) ?? Buffer.of()).toString();
}

type ArchiveOf = Pick<Stage, 'outputs'> & { readonly s3: S3Client };

export async function emptyArchive({ s3, outputs: { ArchiveBucket = '' } }: ArchiveOf): Promise<void> {
  await deleteObjects({ s3 }, ArchiveBucket, await keysUnder({ s3 }, ArchiveBucket, ''));
}
