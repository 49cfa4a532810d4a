import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import fc from 'fast-check';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { kebabCase, pascalCase } from '../../../lambda/events/event-names.ts';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { consumerContext, functionEnvironment } from '../../../test/support/function-environment.ts';
import { Queues } from '../../../test/support/queues.ts';
import { startTestAws, type TestAws } from '../../../test/support/test-aws.ts';
import { FuzzedReceiver } from './fuzz.ts';
import { bodyText, modelledEvents } from './requests.ts';

/** A seed with which {@link REQUESTS} reach every outcome, also the payloads that are too large for a queue. */
const SEED = 16;

/** Number of requests: enough for every outcome and event. `npx hookctl fuzz` sends more, with other seeds. */
const REQUESTS = 1_000;

/** Number of batches for each event: enough for more than 10 dead letters of each event. */
const BATCHES = 15;

let aws: TestAws;
beforeAll(async () => {
  aws = await startTestAws();
});
afterAll(() => aws.close());

// Takes 2 s for each gateway: a thousand requests, and every stored message is read.
test.each(['http', 'rest'] as const)(
  'whatever comes in through gateway %s is answered as the decisions say, and what is signed is kept',
  async (gateway) => {
    const receiver = await FuzzedReceiver.load(aws, gateway);
    const { statuses, messages, stored, violation } = await receiver.fuzz(REQUESTS, SEED);
    receiver.close();
    expect(violation).toBeUndefined();
    // The generator must reach all outcomes. Otherwise the test would prove nothing.
    for (const status of ['200', '400', '401']) expect(statuses[status]).toBeGreaterThan(REQUESTS / 10);
    expect(Object.keys(messages).sort()).toEqual([...modelledEvents, 'quarantine', 'unrouted'].sort());
    expect(stored).toBeGreaterThan(0);
  },
);

describe('consumers', () => {
  const word = fc.oneof(
    fc.constantFrom(
      '2026-01-31T09:00:00.000Z',
      '+012026-01-31T09:00:00Z',
      'a',
      '0',
      '-1',
      'NaN',
      '__proto__',
      '../../x',
      ' ',
    ),
    fc.constantFrom('x'.repeat(3000), '{"name":"fuzz","mode":"repair","notify":true}'),
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
    messageAttributes: fc.oneof(
      fc.constant({}),
      fc.dictionary(attributeName, attributeValue, { maxKeys: 10 }),
    ),
    md5OfBody: fc.constant(''),
    eventSource: fc.constant('aws:sqs'),
    eventSourceARN: fc.constant('arn:aws:sqs:us-east-1:000000000000:queue'),
    awsRegion: fc.constant('us-east-1'),
  });
  const batch = fc.uniqueArray(record, { maxLength: 10, selector: ({ messageId }) => messageId });

  // Takes 2 s: fifteen batches for each event.
  test('settle every record of every batch, and never throw', async () => {
    let [done, failed] = [0, 0];
    for (const event of eventNames) {
      Object.assign(process.env, functionEnvironment(kebabCase(event), aws));
      const { handler } = (await import(`../../../lambda/events/${kebabCase(event)}/consumer.ts`)) as {
        handler: (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;
      };
      const settles = fc.asyncProperty(batch, async (records) => {
        const { batchItemFailures } = await handler({ Records: records as SQSRecord[] }, consumerContext);
        const sent = records.map(({ messageId }) => messageId);
        const left = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
        expect(sent).toEqual(expect.arrayContaining(left));
        expect(new Set(left).size).toBe(left.length);
        failed += left.length;
        done += sent.length - left.length;
      });
      await fc.assert(settles, { seed: SEED, numRuns: BATCHES });
      const deadLetters = aws.outputs[`${pascalCase(event)}DeadLetterQueueUrl`];
      expect(await new Queues(aws.operator).count(deadLetters)).toBeGreaterThan(10);
    }
    // The batches must contain records of all kinds: some are processed, some fail, some become dead letters.
    expect(Math.min(done, failed)).toBeGreaterThan(50);
  });
});
