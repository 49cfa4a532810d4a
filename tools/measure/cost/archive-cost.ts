import { archiveLine } from '../../../lambda/archive/record.ts';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { FIREHOSE_CHUNK, GIGABYTE } from '../../../lib/prices.ts';
import type { Deployment } from './deployment.ts';
import { BUCKET_KEY_SHARE, DAYS_OF_A_MONTH, KILOBYTE, MONTH_SECONDS, type Row } from './line-item.ts';
import type { Workload } from './workload.ts';

const TERABYTE = 1024 ** 4;

/** Size of a record without its body. Values have their usual length. */
const RECORD_BYTES = Buffer.byteLength(
  archiveLine({
    eventId: '0'.repeat(64),
    event: 'shop.updated',
    shopId: '0'.repeat(24),
    receivedAt: '2026-01-31T09:00:00.000Z',
    requestId: 'PK5UXdR0Mm3MlFE=',
    timestamp: '2026-01-31T09:00:00.000000000Z',
    outcome: 'Processed',
    attempt: 1,
    settledAt: '2026-01-31T09:00:00.000Z',
    body: '',
  }),
);

/** Growth of a body when it becomes a JSON string: each `"` gets a `\`. Measured with `events/`. */
const ESCAPED = 1.11;

/**
 * Compressed size as a share. Records of `events/` compress to between a fifth and a third, but their texts repeat
 * more.
 */
const COMPRESSED = 0.35;

/** Milliseconds of a consumer's call that archives its batch. Assumed, like those in `workload.ts`. */
const CALL_MILLISECONDS = 10;

/**
 * KMS calls of a stream with a customer managed key, per five minutes. AWS does not document how long Firehose reuses a
 * data key. Assumed as for a queue: it is generated, verified, and decrypted for S3.
 */
const KEY_SECONDS = 5 * 60;
const CALLS_PER_KEY = 3;

/** Minimum charge of a query. Source: Amazon Athena pricing. */
const MIN_SCANNED = 10 * KILOBYTE ** 2;

const WEEK_DAYS = 7;
const WEEK_HOURS = WEEK_DAYS * 24;

/** Bytes of a record before compression. */
export const recordBytes = (payloadBytes: number): number => RECORD_BYTES + ESCAPED * payloadBytes;

/** The archive's line items for a month of deliveries. Empty without an archive. */
export function archiveCosts(workload: Workload, deployment: Deployment): Row[] {
  const { archive, queueDataKeySeconds } = deployment;
  if (archive === undefined) return [];
  const { deliveries, payloadBytes, mix, oversizeShare } = workload;
  const bytes = recordBytes(payloadBytes) * (1 - oversizeShare) + RECORD_BYTES * oversizeShare;
  const chunks = Math.ceil(recordBytes(payloadBytes) / FIREHOSE_CHUNK) * (1 - oversizeShare) + oversizeShare;
  const objects = sum(eventNames.map((event) => objectsOf(deliveries * mix[event], bytes, archive)));
  const compressed = deliveries * bytes * COMPRESSED;
  return [
    [
      'Firehose',
      'records, rounded up to 5 KB: GB',
      (deliveries * chunks * FIREHOSE_CHUNK) / GIGABYTE,
      'firehoseGigabyte',
    ],
    [
      'Lambda',
      'consumers, to archive: GB-seconds',
      callSeconds(workload, deployment),
      'lambdaGigabyteSecondArm',
    ],
    ['S3', `archive: objects of ${archive.bufferSeconds} s`, objects, 's3Put'],
    [
      'S3',
      `archive: GB kept ${archive.days} days`,
      (compressed * (archive.days / DAYS_OF_A_MONTH)) / GIGABYTE,
      's3GigabyteMonth',
    ],
    ...(queueDataKeySeconds === undefined ? [] : keyCosts(workload, objects)),
    ...questionCosts(workload.questions, { compressed, objects }),
  ];
}

/** GB-seconds of the consumers' calls: one call for each batch. */
function callSeconds({ deliveries, mix, batch, memoryMegabytes: all }: Workload, { consumers }: Deployment) {
  const gigabytes = consumers.map(
    ({ event, memoryMegabytes }) => mix[event] * ((all ?? memoryMegabytes) / 1024),
  );
  return (deliveries / batch) * sum(gigabytes) * (CALL_MILLISECONDS / 1000);
}

function keyCosts({ deliveries, mix }: Workload, objects: number): Row[] {
  const keys = eventNames.map((event) => Math.min(deliveries * mix[event], MONTH_SECONDS / KEY_SECONDS));
  return [
    ['KMS', 'data keys of the archive', sum(keys) * CALLS_PER_KEY, 'kmsRequest'],
    ['KMS', 'key of the archive’s bucket', objects * BUCKET_KEY_SHARE, 'kmsRequest'],
  ];
}

/** @param month bytes added to the archive in a month */
function questionCosts(
  questions: number,
  month: { readonly compressed: number; readonly objects: number },
): Row[] {
  const week = WEEK_DAYS / DAYS_OF_A_MONTH;
  const scanned = Math.max(MIN_SCANNED, month.compressed * week);
  return [
    ['Athena', 'scanned: TB', (questions * scanned) / TERABYTE, 'athenaTerabyte'],
    ['S3', 'archive: partitions that queries list', questions * eventNames.length * WEEK_HOURS, 's3List'],
    ['S3', 'archive: objects that queries read', questions * month.objects * week, 's3Get'],
  ];
}

/**
 * Objects of an event in a month: one for each interval with a record, at random arrivals, or more if an interval fills
 * more than one object.
 */
function objectsOf(
  records: number,
  bytes: number,
  { bufferSeconds, bufferMegabytes }: NonNullable<Deployment['archive']>,
): number {
  const intervals = MONTH_SECONDS / bufferSeconds;
  const withRecords = intervals * (1 - Math.exp(-records / intervals));
  return Math.max(withRecords, (records * bytes) / (bufferMegabytes * KILOBYTE ** 2));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
