import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { sqsEvent } from '../../../events/lambda-events.ts';
import { consumerContext } from '../../support/consumer-context.ts';
import { functionEnvironment } from '../../support/function-environment.ts';
import { Queues } from '../../support/queues.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

let aws: TestAws;
beforeAll(async () => {
  aws = await startTestAws();
});
afterAll(() => aws.close());

const review = { rating: 5, comment: 'Very kind', review_id: 'r-1' };

describe.each([
  ['girl.schedule_changed', 'girl-schedule-changed', 'ChatTopicArn', 'Schedule changed', {}, ''],
  [
    'review.posted',
    'review-posted',
    'ReviewTopicArn',
    'Review posted',
    review,
    '\nRating: 5\nComment: Very kind\nReview: r-1',
  ],
])('what people are told of %s', (event, name, topic, title, more, lines) => {
  let told: (data: object) => Promise<string | undefined>;
  beforeAll(async () => {
    Object.assign(process.env, functionEnvironment(name, aws));
    const { handler } = (await import(`../../../lambda/consumers/${name}.ts`)) as {
      handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse>;
    };
    const queues = new Queues(aws.operator);
    const queue = await queues.subscribe(aws.outputs[topic], name);
    told = async (data) => {
      const payload = { event, data, timestamp: '2026-01-31T09:00:00Z' };
      expect(await handler(sqsEvent({ event, name, payload }), consumerContext)).toEqual({
        batchItemFailures: [],
      });
      return (await queues.take(queue)).Body;
    };
  });

  test.each([
    ['by name', { girl_id: 'g-1', name: 'Sora' }, 'Staff member: Sora'],
    ['by id where there is no name', { girl_id: 'g-1' }, 'Staff member: g-1'],
    ['by id where the name is empty', { girl_id: 'g-1', name: '' }, 'Staff member: g-1'],
  ])('names the staff member %s', async (_, data, line) => {
    expect(await told({ shop_id: 's', ...data })).toBe(`${title}\n\nShop: s\n${line}`);
  });

  test('names all else that we know of it', async () => {
    expect(await told({ shop_id: 's', ...more })).toBe(`${title}\n\nShop: s${lines}`);
  });

  test('is its title where nothing is known', async () => {
    expect(await told({})).toBe(title);
  });
});
