import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTopicCommand, PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { GetQueueAttributesCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clientSettings } from 'local-aws/aws-caller';
import { type DeployedStack, deployStack } from 'local-aws/deployed-stack';
import { type AwsEndpoint, startAwsEndpoint } from 'local-aws/endpoint';
import { runSynthesis } from '../../bin/synthesise.ts';
import { DATA_FIELDS, parseReviewPosted } from '../../examples/review-subscriber/notification.ts';
import { eventually } from '../support/eventually.ts';
import { Queues } from '../support/queues.ts';
import { Tables } from '../support/tables.ts';

interface NotificationSchema {
  readonly title: string;
  readonly properties: { readonly data: { readonly properties: object } };
  readonly required: string[];
  readonly examples: Record<string, unknown>[];
}

/** Schemas of the published notifications: one alternative for each event. */
const { oneOf }: { oneOf: NotificationSchema[] } = JSON.parse(
  readFileSync('docs/api/schemas/notification.json', 'utf8'),
);
const schema = oneOf.find(({ title }) => title === 'Notification of review.posted');
const [example = {}] = schema?.examples ?? [];

describe('the example’s type', () => {
  test('has the fields of the published schema', () => {
    expect(Object.keys(schema?.properties.data.properties ?? {}).sort()).toEqual([...DATA_FIELDS].sort());
  });

  test('describes a parsed published example, and ignores unknown fields', () => {
    const more = { ...example, sentBy: 'x', data: { ...Object(example.data), language: 'de' } };
    expect(parseReviewPosted(JSON.stringify(example))).toEqual(example);
    expect(parseReviewPosted(JSON.stringify(more))).toEqual(example);
  });

  test.each(schema?.required ?? [])('refuses a notification without %s', (field) => {
    const without = Object.fromEntries(Object.entries(example).filter(([name]) => name !== field));
    expect(() => parseReviewPosted(JSON.stringify(without))).toThrow(field);
  });

  test.each([
    ['that is no JSON', 'Review posted', 'is not JSON'],
    ['of another event', JSON.stringify({ ...example, event: 'shop.updated' }), 'event is not review.posted'],
    ['with a rating that is a number', JSON.stringify({ ...example, data: { rating: 5 } }), 'rating'],
  ])('refuses a message %s', (_, text, reason) => {
    expect(() => parseReviewPosted(text)).toThrow(reason);
  });
});

describe('the example at a topic', () => {
  /** Log lines of the example. */
  const lines: Record<string, unknown>[] = [];
  let folder: string;
  let aws: AwsEndpoint;
  let subscriber: DeployedStack;
  let sns: SNSClient;
  let topicArn: string | undefined;
  let queues: Queues;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'review-subscriber-'));
    aws = await startAwsEndpoint({ port: 0 });
    const operator = clientSettings(aws.url, 'operator');
    sns = new SNSClient(operator);
    queues = new Queues(operator);
    ({ TopicArn: topicArn } = await sns.send(new CreateTopicCommand({ Name: 'reviews' })));
    await runSynthesis('examples/review-subscriber/app.ts', {
      CDK_OUTDIR: folder,
      CDK_CONTEXT_JSON: JSON.stringify({ topicArn, shops: 'shop-1,shop-2', replays: 'false' }),
    });
    subscriber = await deployStack(folder, aws, {
      location: { awsUrl: aws.url, apiUrl: '' },
      secret: '',
      onProblem: (message) => console.error(message),
      onLog: ({ text }) => {
        if (text.startsWith('{')) lines.push(JSON.parse(text));
      },
    });
  }, 120_000);
  afterAll(async () => {
    await subscriber?.close();
    await aws?.close();
    await rm(folder, { recursive: true });
  });

  const publish = (Message: string, more: Record<string, string> = {}) =>
    sns.send(
      new PublishCommand({
        TopicArn: topicArn,
        Message,
        MessageAttributes: Object.fromEntries(
          Object.entries({ event: 'review.posted', shop_id: 'shop-1', ...more }).map(([name, value]) => [
            name,
            { DataType: 'String', StringValue: value },
          ]),
        ),
      }),
    );
  const review = (digit: string) => JSON.stringify({ ...example, eventId: digit.repeat(64) });
  const logged = (message: string) =>
    eventually(async () => (lines.some((line) => line.message === message) ? true : undefined));

  test('stores a review of its shops once, and no review of others or of a replay', async () => {
    await publish(review('a'), { shop_id: 'shop-9' });
    await publish(review('b'), { replay: 'repair-1' });
    await publish(review('c'));
    await logged('Kept');
    await publish(review('c'), { shop_id: 'shop-2' });
    await logged('Duplicate');
    const rows = await new Tables(clientSettings(aws.url, 'operator')).scan(subscriber.outputs().TableName);
    const { data, timestamp } = example;
    expect(rows).toEqual([{ event_id: 'c'.repeat(64), timestamp, ...Object(data) }]);
    expect(lines.map(({ message }) => message)).toEqual(['Kept', 'Duplicate']);
  });

  test('moves only a malformed notification to its dead-letter queue, and does not log its content', async () => {
    const QueueUrl = subscriber.outputs().QueueUrl;
    const AttributeNames = ['RedrivePolicy', 'VisibilityTimeout'] as const;
    const { Attributes } = await queues.client.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] }),
    );
    const policy = JSON.parse(Attributes?.RedrivePolicy ?? '');
    // In the deployed configuration, messages come back for six hours.
    expect(policy.maxReceiveCount * Number(Attributes?.VisibilityTimeout)).toBe(6 * 60 * 60);
    const RedrivePolicy = JSON.stringify({ ...policy, maxReceiveCount: 3 });
    await queues.client.send(
      new SetQueueAttributesCommand({ QueueUrl, Attributes: { RedrivePolicy, VisibilityTimeout: '1' } }),
    );
    await Promise.all([publish('Very personal'), publish(review('d'))]);
    expect((await queues.take(subscriber.outputs().DeadLettersUrl)).Body).toBe('Very personal');
    expect(lines.filter(({ message }) => message === 'Failed')).toHaveLength(3);
    expect(lines).toContainEqual({ message: 'Kept', eventId: 'd'.repeat(64) });
    expect(JSON.stringify(lines)).not.toContain('personal');
  });
});
