import { catalogue, type EventName, eventNames, isNotification } from '../../lambda/events/catalogue.ts';
import type { EffectName } from '../../lambda/events/definition.ts';
import {
  ARCHIVE_BUFFER_SECONDS,
  DATA_KEY_REUSE_SECONDS,
  MEMORY_DAYS,
  SECRET_MAX_AGE,
} from '../../lambda/limits.ts';
import type { Deployment } from './deployment.ts';
import { prices } from './prices.ts';
import { defaultWorkload, type Workload } from './workload.ts';

/** US dollars a month, by service. */
type Bill = Readonly<Record<string, number>>;

export interface MonthlyCost {
  readonly deliveries: Bill;
  readonly standing: Bill;
}

const KILOBYTE = 1024;
const GIGABYTE = 2 ** 30;
const DAYS_OF_A_MONTH = 365.25 / 12;
const MONTH_SECONDS = DAYS_OF_A_MONTH * 24 * 60 * 60;

/** Requests are charged in chunks of these sizes. Sources: as for the prices. */
const HTTP_API_CHUNK = 512 * KILOBYTE;
const SQS_CHUNK = 64 * KILOBYTE;
const FIREHOSE_CHUNK = 5 * KILOBYTE;

/** Approximate sizes, in bytes. */
const SIZE = {
  /** Names and values of the message attributes, and the group id. */
  messageAttributes: 400,
  /** An idempotency item, with the 100 bytes that DynamoDB adds to each item. */
  idempotencyItem: 350,
  /** An item of a shop, cast member or contact. */
  item: 700,
  /** Attributes of an item besides the partner's data, with their names. */
  itemOverhead: 250,
  /** Assumed for a cached shop, which another service writes (`docs/decisions.md`). */
  cachedShop: 3 * KILOBYTE,
  /** An answer with its headers. */
  answer: 500,
};

/** Bytes of the log lines for a delivery. A test compares those of the functions with the real lines. */
export const LOG_BYTES = { receiver: 243, consumer: 341, access: 237 };
/** Share of stored logs that is left after compression, as assumed by the AWS Pricing Calculator. */
const LOG_COMPRESSION = 0.15;

/** Assumed number of shops, cast members and contacts, which stay until they are deleted. */
const ITEMS = 1_000_000;

/** A record of the archive. Tests compare it with those of `events/`. */
export const ARCHIVE_SIZE = {
  /** Bytes of a record without the body. */
  record: 337,
  /** Growth of a body when it becomes a JSON string: each `"` gets a `\`. */
  escaped: 1.11,
  /**
   * Share of the bytes that is left after compression. With the samples in `events/` it is less, because their texts
   * repeat.
   */
  compressed: 0.35,
};

/**
 * Event pollers of an event source with a maximum concurrency, and how long each waits for a message. Source: Lambda
 * developer guide, "Configuring scaling behavior for SQS event source mappings".
 */
const POLLERS = 5;
const LONG_POLL_SECONDS = 20;

/**
 * KMS calls for each data key, which is assumed to last `DATA_KEY_REUSE_SECONDS`: of a topic (SNS developer guide,
 * "Managing Amazon SNS encryption keys and costs"), and with `encryption` for each event of its queue (3; SQS developer
 * guide, "Estimating AWS KMS costs"), its table (1) and its delivery stream (3, which AWS does not document).
 */
const CALLS_PER_TOPIC_KEY = 2;
const CALLS_PER_EVENT_KEYS = 7;

/**
 * Share of deliveries that X-Ray traces: Lambda's default. Source: Lambda developer guide, "Visualize Lambda function
 * invocations using AWS X-Ray".
 */
const TRACED_SHARE = 0.05;

/**
 * Monthly costs by service: for every request that this code and AWS make for the deliveries of a month, and the
 * charges of a month without any deliveries.
 */
export function monthlyCost(deployment: Deployment, workload: Workload = defaultWorkload): MonthlyCost {
  return { deliveries: deliveryBill(deployment, workload), standing: standingBill(deployment) };
}

export const totalOf = (bill: Bill): number => sum(Object.values(bill));

/** A table by service: the charges for the deliveries, and the monthly charges without any. */
export function costTable(deployment: Deployment, workload: Workload): string[][] {
  const bills = [deliveryBill(deployment, workload), standingBill(deployment)];
  const services = [...new Set(bills.flatMap((bill) => Object.keys(bill)))];
  const row = (name: string, of: (bill: Bill) => number) => [name, ...bills.map((one) => of(one).toFixed(2))];
  return [
    ['Service', `${workload.deliveries.toLocaleString('en')} deliveries`, 'Standing'],
    ...services
      .map((service) => row(service, (bill) => bill[service] ?? 0))
      .filter(([, ...dollars]) => dollars.some((amount) => amount !== '0.00')),
    row('Sum', totalOf),
  ];
}

function deliveryBill(deployment: Deployment, workload: Workload): Bill {
  const { deliveries, payloadBytes, mix } = workload;
  const { gateway, waf, tracing, reviewEmails, cloudFront } = deployment;
  const eventsWith = (...effects: readonly EffectName[]) =>
    deliveries * sum(eventNames.map((name) => (effects.includes(catalogue[name].effect) ? mix[name] : 0)));
  const notifications = eventsWith('chat', 'review');
  const httpApi = Math.ceil(payloadBytes / HTTP_API_CHUNK) * prices.httpApiRequest;
  return {
    'API Gateway': deliveries * (gateway === 'rest' ? prices.restApiRequest : httpApi),
    'AWS WAF': waf ? deliveries * prices.wafRequest : 0,
    Lambda: lambdaCost(deployment, workload),
    SQS: sqsRequests(workload) * (prices.sqsRequest + prices.sqsFairQueueRequest),
    DynamoDB:
      deliveries * writeUnits(workload) * prices.dynamodbWriteUnit +
      storageCost(notifications * (MEMORY_DAYS / DAYS_OF_A_MONTH) * SIZE.idempotencyItem),
    // Each topic is assumed to have one chat channel.
    SNS:
      notifications * (prices.snsPublish + prices.snsHttps) +
      eventsWith('review') * reviewEmails.length * prices.snsEmail,
    KMS: keyCalls(deployment, workload) * prices.kmsRequest,
    CloudWatch: logCost(deployment, workload),
    'X-Ray': tracing ? traces(deliveries) * prices.xrayTrace : 0,
    CloudFront:
      eventsWith('shop-cache') * (cloudFront?.paths.length ?? 0) * prices.cloudFrontInvalidationPath,
    ...archiveBill(deployment, workload),
    'Data transfer': ((deliveries * SIZE.answer) / GIGABYTE) * prices.dataOutGigabyte,
  };
}

function standingBill(deployment: Deployment): Bill {
  const { waf, encryption, secrets, keys, alarms, dashboards, customMetrics } = deployment;
  // One receiver instance is assumed to be always running.
  const secretReads = MONTH_SECONDS / (SECRET_MAX_AGE / 1000);
  return {
    SQS: ((eventNames.length * POLLERS * MONTH_SECONDS) / LONG_POLL_SECONDS) * prices.sqsRequest,
    CloudWatch:
      alarms * prices.alarmMonth + dashboards * prices.dashboardMonth + customMetrics * prices.metricMonth,
    // A web ACL, its managed rule lists, and the rule that limits requests.
    'AWS WAF': waf ? prices.wafAclMonth + (waf.managedLists.length + 1) * prices.wafRuleMonth : 0,
    'Secrets Manager': secrets * prices.secretMonth + secretReads * prices.secretsManagerCall,
    KMS: keys * prices.kmsKeyMonth + (encryption ? secrets * secretReads * prices.kmsRequest : 0),
    DynamoDB: storageCost(ITEMS * SIZE.item),
  };
}

function lambdaCost({ receiver, events }: Deployment, workload: Workload): number {
  const { deliveries, batch, mix, receiverMs, consumerMs } = workload;
  const batches = deliveries / batch;
  const consumerMegabytes = sum(eventNames.map((name) => mix[name] * events[name].memory));
  const megabyteMs = deliveries * receiver.memory * receiverMs + batches * consumerMegabytes * consumerMs;
  const time = (megabyteMs / 1024 / 1000) * prices.lambdaGigabyteSecond;
  return (deliveries + batches) * prices.lambdaRequest + time;
}

/** Send, receive, delete. A receive is charged by the chunks of its whole answer. */
function sqsRequests({ deliveries, payloadBytes, batch }: Workload): number {
  const chunks = (messages: number) =>
    Math.ceil((messages * (payloadBytes + SIZE.messageAttributes)) / SQS_CHUNK);
  return deliveries * chunks(1) + (deliveries / batch) * (chunks(batch) + 1);
}

function logCost({ logRetentionDays }: Deployment, { deliveries }: Workload): number {
  const bytes = deliveries * sum(Object.values(LOG_BYTES));
  const months = logRetentionDays / DAYS_OF_A_MONTH;
  return (bytes / GIGABYTE) * (prices.logGigabyte + LOG_COMPRESSION * months * prices.logStoredGigabyteMonth);
}

/** Objects are assumed to end with an interval, not earlier because they are full. Deliveries arrive at random. */
function archiveBill({ archive }: Deployment, { deliveries, payloadBytes, mix }: Workload): Bill {
  const { days } = archive;
  if (days === 0) return { Firehose: 0, S3: 0 };
  const intervals = MONTH_SECONDS / ARCHIVE_BUFFER_SECONDS;
  const objects = sum(
    eventNames.map((name) => intervals * (1 - Math.exp((-deliveries * mix[name]) / intervals))),
  );
  const bytes = ARCHIVE_SIZE.record + ARCHIVE_SIZE.escaped * payloadBytes;
  const charged = deliveries * Math.ceil(bytes / FIREHOSE_CHUNK) * FIREHOSE_CHUNK;
  const storedBytes = deliveries * bytes * ARCHIVE_SIZE.compressed * (days / DAYS_OF_A_MONTH);
  return {
    Firehose: (charged / GIGABYTE) * prices.firehoseGigabyte,
    S3: objects * prices.s3Put + (storedBytes / GIGABYTE) * prices.s3GigabyteMonth,
  };
}

function keyCalls({ encryption }: Deployment, { deliveries, mix }: Workload): number {
  const dataKeys = (event: EventName) =>
    Math.min(deliveries * mix[event], MONTH_SECONDS / DATA_KEY_REUSE_SECONDS);
  const topicKeys = sum(eventNames.filter(isNotification).map(dataKeys));
  const eventKeys = encryption ? sum(eventNames.map(dataKeys)) : 0;
  return topicKeys * CALLS_PER_TOPIC_KEY + eventKeys * CALLS_PER_EVENT_KEYS;
}

/**
 * Traces of a month: the first delivery of each second and a share of the others, at random arrivals. Each also causes
 * a trace of the consumer.
 */
function traces(deliveries: number): number {
  const first = MONTH_SECONDS * (1 - Math.exp(-deliveries / MONTH_SECONDS));
  return 2 * (first + TRACED_SHARE * (deliveries - first));
}

/** Dollars a month for a table's storage and its point-in-time recovery. */
const storageCost = (bytes: number) =>
  (bytes / GIGABYTE) * (prices.dynamodbGigabyteMonth + prices.dynamodbRecoveryGigabyteMonth);

/**
 * DynamoDB write units of a delivery, on average. A write is rounded up to 1 KB, is charged even if its condition
 * fails, and an update counts the larger of the item before and after it. Source: DynamoDB developer guide, "DynamoDB
 * read and write operations".
 */
function writeUnits({ mix, payloadBytes }: Workload): number {
  const item = Math.ceil((payloadBytes + SIZE.itemOverhead) / KILOBYTE);
  const units: Readonly<Record<EffectName, number>> = {
    // An invalidation removes the cached shop, so that item counts.
    'shop-cache': Math.ceil((SIZE.cachedShop + SIZE.itemOverhead) / KILOBYTE),
    // Twice, because each cast member is also in the index by shop.
    cast: 2 * item,
    'contact-partner': item,
    // Two writes of the idempotency item: one when the work starts, and one when it is done.
    chat: 2,
    review: 2,
  };
  return sum(eventNames.map((name) => mix[name] * units[catalogue[name].effect]));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
