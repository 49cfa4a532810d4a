import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { GetQueueAttributesCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type DeployedStack, deployStack, type LocalStack } from 'local-aws';
import * as z from 'zod/mini';
import { runSynthesis } from '../../bin/synthesise.ts';
import { readSamples } from '../../events/samples.ts';
import { sqsEvent } from '../../events/sqs-event.ts';
import { DATA_FIELDS, parseReviewPosted } from '../../examples/review-subscriber/notification.ts';
import { eventually } from '../support/eventually.ts';
import { Partner, TEST_SECRET } from '../support/partner.ts';
import { Queues } from '../support/queues.ts';
import { startTestStack } from '../support/test-stack.ts';

/** Schemas of the published notifications: one alternative for each event. */
const published = JSON.parse(readFileSync('docs/api/schemas/notification.json', 'utf8'));
const { oneOf } = z
  .object({
    oneOf: z.array(
      z.object({
        properties: z.object({
          event: z.object({ const: z.string() }),
          data: z.object({ properties: z.record(z.string(), z.unknown()) }),
        }),
        required: z.array(z.string()),
        examples: z.array(z.record(z.string(), z.unknown())),
      }),
    ),
  })
  .parse(published);
const schema = oneOf.find(({ properties }) => properties.event.const === 'review.posted');
const [example = {}] = schema?.examples ?? [];

describe('the example’s type', () => {
  test('has the fields of the published schema', () => {
    expect(Object.keys(schema?.properties.data.properties ?? {}).sort()).toEqual([...DATA_FIELDS].sort());
  });

  test('describes a parsed published example', () => {
    expect(parseReviewPosted(JSON.stringify(example))).toEqual(example);
  });

  test('ignores unknown fields', () => {
    const more = { ...example, sentBy: 'x', data: { ...Object(example.data), language: 'de' } };
    expect(parseReviewPosted(JSON.stringify(more))).toEqual(example);
  });

  test.each(schema?.required ?? [])('refuses a notification without %s', (field) => {
    const without = Object.fromEntries(Object.entries(example).filter(([name]) => name !== field));
    expect(() => parseReviewPosted(JSON.stringify(without))).toThrow(field);
  });

  test.each([
    ['that is no JSON', 'Review posted', 'is not JSON'],
    ['that is null', 'null', 'is not an object'],
    ['of another event', JSON.stringify({ ...example, event: 'shop.updated' }), 'event is not review.posted'],
    ['with a rating that is a number', JSON.stringify({ ...example, data: { rating: 5 } }), 'rating'],
    ['with a replay that is a number', JSON.stringify({ ...example, replay: 1 }), 'replay'],
  ])('refuses a message %s', (_, text, reason) => {
    expect(() => parseReviewPosted(text)).toThrow(reason);
  });
});

describe('the example next to the stack', () => {
  /** Log lines of the example. */
  const lines: Record<string, unknown>[] = [];
  let folder: string;
  let stack: LocalStack;
  let subscriber: DeployedStack;
  let queues: Queues;
  /** URL of a queue that receives everything published to the topic. */
  let everything: string;
  let partner: Partner;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'review-subscriber-'));
    stack = await startTestStack();
    const context = { topicArn: stack.outputs.ReviewTopicArn, shops: 'shop-1,shop-2', replays: 'false' };
    await runSynthesis('examples/review-subscriber/app.ts', {
      CDK_OUTDIR: folder,
      CDK_CONTEXT_JSON: JSON.stringify(context),
    });
    subscriber = await deployStack(folder, stack.aws, {
      location: { awsUrl: stack.aws.url, apiUrl: '' },
      secret: TEST_SECRET,
      onProblem: (message) => console.error(message),
      onLog: ({ text }) => {
        if (text.startsWith('{')) lines.push(JSON.parse(text));
      },
    });
    queues = new Queues(stack.operator);
    everything = await queues.subscribe(stack.outputs.ReviewTopicArn, 'everything');
    partner = new Partner(stack.outputs.WebhookUrl);
  }, 120_000);
  afterAll(async () => {
    await subscriber?.close();
    await stack?.close();
    await rm(folder, { recursive: true });
  });

  const post = async (data: object) => {
    const payload = { event: 'review.posted', data, timestamp: '2026-01-31T09:00:00Z' };
    return String((await partner.post(payload)).body.eventId);
  };
  const logged = (wanted: Record<string, unknown>) =>
    eventually(async () =>
      lines.find((line) => Object.entries(wanted).every(([name, value]) => line[name] === value)),
    );
  const told = (eventId: string) =>
    queues.take(everything, ({ MessageAttributes }) => MessageAttributes?.eventId?.StringValue === eventId);
  const rows = async () => {
    const dynamodb = new DynamoDBClient(stack.operator);
    const { Items = [] } = await dynamodb.send(
      new ScanCommand({ TableName: subscriber.outputs().TableName }),
    );
    return Items;
  };

  test('stores reviews of its shops, and no others', async () => {
    const other = await post({ shop_id: 'shop-9', rating: 1 });
    const eventId = await post({ shop_id: 'shop-1', rating: 5, comment: 'Warm 😀' });
    await logged({ message: 'Kept', eventId });
    const kept = await rows();
    expect(kept.filter(({ event_id }) => event_id?.S === eventId || event_id?.S === other)).toEqual([
      {
        event_id: { S: eventId },
        timestamp: { S: '2026-01-31T09:00:00.000000000Z' },
        shop_id: { S: 'shop-1' },
        rating: { S: '5' },
        comment: { S: 'Warm 😀' },
      },
    ]);
    expect(lines.filter((line) => line.eventId === other)).toEqual([]);
  });

  test('gets notifications in the words of the published schema', async () => {
    const eventId = await post({ shop_id: 'shop-1', review_id: 'r-1', girl_id: 'g-1', name: 'Sora' });
    const { Body } = await told(eventId);
    const ajv = new Ajv2020({ strict: true });
    addFormats.default(ajv);
    const validate = ajv.compile(published);
    validate(JSON.parse(Body ?? ''));
    expect(validate.errors).toBeNull();
    expect(parseReviewPosted(Body ?? '')).toEqual(JSON.parse(Body ?? ''));
  });

  test('stores a review once if it is notified twice', async () => {
    const end = stack.faults.inject({ service: 'sns', kind: 'response-lost', every: 2 });
    const other = await post({ shop_id: 'shop-9', review_id: 'r-2' });
    await told(other);
    const eventId = await post({ shop_id: 'shop-2', review_id: 'r-2' });
    await logged({ message: 'Kept', eventId });
    await logged({ message: 'Duplicate', eventId });
    end();
    expect((await rows()).filter(({ event_id }) => event_id?.S === eventId)).toHaveLength(1);
  });

  const publish = (Message: string, more: Record<string, string> = {}) =>
    new SNSClient(stack.operator).send(
      new PublishCommand({
        TopicArn: stack.outputs.ReviewTopicArn,
        Message,
        MessageAttributes: Object.fromEntries(
          Object.entries({ event: 'review.posted', shop_id: 'shop-1', ...more }).map(([name, value]) => [
            name,
            { DataType: 'String', StringValue: value },
          ]),
        ),
      }),
    );

  test('fails only the failed message of a batch', async () => {
    Object.assign(process.env, {
      AWS_ENDPOINT_URL: stack.awsUrl,
      AWS_REGION: stack.operator.region,
      AWS_ACCESS_KEY_ID: stack.operator.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: stack.operator.credentials.secretAccessKey,
      TABLE_NAME: subscriber.outputs().TableName,
    });
    jest.spyOn(console, 'log').mockImplementation(() => {});
    const { handler } = await import('../../examples/review-subscriber/handler.ts');
    const bodies = { good: JSON.stringify({ ...example, eventId: 'c'.repeat(64) }), bad: 'Very personal' };
    const [sample] = readSamples().flatMap((one) => sqsEvent(one).Records);
    if (sample === undefined) throw new Error('There is no sample');
    const Records = Object.entries(bodies).map(([messageId, body]) => ({ ...sample, messageId, body }));
    expect(await handler({ Records })).toEqual({ batchItemFailures: [{ itemIdentifier: 'bad' }] });
    expect((await rows()).map(({ event_id }) => event_id?.S)).toContain('c'.repeat(64));
  });

  test('gets no replays if it excludes them', async () => {
    const eventId = (digit: string) => digit.repeat(64);
    await publish(JSON.stringify({ ...example, eventId: eventId('a') }), { replay: 'repair-1' });
    await publish(JSON.stringify({ ...example, eventId: eventId('b') }));
    await logged({ message: 'Kept', eventId: eventId('b') });
    expect(lines.filter((line) => line.eventId === eventId('a'))).toEqual([]);
  });

  test('moves a malformed notification to its dead-letter queue, and does not log its content', async () => {
    const { Attributes } = await queues.client.send(
      new GetQueueAttributesCommand({
        QueueUrl: subscriber.outputs().QueueUrl,
        AttributeNames: ['RedrivePolicy', 'VisibilityTimeout'],
      }),
    );
    const redrivePolicy = JSON.parse(Attributes?.RedrivePolicy ?? '');
    // In the deployed configuration, messages come back for six hours.
    expect(redrivePolicy.maxReceiveCount * Number(Attributes?.VisibilityTimeout)).toBe(6 * 60 * 60);
    await queues.client.send(
      new SetQueueAttributesCommand({
        QueueUrl: subscriber.outputs().QueueUrl,
        Attributes: {
          RedrivePolicy: JSON.stringify({ ...redrivePolicy, maxReceiveCount: 3 }),
          VisibilityTimeout: '1',
        },
      }),
    );
    await publish('Very personal');
    expect((await queues.take(subscriber.outputs().DeadLettersUrl)).Body).toBe('Very personal');
    expect(lines.filter(({ message }) => message === 'Failed')).toHaveLength(3);
    expect(JSON.stringify(lines)).not.toContain('personal');
  });
});
