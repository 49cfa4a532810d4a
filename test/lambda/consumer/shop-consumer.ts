import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { SQSRecord } from 'aws-lambda';
import { type Fault, InjectedFaults } from 'local-aws/faults';
import { sqsEvent } from '../../../events/samples.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import { ArchiveBucket, type ArchivedRecord } from '../../support/archive.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type ConsumerHandler,
  consumerContext,
  functionEnvironment,
} from '../../support/function-environment.ts';
import { Queues } from '../../support/queues.ts';
import { Tables } from '../../support/tables.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import { captureInTests, FunctionLines } from '../function-lines.ts';

// The consumer of shop.updated, loaded into the process of a test file, with an AWS of its own and messages to process.

export const RECEIVED_AT = '2026-01-31T09:00:00.500Z';
const TIMESTAMP = '2026-01-31T09:00:00Z';

export const faults = new InjectedFaults();
export const lines = new FunctionLines();
export let aws: TestAws;
let archive: ArchiveBucket;
export let queues: Queues;
let tables: Tables;
export let handler: ConsumerHandler;
let tests = 0;
let loads = 0;

beforeAll(async () => {
  aws = await startTestAws(faults);
  archive = new ArchiveBucket(aws.outputs.ArchiveBucket, aws.operator);
  queues = new Queues(aws.operator);
  tables = new Tables(aws.operator);
  Object.assign(process.env, functionEnvironment('shop-updated', aws));
  handler = await load();
});
captureInTests(lines, faults);
beforeEach(() => {
  tests += 1;
});
afterAll(() => aws.close());

/**
 * Loads the consumer of shop.updated again.
 * @param environment overrides the template's
 */
export async function load(environment: NodeJS.ProcessEnv = {}): Promise<ConsumerHandler> {
  const before = { ...process.env };
  Object.assign(process.env, environment);
  loads += 1;
  const module = await import(`../../../lambda/events/shop-updated/consumer.ts?load=${loads}`);
  Object.assign(process.env, before);
  return module.handler;
}

/** A name that only this test uses. */
export const own = (name: string | number) => `test-${tests}-${name}`;

export const shop = (name: string | number, timestamp = TIMESTAMP) => ({
  event: 'shop.updated',
  data: { shop_id: own(name) },
  timestamp,
});

interface MessageOptions {
  readonly attempt?: number;
  readonly receivedAt?: string;
  readonly replay?: string;
  readonly payloadKey?: string;
}

export function message(
  payload: object | string,
  { attempt = 1, receivedAt = RECEIVED_AT, ...more }: MessageOptions = {},
): SQSRecord {
  const [sample] = sqsEvent({ event: '', name: '', payload: { timestamp: TIMESTAMP } }).Records as [
    SQSRecord,
  ];
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const eventId = sha256Hex(body);
  const attributes = { event: 'shop.updated', eventId, requestId: `request-${eventId}`, receivedAt, ...more };
  return {
    ...sample,
    messageId: `message-${eventId}`,
    body,
    attributes: { ...sample.attributes, ApproximateReceiveCount: String(attempt) },
    messageAttributes: Object.fromEntries(
      Object.entries(attributes).map(([name, stringValue]) => [name, { dataType: 'String', stringValue }]),
    ),
  };
}

export const inject = (fault: Omit<Fault, 'callers'>) => faults.inject({ ...fault, callers: 'everyone' });

/**
 * Processes a batch.
 * @returns the messages that come back
 */
export async function consume(batch: readonly SQSRecord[], consumer = handler, context = consumerContext) {
  const { batchItemFailures } = await consumer({ Records: [...batch] }, context);
  const ids = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  return batch.filter(({ messageId }) => ids.includes(messageId));
}

/** The archive's record of a message, read after the faults have ended. */
export async function recordOf({ body }: SQSRecord, outcome?: string): Promise<ArchivedRecord> {
  faults.clear();
  return eventually(async () =>
    (await archive.records()).find(
      (record) => record.eventId === sha256Hex(body) && (outcome ?? record.outcome) === record.outcome,
    ),
  );
}

export const linesOf = ({ messageId }: SQSRecord) =>
  lines.logged.filter((line) => line.messageId === messageId);
export const messagesOf = (record: SQSRecord) => linesOf(record).map((line) => line.message);

export const deadLetterOf = ({ body }: SQSRecord) =>
  queues.take(aws.outputs.ShopUpdatedDeadLetterQueueUrl, ({ Body }) => Body === body);

export const rowOf = (name: string | number) =>
  tables.get(aws.outputs.ShopCacheTable, { shop_id: own(name) });

export const storePayload = (Key: string, Body: string) =>
  new S3Client({ ...aws.operator, forcePathStyle: true }).send(
    new PutObjectCommand({ Bucket: aws.outputs.PayloadBucket, Key, Body }),
  );
