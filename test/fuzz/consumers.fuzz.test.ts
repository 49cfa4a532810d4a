import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import fc from 'fast-check';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase, pascalCase } from '../../lambda/events/event-names.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { Queues } from '../support/queues.ts';
import { startTestAws, type TestAws } from '../support/test-aws.ts';
import { bodyText } from './bodies.ts';

/** Batches for each consumer. */
const BATCHES = 25;
const SEED = 1;

type Handler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

let aws: TestAws;
const handlers = new Map<string, Handler>();

beforeAll(async () => {
  aws = await startTestAws();
  for (const event of eventNames) {
    Object.assign(process.env, functionEnvironment(kebabCase(event), aws));
    const { handler } = await import(`../../lambda/events/${kebabCase(event)}/consumer.ts`);
    handlers.set(event, handler);
  }
});
afterAll(() => aws.close());

const CONTEXT = {
  functionName: 'consumer',
  functionVersion: '$LATEST',
  memoryLimitInMB: '512',
  awsRequestId: 'fuzz',
  invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:consumer',
  getRemainingTimeInMillis: () => 30_000,
} as unknown as Context;

const word = fc.oneof(
  fc.constantFrom(
    '2026-01-31T09:00:00.000Z',
    'a',
    '0',
    '-1',
    'NaN',
    '__proto__',
    '../../x',
    ' ',
    'x'.repeat(3000),
    '{"name":"fuzz","mode":"repair","notify":true}',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
);
const attributeNames = [
  ...['event', 'eventId', 'receivedAt', 'requestId', 'payloadKey', 'replay', 'reason', 'failureReason'],
  'failedAt',
  ...['a', 'b', 'c', 'd', 'constructor', '__proto__'],
];
const messageAttributes = fc.dictionary(
  fc.constantFrom(...attributeNames),
  fc.oneof(
    { weight: 4, arbitrary: word.map((stringValue) => ({ dataType: 'String', stringValue })) },
    { weight: 1, arbitrary: fc.constant({ dataType: 'Binary', binaryValue: 'AAEC' }) },
    { weight: 1, arbitrary: fc.constant({ dataType: 'Number.x', stringValue: '1' }) },
  ),
  { maxKeys: 10 },
);
const record = fc.record({
  messageId: fc.uuid(),
  receiptHandle: fc.constantFrom('handle', ''),
  body: bodyText,
  attributes: fc.record({
    ApproximateReceiveCount: fc.constantFrom('1', '2', '9', '10', '11', '1000', 'x', ''),
    SentTimestamp: fc.constantFrom('1769850000000', '0', 'x', '99999999999999999'),
    SenderId: word,
    ApproximateFirstReceiveTimestamp: word,
  }),
  messageAttributes: fc.oneof(fc.constant({}), messageAttributes),
  md5OfBody: fc.constant(''),
  eventSource: fc.constant('aws:sqs'),
  eventSourceARN: fc.constant('arn:aws:sqs:us-east-1:000000000000:queue'),
  awsRegion: fc.constant('us-east-1'),
});

const batch = fc.uniqueArray(record, { maxLength: 10, selector: ({ messageId }) => messageId });

const settled = { done: 0, failed: 0 };

test.each(eventNames)(
  'the consumer of %s settles every record of every batch, and never throws out of it',
  async (event) => {
    await fc.assert(
      fc.asyncProperty(batch, async (records) => {
        const response = await handlers.get(event)?.({ Records: records as SQSRecord[] }, CONTEXT);
        const sent = records.map(({ messageId }) => messageId);
        const failed = response?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
        expect(sent).toEqual(expect.arrayContaining(failed ?? ['no batch response']));
        expect(new Set(failed).size).toBe(failed?.length);
        settled.failed += failed?.length ?? 0;
        settled.done += sent.length - (failed?.length ?? 0);
      }),
      { seed: SEED, numRuns: BATCHES },
    );
  },
);

test('the records are of all kinds: some are done, some fail, some are dead letters', async () => {
  expect(Math.min(settled.done, settled.failed)).toBeGreaterThan(100);
  const queues = new Queues(aws.operator);
  for (const event of eventNames) {
    expect(await queues.count(aws.outputs[`${pascalCase(event)}DeadLetterQueueUrl`])).toBeGreaterThan(10);
  }
});
