import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SQSRecord } from 'aws-lambda';
import { sqsEvent } from '../../../events/lambda-events.ts';
import { SourceQueue } from '../../../lambda/consumer/source-queue.ts';
import { Queues } from '../../support/queues.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

const [sample] = sqsEvent({
  event: 'shop.updated',
  name: 'shop-updated',
  payload: { timestamp: '2026-01-31T09:00:00Z' },
}).Records as [SQSRecord];

let aws: TestAws;
let source: SourceQueue;
let queues: Queues;
beforeAll(async () => {
  aws = await startTestAws();
  queues = new Queues(aws.operator);
  source = new SourceQueue(new SQSClient(aws.operator), {
    QUEUE_URL: aws.outputs.ShopUpdatedQueueUrl ?? '',
    DEAD_LETTER_QUEUE_URL: aws.outputs.ShopUpdatedDeadLetterQueueUrl ?? '',
    MAXIMUM_RECEIVES: '10',
    FIRST_RETRY_DELAY_SECONDS: '30',
  });
});
afterAll(() => aws.close());

/** @returns the dead letter that a record becomes */
async function deadLetterOf(record: SQSRecord, reason: string) {
  await source.sendToDeadLetterQueue(record, reason);
  return queues.take(aws.outputs.ShopUpdatedDeadLetterQueueUrl);
}

test.each([
  ['2,048 characters is whole', 2048],
  ['more than 2,048 characters keeps its beginning', 5000],
])('a failure reason of %s', async (_, length) => {
  const reason = `Error: ${'x'.repeat(length)}`.slice(0, length);
  const { MessageAttributes } = await deadLetterOf(sample, reason);
  expect(MessageAttributes?.failureReason?.StringValue).toBe(reason.slice(0, 2048));
});

test('a dead letter has the text and the attributes of its message', async () => {
  const { Body, MessageAttributes } = await deadLetterOf(sample, 'Error: x');
  expect(Body).toBe(sample.body);
  expect(Object.keys(MessageAttributes ?? {}).toSorted()).toEqual(
    [...Object.keys(sample.messageAttributes), 'failedAt', 'failureReason'].toSorted(),
  );
});

test('an attribute that is bytes is left out of the dead letter, as Lambda shows them in a form of their own', async () => {
  const bytes = { dataType: 'Binary' as const, binaryValue: 'AAEC' };
  const record = { ...sample, messageAttributes: { ...sample.messageAttributes, bytes } };
  const { MessageAttributes } = await deadLetterOf(record, 'Error: x');
  expect(MessageAttributes).not.toHaveProperty('bytes');
  expect(MessageAttributes).toHaveProperty('eventId');
});
