import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { sqsEvent } from '../../../events/lambda-events.ts';
import { pascalCase } from '../../../lambda/events/event-names.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import type { PublishedNotification } from '../../../local/observation.ts';
import { consumerContext } from '../../support/consumer-context.ts';
import { functionEnvironment } from '../../support/function-environment.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

const asyncApi = JSON.parse(readFileSync('docs/api/asyncapi.json', 'utf8'));

const published: PublishedNotification[] = [];
let aws: TestAws;
beforeAll(async () => {
  aws = await startTestAws(undefined, {
    onItemChange() {},
    onNotification: (notification) => published.push(notification),
  });
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
])('what is told of %s', (event, name, topic, title, more, lines) => {
  let told: (data: object, timestamp?: string) => Promise<PublishedNotification['texts']>;
  beforeAll(async () => {
    Object.assign(process.env, functionEnvironment(name, aws, 'role'));
    const { handler } = (await import(`../../../lambda/events/${name}/consumer.ts`)) as {
      handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse>;
    };
    told = async (data, timestamp = '2026-01-31T09:00:00Z') => {
      const payload = { event, data, timestamp };
      expect(await handler(sqsEvent({ event, name, payload }), consumerContext)).toEqual({
        batchItemFailures: [],
      });
      const [notification, ...others] = published.splice(0);
      expect(others).toEqual([]);
      expect(notification?.topicArn).toBe(aws.outputs[topic]);
      return notification?.texts ?? { default: '' };
    };
  });

  const example = (form: string) =>
    asyncApi.components.messages[`${pascalCase(event)}${form}`].examples[0].payload;

  test.each([
    ['by name', { girl_id: 'g-1', name: 'Sora' }, 'Staff member: Sora'],
    ['by id where there is no name', { girl_id: 'g-1' }, 'Staff member: g-1'],
    ['by id where the name is empty', { girl_id: 'g-1', name: '' }, 'Staff member: g-1'],
  ])('names the staff member %s', async (_, data, line) => {
    expect((await told({ shop_id: 's', ...data })).default).toBe(`${title}\n\nShop: s\n${line}`);
  });

  test('names all else that we know of it', async () => {
    expect((await told({ shop_id: 's', ...more })).default).toBe(`${title}\n\nShop: s${lines}`);
  });

  test('names to programs what the partner said, under its names', async () => {
    const data = { shop_id: 's', girl_id: 'g-1', name: 'Sora', ...more };
    const { lambda, sqs } = await told({ ...data, unknown: 'x' });
    expect(JSON.parse(sqs ?? '')).toEqual({
      event,
      eventId: sha256Hex(
        JSON.stringify({ event, data: { ...data, unknown: 'x' }, timestamp: '2026-01-31T09:00:00Z' }),
      ),
      timestamp: '2026-01-31T09:00:00.000000000Z',
      title,
      data: Object.fromEntries(Object.entries(data).map(([field, value]) => [field, String(value)])),
    });
    expect(lambda).toBe(sqs);
  });

  test('is what the published examples say', async () => {
    const { data, timestamp } = JSON.parse(readFileSync(`events/${name}.json`, 'utf8'));
    const { default: text, https, lambda } = await told(data, timestamp);
    expect(example('Text')).toBe(text);
    expect(example('ChatNotification')).toEqual(JSON.parse(https ?? ''));
    expect(example('Notification')).toEqual(JSON.parse(lambda ?? ''));
  });

  test('is its title where nothing is known', async () => {
    expect((await told({})).default).toBe(title);
  });
});
