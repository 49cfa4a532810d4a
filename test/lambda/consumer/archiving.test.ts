import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { SQSRecord } from 'aws-lambda';
import { sqsEvent } from '../../../events/lambda-events.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import { Faults } from '../../../local/aws/faults.ts';
import type { FunctionDefinition } from '../../../local/functions/function-definition.ts';
import { LocalFunction } from '../../../local/functions/local-function.ts';
import type { LocalStack } from '../../../local/local-stack.ts';
import { ArchiveBucket, type ArchivedRecord } from '../../support/archive.ts';
import { eventually } from '../../support/eventually.ts';
import { Partner } from '../../support/partner.ts';
import { Queues } from '../../support/queues.ts';
import { Tables } from '../../support/tables.ts';
import { startTestStack } from '../../support/test-stack.ts';
import { FunctionLines } from '../function-lines.ts';

const RECEIVED_AT = '2026-01-31T09:00:00.500Z';
const TIMESTAMP = '2026-01-31T09:00:00Z';

const lines = new FunctionLines();
const faults = new Faults();
let stack: LocalStack;
let archive: ArchiveBucket;
let queues: Queues;
let tables: Tables;
let tests = 0;

beforeAll(async () => {
  stack = await startTestStack({
    faults,
    onLog: lines.add,
    environment: { FIRST_RETRY_DELAY_SECONDS: '0' },
  });
  archive = new ArchiveBucket(stack.outputs.ArchiveBucket, stack.operator);
  queues = new Queues(stack.operator);
  tables = new Tables(stack.operator);
});
beforeEach(() => {
  tests += 1;
});
afterEach(() => faults.clear());
afterAll(() => stack.close());

/** Names a thing of this test. */
const own = (name: string | number) => `test-${tests}-${name}`;

const shop = (name: string | number, timestamp = TIMESTAMP) => ({
  event: 'shop.updated',
  data: { shop_id: own(name) },
  timestamp,
});

const text = (stringValue: string) => ({ dataType: 'String' as const, stringValue });

/** A message of this test as a queue hands it over, as the receiver sent it. */
function message(
  payload: object | string,
  { attempt = 1, ...more }: { attempt?: number; replay?: string } = {},
) {
  const [sample] = sqsEvent({
    event: 'shop.updated',
    name: 'shop-updated',
    payload: { timestamp: TIMESTAMP },
  }).Records as [SQSRecord];
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const messageAttributes: SQSRecord['messageAttributes'] = {
    event: text('shop.updated'),
    eventId: text(sha256Hex(body)),
    requestId: text(`request-${sha256Hex(body)}`),
    receivedAt: text(RECEIVED_AT),
    ...(more.replay !== undefined && { replay: text(more.replay) }),
  };
  return {
    ...sample,
    messageId: own(sha256Hex(body)),
    body,
    attributes: { ...sample.attributes, ApproximateReceiveCount: String(attempt) },
    messageAttributes,
  };
}

/** Invokes a consumer with a batch. @returns the ids of the messages that come back */
async function consume(Records: SQSRecord[], consumer = 'shop-updated'): Promise<unknown[]> {
  const result = await stack.functions.get(consumer)?.function.invoke({ Records });
  if (!result?.ok) throw new Error(JSON.stringify(result));
  const { batchItemFailures } = result.payload as { batchItemFailures: { itemIdentifier: string }[] };
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

/** The archive's records of some events, once there are so many. */
const recordsOf = (bodies: readonly string[], count = bodies.length) =>
  eventually(async () => {
    const ids = new Set(bodies.map(sha256Hex));
    const found = (await archive.records()).filter(({ eventId }) => ids.has(eventId));
    return found.length >= count ? found : undefined;
  });

async function recordOf({ body }: { body: string }): Promise<ArchivedRecord> {
  const [record] = await recordsOf([body]);
  if (record === undefined) throw new Error('No record');
  return record;
}

const linesOf = (body: string, message?: string) =>
  lines.logged.filter(
    (line) => line.eventId === sha256Hex(body) && (message ?? line.message) === line.message,
  );

describe('a settled message is in the archive with all that is known of it', () => {
  const facts = ({ body }: { body: string }) => ({
    eventId: sha256Hex(body),
    event: 'shop.updated',
    receivedAt: RECEIVED_AT,
    requestId: `request-${sha256Hex(body)}`,
    attempt: 1,
    settledAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
    body,
  });

  test('Processed', async () => {
    const sent = message(shop('new'));
    expect(await consume([sent])).toEqual([]);
    expect(await recordOf(sent)).toEqual({
      ...facts(sent),
      outcome: 'Processed',
      shopId: own('new'),
      timestamp: '2026-01-31T09:00:00.000000000Z',
    });
  });

  test('Stale', async () => {
    const older = message(shop('old', '2026-01-31T08:00:00Z'), { attempt: 2 });
    await consume([message(shop('old'))]);
    await consume([older]);
    expect(await recordOf(older)).toMatchObject({ ...facts(older), outcome: 'Stale', attempt: 2 });
  });

  test.each([
    ['shop.updated', 'shop_id'],
    ['girl.created', 'girl_id'],
    ['girl.deleted', 'girl_id'],
    ['user.updated', 'user_id'],
    ['review.posted', 'review_id'],
  ])('Duplicate, of the same %s twice', async (event, id) => {
    const sent = message({ event, data: { [id]: own('twice') }, timestamp: TIMESTAMP });
    for (let times = 0; times < 2; times += 1) await consume([sent], event.replace('.', '-'));
    const found = await recordsOf([sent.body], 2);
    expect(found.map(({ outcome }) => outcome).toSorted()).toEqual(['Duplicate', 'Processed']);
    expect(found[0]).toMatchObject({ ...facts(sent), event });
    expect(found[0]?.shopId).toBe(id === 'shop_id' ? own('twice') : undefined);
  });

  test('DeadLettered, with what made it one', async () => {
    const sent = message(own('not JSON'));
    expect(await consume([sent])).toEqual([]);
    expect(await recordOf(sent)).toEqual({
      ...facts(sent),
      outcome: 'DeadLettered',
      failureReason: 'UnprocessableMessageError: Not a usable event: body must be JSON',
    });
  });

  test('DeadLettered, with what could be read of it', async () => {
    faults.inject({ service: 'dynamodb', kind: 'down' });
    const sent = message(shop('lost'), { attempt: 10 });
    expect(await consume([sent])).toEqual([]);
    expect(await recordOf(sent)).toMatchObject({
      ...facts(sent),
      outcome: 'DeadLettered',
      attempt: 10,
      shopId: own('lost'),
      timestamp: '2026-01-31T09:00:00.000000000Z',
    });
  });

  test('of a delivery whose payload is in S3, where that is', async () => {
    const body = JSON.stringify({ ...shop('large'), note: 'x'.repeat(1_100_000) });
    expect((await new Partner(stack.outputs.WebhookUrl).post(body)).status).toBe(200);
    const record = await recordOf({ body });
    expect(record).toMatchObject({ outcome: 'Processed', shopId: own('large') });
    expect(record.payloadKey).toMatch(/^shop\.updated\//);
    expect(record).not.toHaveProperty('body');
  });
});

test('a batch is archived in one call', async () => {
  faults.inject({ service: 'firehose', kind: 'slow', milliseconds: 0 });
  const before = faults.counts.slow;
  const batch = Array.from({ length: 10 }, (_, index) => message(shop(index)));
  expect(await consume(batch)).toEqual([]);
  expect(faults.counts.slow - before).toBe(1);
  const found = await recordsOf(batch.map(({ body }) => body));
  expect(found.map(({ body }) => body).toSorted()).toEqual(batch.map(({ body }) => body).toSorted());
});

test('a record that Firehose refuses brings back its message alone, and the effects stand', async () => {
  faults.inject({ service: 'firehose', kind: 'records-refused', every: 3 });
  const batch = Array.from({ length: 4 }, (_, index) => message(shop(index)));
  expect(await consume(batch)).toEqual([batch[2]?.messageId]);
  for (const index of [0, 1, 2, 3]) {
    expect(await tables.get(stack.outputs.ShopCacheTable, { shop_id: own(index) })).toHaveProperty('version');
  }
  expect(linesOf(batch[2]?.body ?? '', 'Failed')).toEqual([
    expect.objectContaining({
      level: 'WARN',
      error: 'NotArchivedError',
      errorMessage: 'ServiceUnavailableException',
      attempt: 1,
      messageId: batch[2]?.messageId,
    }),
  ]);
  faults.clear();
  expect(await consume([batch[2] as SQSRecord])).toEqual([]);
  expect(await recordOf(batch[2] as SQSRecord)).toMatchObject({ outcome: 'Duplicate' });
});

describe('while Firehose is down', () => {
  test('effects happen at once, and messages end as dead letters that say why', async () => {
    faults.inject({ service: 'firehose', kind: 'down' });
    const body = JSON.stringify(shop('down'));
    expect((await new Partner(stack.outputs.WebhookUrl).post(body)).status).toBe(200);
    await eventually(() => tables.get(stack.outputs.ShopCacheTable, { shop_id: own('down') }));
    const { MessageAttributes } = await queues.take(
      stack.outputs.ShopUpdatedDeadLetterQueueUrl,
      ({ Body }) => Body === body,
    );
    expect(MessageAttributes?.failureReason?.StringValue).toBe('Firehose PutRecordBatch: connection closed');
    // Before the ten receives of other failures: the queue has room for so many in flight alone.
    expect(linesOf(body, 'Failed').map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(linesOf(body, 'Processed')).toHaveLength(1);
    expect(linesOf(body, 'NotArchived')).toEqual([]);
  });

  test('a dead letter is on its queue, once, and said not to be archived', async () => {
    faults.inject({ service: 'firehose', kind: 'down' });
    const sent = message(own('not JSON'));
    const deadLetters = await queues.count(stack.outputs.ShopUpdatedDeadLetterQueueUrl);
    const before = lines.published('NotArchived').length;
    expect(await consume([sent])).toEqual([]);
    expect(linesOf(sent.body).map(({ message }) => message)).toEqual(['DeadLettered', 'NotArchived']);
    expect(linesOf(sent.body, 'NotArchived')[0]).toMatchObject({ level: 'WARN', messageId: sent.messageId });
    expect(lines.published('NotArchived').slice(before)).toEqual([
      expect.objectContaining({ value: 1, dimensions: { service: 'shop-updated' } }),
    ]);
    expect(await queues.count(stack.outputs.ShopUpdatedDeadLetterQueueUrl)).toBe(deadLetters + 1);
    await queues.take(stack.outputs.ShopUpdatedDeadLetterQueueUrl, ({ Body }) => Body === sent.body);
  });
});

test('a message that no record can hold is a dead letter at once', async () => {
  const body = JSON.stringify({ ...shop('quoted'), note: '"'.repeat(400_000) });
  await queues.client.send(
    new SendMessageCommand({ QueueUrl: stack.outputs.ShopUpdatedQueueUrl, MessageBody: body }),
  );
  const { MessageAttributes } = await queues.take(
    stack.outputs.ShopUpdatedDeadLetterQueueUrl,
    ({ Body }) => Body === body,
  );
  expect(MessageAttributes?.failureReason?.StringValue).toMatch(
    /^TooLargeToArchiveError: \d+ bytes as a record, of at most 1024000$/,
  );
  expect(linesOf(body, 'Failed')).toEqual([]);
});

describe('a function that is deployed otherwise', () => {
  /** Invokes the consumer with other settings than the template's. */
  async function consumeWith(changed: Partial<FunctionDefinition>, Records: SQSRecord[]): Promise<unknown> {
    const { definition } = stack.functions.get('shop-updated') ?? {};
    const other = new LocalFunction({ ...definition, ...changed } as FunctionDefinition, lines.add);
    try {
      await other.warmUp();
      return await other.invoke({ Records });
    } finally {
      await other.close();
    }
  }

  test('gives up effects early enough to archive the others and to hide these', async () => {
    faults.inject({ service: 's3', kind: 'slow', milliseconds: 60_000 });
    faults.inject({ service: 'firehose', kind: 'slow', milliseconds: 1_000 });
    const done = message(shop('done'));
    const plain = message(shop('hangs'));
    const payloadKey = text(`shop.updated/${own('hangs')}`);
    const hangs = { ...plain, messageAttributes: { ...plain.messageAttributes, payloadKey } };
    expect(await consumeWith({ timeoutSeconds: 12 }, [done, hangs])).toMatchObject({
      ok: true,
      payload: { batchItemFailures: [{ itemIdentifier: hangs.messageId }] },
    });
    expect(linesOf(hangs.body, 'Failed')).toEqual([expect.objectContaining({ error: 'OutOfTimeError' })]);
    expect(await recordOf(done)).toMatchObject({ outcome: 'Processed' });
  });

  test('calls nobody where the stage keeps no archive', async () => {
    faults.inject({ service: 'firehose', kind: 'slow', milliseconds: 0 });
    const before = faults.counts.slow;
    const { environment = {} } = stack.functions.get('shop-updated')?.definition ?? {};
    const { ARCHIVE_STREAM, ...others } = environment;
    expect(ARCHIVE_STREAM).toBe(stack.outputs.ShopUpdatedArchiveStream);
    expect(await consumeWith({ environment: others }, [message(shop('unkept'))])).toMatchObject({
      ok: true,
      payload: { batchItemFailures: [] },
    });
    expect(await tables.get(stack.outputs.ShopCacheTable, { shop_id: own('unkept') })).toBeDefined();
    expect(faults.counts.slow).toBe(before);
  });
});

describe('a message of a replay', () => {
  const replay = { name: 'mend-names', mode: 'repair', notify: false } as const;

  test('is logged and counted as such, and its record repeats nothing of its original', async () => {
    const sent = message(shop('replayed'), { replay: JSON.stringify(replay) });
    const replayed = lines.published('Replayed').length;
    expect(await consume([sent])).toEqual([]);
    const [line] = linesOf(sent.body, 'Processed');
    expect(line).toMatchObject({ replay: 'mend-names', event: 'shop.updated' });
    expect(line).not.toHaveProperty('latencyMs');
    expect(lines.published('Replayed')).toHaveLength(replayed + 1);
    expect(lines.published('Replayed').at(-1)).toMatchObject({ dimensions: { event: 'shop.updated' } });
    const record = await recordOf(sent);
    expect(record).toMatchObject({ outcome: 'Processed', replay, shopId: own('replayed') });
    expect(Object.keys(record)).not.toContain('body');
  });

  test('of a payload in S3 does not keep where it is, either', async () => {
    const payload = JSON.stringify(shop('stored'));
    const payloadKey = `shop.updated/${own('stored')}`;
    await new S3Client({ ...stack.operator, forcePathStyle: true }).send(
      new PutObjectCommand({ Bucket: stack.outputs.PayloadBucket, Key: payloadKey, Body: payload }),
    );
    const plain = message(payload, { replay: JSON.stringify(replay) });
    const sent = {
      ...plain,
      messageAttributes: { ...plain.messageAttributes, payloadKey: text(payloadKey) },
    };
    expect(await consume([sent])).toEqual([]);
    const record = await recordOf(sent);
    expect(record).toMatchObject({ outcome: 'Processed', replay });
    expect(record).not.toHaveProperty('payloadKey');
  });

  test.each([
    ['is no JSON', 'mend-names'],
    ['lacks its mode', JSON.stringify({ name: 'mend-names', notify: false })],
    ['has a mode that there is not', JSON.stringify({ ...replay, mode: 'wipe' })],
    ['has a name that no replay has', JSON.stringify({ ...replay, name: '../up' })],
  ])('whose attribute %s is a dead letter at once, without effect', async (_, attribute) => {
    const sent = message(shop('odd'), { replay: attribute });
    expect(await consume([sent])).toEqual([]);
    expect(await recordOf(sent)).toMatchObject({
      outcome: 'DeadLettered',
      failureReason: 'UnprocessableMessageError: The attribute `replay` is not one that a replay writes',
    });
    expect(await tables.get(stack.outputs.ShopCacheTable, { shop_id: own('odd') })).toBeUndefined();
  });
});
