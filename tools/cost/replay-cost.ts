import { catalogue, type EffectName, type EventName } from '../../lambda/contract/catalogue.ts';
import type { ReplayMode } from '../../lambda/queue/replay.ts';
import { type LineItem, paid } from './line-item.ts';
import { defaultWorkload } from './workload.ts';
import { isNotification, writeUnits } from './write-units.ts';

/** A replay, as far as it decides what it costs. */
export interface ReplayLoad {
  /** Messages by event. */
  readonly messages: ReadonlyMap<EventName, number>;
  /** Mean size of their bodies. */
  readonly bodyBytes: number;
  /** Messages whose payload is in the payload bucket. */
  readonly oversize: number;
  /** Objects of the archive that are read: once for the plan, once for the replay. */
  readonly objects: number;
  /** Of these objects, as they are stored. */
  readonly archiveBytes: number;
  /** How long it sends. */
  readonly seconds: number;
  readonly mode: ReplayMode;
  readonly notify: boolean;
}

const KILOBYTE = 1024;
const GIGABYTE = 1024 ** 3;

/** Each begun chunk is paid for. Sources: as the prices'. */
const SQS_CHUNK = 64 * KILOBYTE;
const FIREHOSE_CHUNK = 5 * KILOBYTE;

/** Names and values of the attributes and the group id, about. */
const ATTRIBUTES_BYTES = 500;

const MESSAGES_OF_A_BATCH = 10;

/** Seconds between two writes of the replay's state (`tools/stage/replay/carry-out.ts`). */
const STATE_SECONDS = 3;

/** What every function has by default (`lib/config.ts`). */
const MEMORY_GIGABYTES = 0.5;

/** What a consumer logs of a message, about (`log-bytes.ts`), with the line that counts `Replayed`. */
const LOG_BYTES = 620;

/** Write units of a second note of idempotency: that people are being told again, and that they were. */
const NOTE_UNITS = 2;

/**
 * What a replay costs, about, the paths of CloudFront aside: as if a consumer took its messages one by one, no two records
 * were of the same event, and the operator's machine were not in AWS. What fails and is tried again comes on top.
 */
export function replayCosts(load: ReplayLoad): LineItem[] {
  const { messages, oversize, objects, archiveBytes } = load;
  const total = sum(messages.values());
  const told = load.notify ? sum(each(messages, (event, count) => (isNotification(event) ? count : 0))) : 0;
  const messageBytes = load.bodyBytes + ATTRIBUTES_BYTES;
  const batches = Math.ceil(total / MESSAGES_OF_A_BATCH);
  const requests =
    batches * Math.ceil((MESSAGES_OF_A_BATCH * messageBytes) / SQS_CHUNK) +
    total * Math.ceil(messageBytes / SQS_CHUNK) +
    total;
  const writes = each(messages, (event, count) => {
    const { table, index } = writeUnits(catalogue[event].effect, load.bodyBytes);
    return count * (table + index);
  });
  return paid([
    ['SQS', 'send, receive, delete', requests, 'sqsRequest'],
    ['SQS', 'the same, fair queues', requests, 'sqsFairQueueRequest'],
    ['Lambda', 'consumers: invocations', total, 'lambdaRequest'],
    [
      'Lambda',
      'consumers: GB-seconds',
      total * (defaultWorkload.consumerMilliseconds / 1000) * MEMORY_GIGABYTES,
      'lambdaGigabyteSecondArm',
    ],
    ['DynamoDB', 'write units', sum(writes) + told * NOTE_UNITS, 'dynamodbWriteUnit'],
    ['SNS', 'publishes', told, 'snsPublish'],
    ['SNS', 'to one chat room for each topic', told, 'snsHttps'],
    // A replay's records have no body.
    ['Firehose', 'records: GB', (total * FIREHOSE_CHUNK) / GIGABYTE, 'firehoseGigabyte'],
    ['S3', 'objects and oversize bodies: reads', 2 * (objects + oversize), 's3Get'],
    ['S3', 'objects to the operator: GB out', (2 * archiveBytes) / GIGABYTE, 'dataOutGigabyte'],
    ['S3', 'state of the replay: writes', Math.ceil(load.seconds / STATE_SECONDS), 's3Put'],
    ['CloudWatch', 'logs: GB written', (total * LOG_BYTES) / GIGABYTE, 'logGigabyte'],
  ]);
}

/** Paths that a repair invalidates anew at most, where the stage has a distribution. */
export function invalidatedPaths({ messages, mode }: Pick<ReplayLoad, 'messages' | 'mode'>): number {
  if (mode !== 'repair') return 0;
  return sum(
    each(messages, (event, count) => {
      const effect: EffectName = catalogue[event].effect;
      return effect === 'shop-cache' ? count : 0;
    }),
  );
}

const each = (messages: ReplayLoad['messages'], count: (event: EventName, messages: number) => number) =>
  [...messages].map(([event, of]) => count(event, of));

const sum = (counts: Iterable<number>) => [...counts].reduce((total, count) => total + count, 0);
