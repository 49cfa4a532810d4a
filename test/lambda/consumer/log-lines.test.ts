import { createHash } from 'node:crypto';
import { DeleteQueueCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SQSRecord } from 'aws-lambda';
import { sqsEvent } from '../../../events/lambda-events.ts';
import type { LocalStack } from '../../../local/local-stack.ts';
import { Queues } from '../../support/queues.ts';
import { startTestStack } from '../../support/test-stack.ts';
import { FunctionLines } from '../function-lines.ts';

const HOUR = 3_600_000;
const timestamp = '2026-01-31T09:00:00Z';
const lines = new FunctionLines();
let stack: LocalStack;
let records: SQSRecord[];

/** A record as a queue hands it over. @param index makes its ids */
function record(index: number, receivedAt: string, payload: object | string): SQSRecord {
  const [sample] = sqsEvent({ event: 'shop.updated', name: 'shop-updated', payload: { timestamp } })
    .Records as [SQSRecord];
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const text = (stringValue: string) => ({ dataType: 'String' as const, stringValue });
  return {
    ...sample,
    messageId: `message-${index}`,
    body,
    attributes: { ...sample.attributes, ApproximateReceiveCount: String(index + 1) },
    messageAttributes: {
      eventId: text(createHash('sha256').update(body).digest('hex')),
      requestId: text(`request-${index}`),
      receivedAt: text(receivedAt),
    },
  };
}

const keysOf = ({ messageId, attributes, messageAttributes }: SQSRecord) => ({
  event: 'shop.updated',
  eventId: messageAttributes.eventId?.stringValue,
  requestId: messageAttributes.requestId?.stringValue,
  messageId,
  attempt: Number(attributes.ApproximateReceiveCount),
});

beforeAll(async () => {
  stack = await startTestStack({
    environment: { POWERTOOLS_METRICS_NAMESPACE: 'a-stack' },
    onLog: lines.add,
    onProblem: () => {},
  });
  const queues = new Queues(stack.operator);
  // So that burying and hiding fail, and say so.
  for (const QueueUrl of [stack.outputs.ShopUpdatedDeadLetterQueueUrl, stack.outputs.ShopUpdatedQueueUrl]) {
    await queues.client.send(new DeleteQueueCommand({ QueueUrl }));
  }
  const shop = (shop_id: string) => ({ event: 'shop.updated', data: { shop_id }, timestamp });
  const anHourAgo = new Date(Date.now() - HOUR).toISOString();
  const inAnHour = new Date(Date.now() + HOUR).toISOString();
  const failing = record(6, anHourAgo, '{}');
  records = [
    ...[0, 1, 2, 3].map((index) => record(index, anHourAgo, shop(`shop-${index}`))),
    record(4, inAnHour, shop('shop-of-a-fast-clock')),
    record(5, anHourAgo, 'not JSON'),
    { ...failing, messageAttributes: { ...failing.messageAttributes, payloadKey: payloadKey() } },
  ];
  await stack.functions.get('shop-updated')?.function.invoke({ Records: records });
  // The same event once more is a duplicate.
  await stack.functions.get('shop-updated')?.function.invoke({ Records: records.slice(0, 1) });
});
afterAll(() => stack.close());

/** Of another event, which the consumer may not read: a failure that may pass. */
const payloadKey = () => ({ dataType: 'String' as const, stringValue: 'user.updated/not-mine' });

describe('of a batch whose records are worked on at the same time', () => {
  test('every line has the keys of its own record', () => {
    expect(lines.of('shop-updated')).toHaveLength(10);
    for (const line of lines.of('shop-updated')) {
      const own = records.find(({ messageId }) => messageId === line.messageId);
      expect(line).toMatchObject(own ? keysOf(own) : { messageId: 'one of the batch' });
    }
  });

  test.each([
    ['Processed', ['message-0', 'message-1', 'message-2', 'message-3', 'message-4']],
    ['Duplicate', ['message-0']],
    ['DeadLettered', ['message-5']],
    ['BuryFailed', ['message-5']],
    ['Failed', ['message-6']],
    ['HideFailed', ['message-6']],
  ])('%s is said of the records that it is true of', (message, messageIds) => {
    const said = lines.of('shop-updated', message).map(({ messageId }) => String(messageId));
    expect(said.toSorted()).toEqual(messageIds);
  });
});

describe('the latency of an effect', () => {
  const done = () => [...lines.of('shop-updated', 'Processed'), ...lines.of('shop-updated', 'Duplicate')];
  const latencyOf = (index: number) =>
    done()
      .filter(({ messageId }) => messageId === `message-${index}`)
      .map(({ latencyMs }) => Number(latencyMs));

  test('counts from the receipt of the delivery', () => {
    const latencies = [0, 1, 2, 3].flatMap(latencyOf);
    expect(latencies).toHaveLength(5);
    for (const latency of latencies) {
      expect(latency).toBeGreaterThanOrEqual(HOUR);
      expect(latency).toBeLessThan(2 * HOUR);
    }
  });

  test('is 0 where the receiver’s clock is ahead', () => {
    expect(latencyOf(4)).toEqual([0]);
  });
});

test('what is processed takes no line of metrics: filters count it from the log, which is paid by the byte', () => {
  const published = lines.metrics.map(({ name }) => name);
  expect(new Set(published)).toEqual(
    new Set(['Duplicate', 'Failed', 'HideFailed', 'DeadLettered', 'BuryFailed']),
  );
});

test('metrics are in the namespace that the environment names', () => {
  expect(new Set(lines.metrics.map(({ namespace }) => namespace))).toEqual(new Set(['a-stack']));
});

describe('a metric counts', () => {
  test.each(['Duplicate', 'Failed', 'DeadLettered'])('%s once for each record, by event', (name) => {
    expect(lines.published(name)).toEqual(
      lines.of('shop-updated', name).map(() =>
        expect.objectContaining({
          unit: 'Count',
          value: 1,
          dimensions: { service: 'shop-updated', event: 'shop.updated' },
        }),
      ),
    );
  });

  test.each(['BuryFailed', 'HideFailed'])('%s, which alarms are on, by function', (name) => {
    expect(lines.published(name)).toEqual([
      expect.objectContaining({ unit: 'Count', value: 1, dimensions: { service: 'shop-updated' } }),
    ]);
  });
});
