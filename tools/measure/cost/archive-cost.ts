import { archiveLine } from '../../../lambda/archive/record.ts';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import type { Deployment } from './deployment.ts';
import {
  BUCKET_KEY_SHARE,
  DAYS_OF_A_MONTH,
  GIGABYTE,
  KILOBYTE,
  MONTH_SECONDS,
  type Row,
} from './line-item.ts';
import type { Workload } from './workload.ts';

const TERABYTE = 1024 ** 4;

/** Each begun chunk of a record is paid for as one. Source: Firehose's page of prices. */
const FIREHOSE_CHUNK = 5 * KILOBYTE;

/** A record without its body, its values as long as they are. */
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

/** Bytes of the partner's JSON as a string in JSON, for each of it: a `\` before each `"`. Measured with `events/`. */
const ESCAPED = 1.11;

/** Share of the records that gzip leaves: of those of `events/` a fifth to a third, whose texts repeat more. */
const COMPRESSED = 0.35;

/** Milliseconds that a consumer runs longer for the call that archives its batch: assumed, as those of `workload.ts`. */
const CALL_MILLISECONDS = 10;

/**
 * Calls for KMS of a stream under a key of one's own, in five minutes. AWS does not say how long Firehose uses a data key:
 * taken as a queue does, for whom it is generated and verified, and for S3 decrypted.
 */
const KEY_SECONDS = 5 * 60;
const CALLS_PER_KEY = 3;

/** What a query is charged for at least. Source: Athena's page of prices. */
const LEAST_SCANNED = 10 * KILOBYTE ** 2;

const WEEK_DAYS = 7;
const WEEK_HOURS = WEEK_DAYS * 24;

/** Bytes of a record before compression, of a body of this size. */
export const recordBytes = (payloadBytes: number): number => RECORD_BYTES + ESCAPED * payloadBytes;

/** What a month of deliveries costs in the archive; nothing where none is kept. */
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
      'records, each begun 5 KB: GB',
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

/** GB-seconds of the consumers' calls, one for each batch. */
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

/** @param month what a month leaves in the archive */
function questionCosts(
  questions: number,
  month: { readonly compressed: number; readonly objects: number },
): Row[] {
  const week = WEEK_DAYS / DAYS_OF_A_MONTH;
  const scanned = Math.max(LEAST_SCANNED, month.compressed * week);
  return [
    ['Athena', 'scanned: TB', (questions * scanned) / TERABYTE, 'athenaTerabyte'],
    ['S3', 'archive: partitions that queries list', questions * eventNames.length * WEEK_HOURS, 's3List'],
    ['S3', 'archive: objects that queries read', questions * month.objects * week, 's3Get'],
  ];
}

/**
 * Objects of an event in a month: one for each interval in which something came, where arrivals are random, or more where
 * an interval brings more than an object holds.
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
