import { S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, jest, test } from '@jest/globals';
import type { SQSRecord } from 'aws-lambda';
import fc from 'fast-check';
import { sha256Hex } from '../../../lambda/hash.ts';
import { OUT_OF_TIME_MARGIN } from '../../../lambda/limits.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { consumerContext } from '../../support/function-environment.ts';
import {
  aws,
  consume,
  deadLetterOf,
  faults,
  handler,
  inject,
  lines,
  linesOf,
  load,
  message,
  messagesOf,
  own,
  queues,
  RECEIVED_AT,
  recordOf,
  rowOf,
  shop,
  storePayload,
} from './shop-consumer.ts';

const HOUR = 3_600_000;
const REPLAY = { name: 'repair-names', mode: 'repair', notify: false } as const;

describe("the archive's record of a settled message has all known fields:", () => {
  const commonFields = ({ body }: SQSRecord) => ({
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
      ...commonFields(sent),
      outcome: 'Processed',
      shopId: own('new'),
      timestamp: '2026-01-31T09:00:00.000000000Z',
    });
  });

  test('Stale, and Duplicate', async () => {
    const newer = message(shop('s'));
    const older = message(shop('s', '2026-01-31T08:00:00Z'), { attempt: 2 });
    for (const sent of [newer, older, newer]) await consume([sent]);
    expect(await recordOf(older)).toMatchObject({ ...commonFields(older), outcome: 'Stale', attempt: 2 });
    expect(await recordOf(newer, 'Duplicate')).toMatchObject(commonFields(newer));
  });

  test('of a payload in S3: with its key, and a long shop id as a hash', async () => {
    const payloadKey = `shop.updated/${own('large')}`;
    const shopId = 'x'.repeat(2049);
    await storePayload(payloadKey, JSON.stringify({ ...shop(''), data: { shop_id: shopId } }));
    const sent = message({ payloadKey }, { payloadKey });
    expect(await consume([sent])).toEqual([]);
    const { body, ...others } = commonFields(sent);
    expect(await recordOf(sent)).toEqual({
      ...others,
      outcome: 'Processed',
      payloadKey,
      shopId: `sha256:${sha256Hex(shopId)}`,
      timestamp: '2026-01-31T09:00:00.000000000Z',
    });
  });
});

describe('a message of a replay', () => {
  test.each([{ isStored: false }, { isStored: true }])(
    'is logged and counted, and its record has no payload: $isStored',
    async ({ isStored }) => {
      const payload = JSON.stringify(shop('replayed'));
      const payloadKey = `shop.updated/${own('replayed')}`;
      if (isStored) await storePayload(payloadKey, payload);
      const sent = message(payload, { replay: JSON.stringify(REPLAY), ...(isStored && { payloadKey }) });
      expect(await consume([sent])).toEqual([]);
      expect(linesOf(sent)).toEqual([expect.objectContaining({ message: 'Processed', replay: REPLAY.name })]);
      expect(linesOf(sent)[0]).not.toHaveProperty('latencyMs');
      expect(lines.metrics.map(({ name, dimensions }) => ({ name, ...dimensions }))).toEqual([
        { name: 'Replayed', service: 'shop-updated', event: 'shop.updated' },
      ]);
      const record = await recordOf(sent);
      expect(record).toMatchObject({ outcome: 'Processed', replay: REPLAY, shopId: own('replayed') });
      expect(record).not.toHaveProperty('body');
      expect(record).not.toHaveProperty('payloadKey');
    },
  );

  test('whose attribute is malformed becomes a dead letter at once, without effect', async () => {
    const sent = message(shop('odd'), { replay: JSON.stringify({ ...REPLAY, mode: 'wipe' }) });
    expect(await consume([sent])).toEqual([]);
    expect(await recordOf(sent)).toMatchObject({
      outcome: 'DeadLettered',
      failureReason: 'UnprocessableMessageError: The message attribute `replay` is malformed',
    });
    expect(await rowOf('odd')).toBeUndefined();
  });
});

describe('a permanent failure', () => {
  test('becomes a dead letter at once with its reason, and the rest of its batch succeeds', async () => {
    const poison = message(own('not JSON'));
    expect(await consume([poison, message(shop('good'))])).toEqual([]);
    expect((await deadLetterOf(poison)).MessageAttributes).toMatchObject({
      eventId: { StringValue: sha256Hex(poison.body) },
      requestId: { StringValue: `request-${sha256Hex(poison.body)}` },
      failureReason: { StringValue: 'UnprocessableMessageError: Not a usable event: body must be JSON' },
      failedAt: { StringValue: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
    expect(await rowOf('good')).toHaveProperty('version');
    expect(await recordOf(poison)).toMatchObject({
      outcome: 'DeadLettered',
      failureReason: 'UnprocessableMessageError: Not a usable event: body must be JSON',
    });
  });

  test('is retried if the dead-letter queue does not accept it', async () => {
    inject({ service: 'sqs', operation: 'SendMessage', kind: 'throttled' });
    const poison = message(own('not JSON'));
    expect(await consume([poison])).toEqual([poison]);
    expect(messagesOf(poison)).toEqual(['DeadLettered', 'DeadLetterNotSent']);
  });

  test('includes a message that no archive record can hold', async () => {
    const sent = message({ ...shop('quoted'), note: '"'.repeat(400_000) });
    expect(await consume([sent])).toEqual([]);
    expect((await deadLetterOf(sent)).MessageAttributes?.failureReason?.StringValue).toMatch(
      /^TooLargeToArchiveError: \d+ bytes as a record, more than the maximum of 1024000$/,
    );
    expect(messagesOf(sent)).toEqual(['Processed', 'DeadLettered']);
  });
});

describe('a transient failure', () => {
  test('waits on its queue, and the wait is logged', async () => {
    const QueueUrl = aws.outputs.ShopUpdatedQueueUrl;
    const broken = await load({ SHOP_CACHE_TABLE: 'not-there-yet' });
    await queues.client.send(
      new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(shop('waiting')) }),
    );
    const [received] = await queues.receive(QueueUrl);
    const sent = { ...message(shop('waiting')), receiptHandle: received?.ReceiptHandle ?? '' };
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    expect(await consume([sent], broken)).toEqual([sent]);
    expect(linesOf(sent)).toEqual([
      expect.objectContaining({
        level: 'WARN',
        message: 'Failed',
        call: 'DynamoDB UpdateItem',
        error: 'ResourceNotFoundException',
        retryInSeconds: 30,
      }),
    ]);
    // Simulates processing for a second after the receive.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(await queues.receive(QueueUrl)).toEqual([]);
    expect(await queues.count(QueueUrl)).toBe(1);
  });

  test('becomes a dead letter with its reason and the readable fields after the last receive', async () => {
    const broken = await load({ SHOP_CACHE_TABLE: 'never-there' });
    const last = message(shop('last'), { attempt: 10 });
    const lastButOne = message(shop('last but one'), { attempt: 9 });
    expect(await consume([last, lastButOne], broken)).toEqual([lastButOne]);
    const failureReason = expect.stringMatching(/^DynamoDB UpdateItem: ResourceNotFoundException: /);
    expect((await deadLetterOf(last)).MessageAttributes?.failureReason?.StringValue).toEqual(failureReason);
    expect(await recordOf(last)).toMatchObject({
      ...{ outcome: 'DeadLettered', failureReason, attempt: 10, shopId: own('last') },
      timestamp: '2026-01-31T09:00:00.000000000Z',
    });
  });

  test('includes a function that runs out of time: finished messages are archived, others return', async () => {
    inject({ service: 's3', kind: 'slow', milliseconds: 60_000 });
    const done = message(shop('done'));
    const hangs = message(shop('hangs'), { payloadKey: 'shop.updated/hangs' });
    const context = { ...consumerContext, getRemainingTimeInMillis: () => OUT_OF_TIME_MARGIN + 1_000 };
    expect(await consume([done, hangs], handler, context)).toEqual([hangs]);
    expect(linesOf(hangs)[0]).toMatchObject({ message: 'Failed', error: 'OutOfTimeError' });
    expect(await recordOf(done)).toMatchObject({ outcome: 'Processed' });
  });
});

test('large payloads of a batch are read one after the other, because each may need half of the memory', async () => {
  const sent = [0, 1, 2].map((index) => message(shop(index), { payloadKey: `shop.updated/${own(index)}` }));
  for (const { body, messageAttributes } of sent) {
    await storePayload(messageAttributes.payloadKey?.stringValue ?? '', body);
  }
  const send = S3Client.prototype.send as (command: unknown) => Promise<void>;
  let reading = 0;
  let together = 0;
  jest.spyOn(S3Client.prototype, 'send').mockImplementation(async function (this: S3Client, command) {
    reading += 1;
    together = Math.max(together, reading);
    return await send.call(this, command).finally(() => {
      reading -= 1;
    });
  });
  expect(await consume(sent)).toEqual([]);
  expect(together).toBe(1);
});

test('a message that is nested 400,000 deep has its effect', async () => {
  const nest = '['.repeat(400_000) + ']'.repeat(400_000);
  expect(await consume([message(JSON.stringify(shop('deep')).replace('}', `,"x":${nest}}`))])).toEqual([]);
  expect(await rowOf('deep')).toHaveProperty('version');
});

describe('archiving', () => {
  test('takes one call per batch, and none without settled messages or on a stage without an archive', async () => {
    inject({ service: 'firehose', kind: 'slow', milliseconds: 0 });
    const before = faults.counts.slow;
    const batch = [0, 1, 2].map((index) => message(shop(index)));
    expect(await consume(batch)).toEqual([]);
    expect(await consume([])).toEqual([]);
    const other = await load({ ARCHIVE_STREAM: '' });
    expect(await consume([message(shop('unarchived'))], other)).toEqual([]);
    expect(await rowOf('unarchived')).toBeDefined();
    expect(faults.counts.slow - before).toBe(1);
    for (const sent of batch) expect(await recordOf(sent)).toMatchObject({ body: sent.body });
  });

  test('returns only a message whose record Firehose rejects, and the effects stay', async () => {
    inject({ service: 'firehose', kind: 'records-refused', every: 3 });
    const batch = [0, 1, 2, 3].map((index) => message(shop(index)));
    const [, , refused] = batch as [SQSRecord, SQSRecord, SQSRecord];
    expect(await consume(batch)).toEqual([refused]);
    for (const index of [0, 1, 2, 3]) expect(await rowOf(index)).toHaveProperty('version');
    expect(linesOf(refused)[1]).toMatchObject({
      level: 'WARN',
      message: 'Failed',
      error: 'NotArchivedError',
      errorMessage: 'ServiceUnavailableException',
    });
    faults.clear();
    expect(await consume([refused])).toEqual([]);
    expect(await recordOf(refused)).toMatchObject({ outcome: 'Duplicate' });
  });

  test('ends after the client’s timeouts if Firehose’s answer stalls, and the message returns', async () => {
    inject({ service: 'firehose', kind: 'response-stalled' });
    const sent = message(shop('stalled'));
    expect(await consume([sent])).toEqual([sent]);
    expect(linesOf(sent)[1]).toMatchObject({
      message: 'Failed',
      call: 'Firehose PutRecordBatch',
      error: 'no answer in time',
    });
  });

  test('returns a message whose record is refused at receive 11', async () => {
    inject({ service: 'firehose', kind: 'records-refused', every: 1 });
    const sent = message(shop('refused'), { attempt: 11 });
    expect(await consume([sent])).toEqual([sent]);
    expect(linesOf(sent)).toMatchObject([
      { message: 'Started' },
      { message: 'Processed' },
      { message: 'Failed', error: 'NotArchivedError' },
      { message: 'RetryNotDelayed' },
    ]);
  });

  test('ends with a dead letter after 12 receives, the last that its queue allows', async () => {
    inject({ service: 'firehose', kind: 'throttled' });
    const sent = message(shop('twelfth'), { attempt: 12 });
    expect(await consume([sent])).toEqual([]);
    expect((await deadLetterOf(sent)).MessageAttributes?.failureReason?.StringValue).toMatch(
      /^Firehose PutRecordBatch: ServiceUnavailableException/,
    );
  });

  // SQS allows 120,000 messages in flight. At 30 a second, that is 67 minutes.
  test('takes at most 67 minutes while Firehose fails, because waiting messages are in flight', async () => {
    inject({ service: 'firehose', kind: 'throttled' });
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const batch = Array.from({ length: 11 }, (_, index) => message(shop(index), { attempt: index + 1 }));
    await consume(batch);
    const waits = lines.logged.flatMap(({ retryInSeconds }) =>
      retryInSeconds ? [Number(retryInSeconds)] : [],
    );
    expect(waits).toHaveLength(11);
    expect(waits.reduce((sum, wait) => sum + wait)).toBeLessThanOrEqual(120_000 / 30);
  });

  test('reports a dead letter that cannot be archived, and it is on its queue once', async () => {
    inject({ service: 'firehose', kind: 'throttled' });
    const sent = message(own('not JSON'));
    const before = await queues.count(aws.outputs.ShopUpdatedDeadLetterQueueUrl);
    expect(await consume([sent])).toEqual([]);
    expect(linesOf(sent)).toEqual([
      expect.objectContaining({ message: 'DeadLettered' }),
      expect.objectContaining({ message: 'NotArchived', level: 'WARN', call: 'Firehose PutRecordBatch' }),
    ]);
    expect(lines.published('NotArchived')).toEqual([
      { name: 'NotArchived', dimensions: { service: 'shop-updated' } },
    ]);
    expect(await queues.count(aws.outputs.ShopUpdatedDeadLetterQueueUrl)).toBe(before + 1);
  });
});

describe('a batch whose messages are processed in parallel', () => {
  test('the latency of an effect counts from the receipt, and is 0 if the receiver’s clock is ahead', async () => {
    const sent = [HOUR, -HOUR].map((age) => {
      const receivedAt = new Date(Date.now() - age).toISOString();
      return message(shop(receivedAt), { receivedAt });
    });
    await consume(sent);
    const [late = 0, ahead] = sent.map((one) => Number(linesOf(one)[0]?.latencyMs));
    expect(late - HOUR).toBeGreaterThanOrEqual(0);
    expect(late - HOUR).toBeLessThan(60_000);
    expect(ahead).toBe(0);
  });

  test('metrics count problems: some by event, all by function', async () => {
    const sent = message(shop('twice'));
    await consume([sent]);
    expect(lines.metrics).toEqual([]);
    inject({ service: 's3', kind: 'throttled' });
    inject({ service: 'sqs', kind: 'throttled' });
    const stored = message(shop('stored'), { payloadKey: 'shop.updated/stored' });
    await consume([sent, message(own('not JSON'), { attempt: 2 }), stored]);
    const [event, service] = ['shop.updated', 'shop-updated'];
    expect(lines.metrics.map(({ name, dimensions }) => ({ name, ...dimensions }))).toEqual(
      expect.arrayContaining([
        { name: 'DeadLetterNotSent', service },
        { name: 'RetryNotDelayed', service },
        { name: 'Duplicate', service, event },
      ]),
    );
  });
});

const word = fc.oneof(
  fc.constantFrom('2026-01-31T09:00:00.000Z', '+012026-01-31T09:00:00Z', 'NaN', '__proto__', '../../x', ' '),
  fc.constantFrom('x'.repeat(3000), '{"name":"any","mode":"repair","notify":true}'),
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 20 }),
);
const attributeName = fc.constantFrom(
  ...['event', 'eventId', 'receivedAt', 'requestId', 'payloadKey', 'replay', 'reason', 'failureReason'],
  ...['failedAt', 'a', 'b', 'c', 'd', 'constructor', '__proto__'],
);
const attributeValue = fc.oneof(
  { weight: 4, arbitrary: word.map((stringValue) => ({ dataType: 'String', stringValue })) },
  { weight: 1, arbitrary: fc.constant({ dataType: 'Binary', binaryValue: 'AAEC' }) },
  { weight: 1, arbitrary: fc.constant({ dataType: 'Number.x', stringValue: '1' }) },
);

/** A batch of any messages that SQS can deliver, some of them with this body. */
const batchWith = (usable: string) =>
  fc.uniqueArray(
    fc.record({
      messageId: fc.uuid(),
      receiptHandle: fc.constantFrom('handle', ''),
      body: fc.oneof(fc.constant(usable), fc.json(), fc.string({ unit: anyCharacter })),
      attributes: fc.record({
        ApproximateReceiveCount: fc.constantFrom('1', '2', '9', '10', '11', '1000', 'x', ''),
        SentTimestamp: fc.constantFrom('1769850000000', '0', 'x', '99999999999999999'),
        SenderId: word,
        ApproximateFirstReceiveTimestamp: word,
      }),
      messageAttributes: fc.dictionary(attributeName, attributeValue, { maxKeys: 10 }),
    }),
    { maxLength: 10, selector: ({ messageId }) => messageId },
  );

test('every record of every batch settles or comes back, and nothing is thrown', async () => {
  let [done, failed] = [0, 0];
  const settles = fc.asyncProperty(batchWith(JSON.stringify(shop('usable'))), async (records) => {
    const { batchItemFailures } = await handler({ Records: records as SQSRecord[] }, consumerContext);
    const sent = records.map(({ messageId }) => messageId);
    const left = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
    expect(sent).toEqual(expect.arrayContaining(left));
    expect(new Set(left).size).toBe(left.length);
    failed += left.length;
    done += sent.length - left.length;
  });
  await fc.assert(settles, { numRuns: 25 });
  // Otherwise the batches would prove nothing.
  expect(Math.min(done, failed)).toBeGreaterThan(0);
});
