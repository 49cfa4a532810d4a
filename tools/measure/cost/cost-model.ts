import { catalogue, type EventName, eventNames, isNotification } from '../../../lambda/events/catalogue.ts';
import type { EffectName } from '../../../lambda/events/definition.ts';
import { MEMORY_DAYS, SECRET_MAX_AGE } from '../../../lambda/limits.ts';
import { GIGABYTE } from '../../../lib/prices.ts';
import { archiveCosts } from './archive-cost.ts';
import type { Deployment } from './deployment.ts';
import {
  BUCKET_KEY_SHARE,
  DAYS_OF_A_MONTH,
  KILOBYTE,
  type LineItem,
  MONTH_SECONDS,
  paid,
  type Row,
} from './line-item.ts';
import type { LogBytes } from './log-bytes.ts';
import type { Workload } from './workload.ts';

export interface Costs {
  /** Costs that grow with the number of deliveries. */
  readonly deliveries: readonly LineItem[];
  /** Costs of a month without deliveries. */
  readonly standing: readonly LineItem[];
}

/** Requests are charged in chunks of these sizes. Sources: as for the prices. */
const HTTP_API_CHUNK = 512 * KILOBYTE;
const SQS_CHUNK = 64 * KILOBYTE;

/** Assumed size of an oversize body: twice SQS's limit. */
const OVERSIZE_BYTES = 2 * 1024 * KILOBYTE;

/** How long oversize bodies are kept and notifications remembered. */
const MEMORY_MONTHS = MEMORY_DAYS / DAYS_OF_A_MONTH;

/** Approximate size of the names and values of the message attributes and the group id. */
const MESSAGE_ATTRIBUTES_BYTES = 400;

/** An idempotency item, with the 100 bytes that DynamoDB adds to each item. */
const NOTE_BYTES = 350;

/** Assumed number of shops, cast members and contacts, which stay until they are deleted. */
const STATE_ROWS = 1_000_000;
const STATE_ROW_BYTES = 700;

/** Approximate size of an answer with its headers. */
const ANSWER_BYTES = 500;

/**
 * Event pollers of an event source with a maximum concurrency, and how long each waits for a message. Source: Lambda
 * developer guide, "Configuring scaling behavior for SQS event source mappings".
 */
const POLLERS = 5;
const LONG_POLL_SECONDS = 20;

/**
 * SNS reuses a data key for 5 minutes for each topic and publisher, and makes two calls for it. Source: SNS developer
 * guide, "Managing Amazon SNS encryption keys and costs".
 */
const DATA_KEY_SECONDS = 5 * 60;
const CALLS_PER_DATA_KEY = 2;

/**
 * A queue's data key is generated and verified for its sender, and decrypted for its receiver. Source: SQS developer
 * guide, "Estimating AWS KMS costs".
 */
const CALLS_PER_QUEUE_DATA_KEY = 3;

/**
 * After this time without activity, DynamoDB requests a table's key again. Source: DynamoDB developer guide, "DynamoDB
 * encryption at rest usage notes". The most expensive case is assumed: every caller becomes idle each time.
 */
const TABLE_KEY_SECONDS = 5 * 60;

/** Seconds between a receiver's reads of the secret. On the day after a rotation there are twice as many calls. */
const SECRET_SECONDS = SECRET_MAX_AGE / 1000;

/** Share of stored logs that is left after compression, as assumed by the AWS Pricing Calculator. */
const LOG_COMPRESSION = 0.15;

/**
 * Log lines of Lambda itself about a successful invocation, if they are enabled. Source: Lambda developer guide,
 * "Configuring JSON and plain text log formats".
 */
const PLATFORM_LINES = [
  '{"time":"2026-01-31T09:00:00.000Z","type":"platform.start","record":{"requestId":"8f507cfc-xmpl-4697-b07a-ac58fc914c95","version":"123"}}\n',
  '{"time":"2026-01-31T09:00:00.000Z","type":"platform.report","record":{"requestId":"8f507cfc-xmpl-4697-b07a-ac58fc914c95","metrics":{"durationMs":15.74,"billedDurationMs":16,"memorySizeMB":512,"maxMemoryUsedMB":116},"status":"success"}}\n',
];
const PLATFORM_BYTES = Buffer.byteLength(PLATFORM_LINES.join(''));
/** Bytes that tracing adds to these lines. */
const PLATFORM_TRACE_BYTES =
  ',"tracing":{"spanId":"3b6a3a2d0f1e4c5b","type":"X-Amzn-Trace-Id","value":"Root=1-5759e988-bd862e3fe1be46a994272793;Parent=3b6a3a2d0f1e4c5b;Sampled=1"}'
    .length * PLATFORM_LINES.length;

/** The line items of a month: every request that this code and AWS make for the deliveries. */
export function costs(workload: Workload, deployment: Deployment, logs: LogBytes): Costs {
  const { deliveries, payloadBytes, batch, oversizeShare, mix } = workload;
  const oversize = deliveries * oversizeShare;
  const ordinary = deliveries - oversize;
  const batches = deliveries / batch;
  const shareOf = (effect: EffectName) => eventsWith(effect).reduce((sum, name) => sum + mix[name], 0);
  const notifications = deliveries * (shareOf('chat') + shareOf('review'));
  const gigabytes = (megabytes: number) => (workload.memoryMegabytes ?? megabytes) / 1024;

  const messageBytes = payloadBytes + MESSAGE_ATTRIBUTES_BYTES;
  const meanMessageBytes = messageBytes * (1 - oversizeShare) + MESSAGE_ATTRIBUTES_BYTES * oversizeShare;
  const messageRequests =
    ordinary * Math.ceil(messageBytes / SQS_CHUNK) +
    oversize +
    // A receive is charged by the chunks of its whole answer.
    batches * Math.ceil((batch * meanMessageBytes) / SQS_CHUNK) +
    // Deleting a batch is one request.
    batches;

  const platformBytes = deployment.platformLogs
    ? PLATFORM_BYTES + (deployment.tracing ? PLATFORM_TRACE_BYTES : 0)
    : 0;
  const logGigabytes =
    (deliveries * (logs.receiver + logs.consumer + deployment.accessLogBytes) +
      (deliveries + batches) * platformBytes) /
    GIGABYTE;

  const byEvent = (units: (name: EventName) => number) =>
    deliveries * eventNames.reduce((sum, name) => sum + mix[name] * units(name), 0);

  const published = eventNames.filter(isNotification).map((name) => deliveries * mix[name]);
  /** Calls for a key that each event reuses for this many seconds. Never more calls than events. */
  const keyCalls = (events: readonly number[], seconds: number, calls: number) =>
    events.reduce((sum, times) => sum + calls * Math.min(times, MONTH_SECONDS / seconds), 0);
  const { queueDataKeySeconds } = deployment;
  const isEncrypted = queueDataKeySeconds !== undefined;
  const arrived = eventNames.map((name) => deliveries * mix[name]);
  const receiversBusy = (deliveries / MONTH_SECONDS) * (workload.receiverMilliseconds / 1000);
  const secretReads = Math.max(1, Math.ceil(receiversBusy)) * (MONTH_SECONDS / SECRET_SECONDS);

  return {
    deliveries: paid([
      deployment.gateway === 'rest'
        ? ['API Gateway', 'requests', deliveries, 'restApiRequest']
        : [
            'API Gateway',
            'requests',
            ordinary * Math.ceil(payloadBytes / HTTP_API_CHUNK) +
              oversize * Math.ceil(OVERSIZE_BYTES / HTTP_API_CHUNK),
            'httpApiRequest',
          ],
      ['AWS WAF', 'requests', deployment.firewallRules === undefined ? 0 : deliveries, 'wafRequest'],
      ['Lambda', 'receiver: invocations', deliveries, 'lambdaRequest'],
      [
        'Lambda',
        'receiver: GB-seconds',
        deliveries * (workload.receiverMilliseconds / 1000) * gigabytes(deployment.receiver.memoryMegabytes),
        'lambdaGigabyteSecondArm',
      ],
      ['Lambda', 'consumers: invocations', batches, 'lambdaRequest'],
      [
        'Lambda',
        'consumers: GB-seconds',
        deployment.consumers.reduce(
          (sum, { event, memoryMegabytes }) => sum + batches * mix[event] * gigabytes(memoryMegabytes),
          0,
        ) *
          (workload.consumerMilliseconds / 1000),
        'lambdaGigabyteSecondArm',
      ],
      ['SQS', 'send, receive, delete', messageRequests, 'sqsRequest'],
      ['SQS', 'the same, fair queues', messageRequests, 'sqsFairQueueRequest'],
      [
        'DynamoDB',
        'write units',
        byEvent((name) => {
          const { table, index } = writeUnits(catalogue[name].effect, payloadBytes);
          return table + index;
        }),
        'dynamodbWriteUnit',
      ],
      ...stored(
        'DynamoDB',
        `idempotency records, ${MEMORY_DAYS} days`,
        notifications * MEMORY_MONTHS * NOTE_BYTES,
      ),
      ['SNS', 'publishes', notifications, 'snsPublish'],
      ['SNS', 'to one chat room for each topic', notifications, 'snsHttps'],
      ['SNS', 'reviews by e-mail', deliveries * shareOf('review') * workload.reviewEmails, 'snsEmail'],
      [
        'KMS',
        'data keys of the topics',
        keyCalls(published, DATA_KEY_SECONDS, CALLS_PER_DATA_KEY),
        'kmsRequest',
      ],
      [
        'KMS',
        'data keys of the queues',
        isEncrypted ? keyCalls(arrived, queueDataKeySeconds, CALLS_PER_QUEUE_DATA_KEY) : 0,
        'kmsRequest',
      ],
      ['KMS', 'keys of the tables', isEncrypted ? keyCalls(arrived, TABLE_KEY_SECONDS, 1) : 0, 'kmsRequest'],
      ['KMS', 'key of the bucket', isEncrypted ? 2 * oversize * BUCKET_KEY_SHARE : 0, 'kmsRequest'],
      ['CloudWatch', 'logs: GB written', logGigabytes, 'logGigabyte'],
      [
        'CloudWatch',
        `logs: GB kept ${deployment.logRetentionDays} days`,
        logGigabytes * LOG_COMPRESSION * (deployment.logRetentionDays / DAYS_OF_A_MONTH),
        'logStoredGigabyteMonth',
      ],
      ['X-Ray', 'traces', deployment.tracing ? traces(deliveries, deployment.tracing) : 0, 'xrayTrace'],
      ['S3', 'oversize bodies: writes', oversize, 's3Put'],
      ['S3', 'oversize bodies: reads', oversize, 's3Get'],
      [
        'S3',
        `oversize bodies: GB kept ${MEMORY_DAYS} days`,
        (oversize * OVERSIZE_BYTES * MEMORY_MONTHS) / GIGABYTE,
        's3GigabyteMonth',
      ],
      [
        'CloudFront',
        'invalidation paths',
        workload.cloudFront ? deliveries * shareOf('shop-cache') : 0,
        'cloudFrontInvalidationPath',
      ],
      ...archiveCosts(workload, deployment),
      ['Data transfer', 'answers, GB', (deliveries * ANSWER_BYTES) / GIGABYTE, 'dataOutGigabyte'],
    ]),
    standing: paid([
      [
        'SQS',
        'idle long polling of the event sources',
        (deployment.consumers.length * POLLERS * MONTH_SECONDS) / LONG_POLL_SECONDS,
        'sqsRequest',
      ],
      ['CloudWatch', 'alarms, by metric', deployment.alarmMetrics, 'alarmMonth'],
      ['CloudWatch', 'composite alarms', deployment.compositeAlarms, 'compositeAlarmMonth'],
      ['CloudWatch', 'dashboards', deployment.dashboards, 'dashboardMonth'],
      ['AWS WAF', 'web ACL', deployment.firewallRules === undefined ? 0 : 1, 'wafAclMonth'],
      ['AWS WAF', 'rules', deployment.firewallRules ?? 0, 'wafRuleMonth'],
      ['CloudWatch', 'custom metrics, without failures', deployment.customMetrics, 'metricMonth'],
      ['Secrets Manager', 'secrets', deployment.secrets, 'secretMonth'],
      ['Secrets Manager', 'reads by warm receivers', secretReads, 'secretsManagerCall'],
      ['KMS', 'keys', deployment.keys, 'kmsKeyMonth'],
      ['KMS', 'reads of a secret', isEncrypted && deployment.secrets > 0 ? secretReads : 0, 'kmsRequest'],
      ...stored('DynamoDB', `${STATE_ROWS.toLocaleString('en-US')} items`, STATE_ROWS * STATE_ROW_BYTES),
    ]),
  };
}

/** A table's storage and its point-in-time recovery. */
function stored(service: string, item: string, bytes: number): Row[] {
  const size = bytes / GIGABYTE;
  return [
    [service, `${item}: GB`, size, 'dynamodbGigabyteMonth'],
    [service, `${item}: GB recoverable`, size, 'dynamodbRecoveryGigabyteMonth'],
  ];
}

/**
 * Traces of a month: the first deliveries of each second and a share of the others, at random arrivals. Each also
 * causes a trace of the consumer that the queue links to it.
 */
function traces(deliveries: number, { rate, reservoir }: NonNullable<Deployment['tracing']>): number {
  const mean = deliveries / MONTH_SECONDS;
  // Poisson distribution: the probability of exactly this many arrivals in a second, and of at most this many.
  let probability = Math.exp(-mean);
  let cumulative = 0;
  let first = 0;
  for (let count = 0; count < reservoir; count += 1) {
    cumulative += probability;
    probability *= mean / (count + 1);
    first += MONTH_SECONDS * (1 - cumulative);
  }
  return 2 * (first + rate * (deliveries - first));
}

/** Attributes of an item besides the partner's data, with their names. */
const ROW_OVERHEAD_BYTES = 250;

/** Assumed size of a cached shop, which another service writes (`docs/decisions.md`). */
const CACHED_SHOP_BYTES = 3 * KILOBYTE;

/** DynamoDB write units of an effect, by place, because they are charged separately. */
interface WriteUnits {
  readonly table: number;
  /** In the index of the cast. 0 for other effects. */
  readonly index: number;
}

/**
 * The write units of one event with an effect. A write is rounded up to 1 KB, is charged even if its condition fails,
 * and an update counts the larger of the item before and after it. Source: DynamoDB developer guide, "DynamoDB read and
 * write operations".
 */
export function writeUnits(effect: EffectName, payloadBytes: number): WriteUnits {
  const row = Math.ceil((payloadBytes + ROW_OVERHEAD_BYTES) / KILOBYTE);
  const byEffect: Record<EffectName, WriteUnits> = {
    // An invalidation removes the cached shop, so that item counts.
    'shop-cache': { table: Math.ceil((CACHED_SHOP_BYTES + ROW_OVERHEAD_BYTES) / KILOBYTE), index: 0 },
    cast: { table: row, index: row },
    'contact-partner': { table: row, index: 0 },
    // Idempotency: one write when the work starts, and one when it is done.
    chat: { table: 2, index: 0 },
    review: { table: 2, index: 0 },
  };
  return byEffect[effect];
}

export function eventsWith(effect: EffectName): EventName[] {
  return eventNames.filter((event) => catalogue[event].effect === effect);
}

export function tableOf(event: EventName): string {
  return isNotification(event) ? 'idempotency' : catalogue[event].effect;
}
