import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SQSRecord } from 'aws-lambda';
import fc from 'fast-check';
import { readSamples } from '../../../events/samples.ts';
import { kebabCase, pascalCase } from '../../../lambda/events/event-names.ts';
import { anyCharacter } from '../../support/any-character.ts';
import {
  type ConsumerHandler,
  consumerContext,
  functionEnvironment,
} from '../../support/function-environment.ts';
import { Queues } from '../../support/queues.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

let aws: TestAws;
beforeAll(async () => {
  aws = await startTestAws();
});
afterAll(() => aws.close());

const word = fc.oneof(
  fc.constantFrom(
    '2026-01-31T09:00:00.000Z',
    '+012026-01-31T09:00:00Z',
    '-1',
    'NaN',
    '__proto__',
    '../../x',
    ' ',
  ),
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
      md5OfBody: fc.constant(''),
      eventSource: fc.constant('aws:sqs'),
      eventSourceARN: fc.constant('arn:aws:sqs:us-east-1:000000000000:queue'),
      awsRegion: fc.constant('us-east-1'),
    }),
    { maxLength: 10, selector: ({ messageId }) => messageId },
  );

test.each(readSamples())(
  'the consumer of $event settles every record of every batch, and never throws',
  async ({ event, payload }) => {
    Object.assign(process.env, functionEnvironment(kebabCase(event), aws));
    const { handler } = (await import(`../../../lambda/events/${kebabCase(event)}/consumer.ts`)) as {
      handler: ConsumerHandler;
    };
    let [done, failed] = [0, 0];
    const settles = fc.asyncProperty(batchWith(JSON.stringify(payload)), async (records) => {
      const { batchItemFailures } = await handler({ Records: records as SQSRecord[] }, consumerContext);
      const sent = records.map(({ messageId }) => messageId);
      const left = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
      expect(sent).toEqual(expect.arrayContaining(left));
      expect(new Set(left).size).toBe(left.length);
      failed += left.length;
      done += sent.length - left.length;
    });
    await fc.assert(settles, { numRuns: 20 });
    // Otherwise the batches would prove nothing.
    expect(Math.min(done, failed)).toBeGreaterThan(0);
    const deadLetters = aws.outputs[`${pascalCase(event)}DeadLetterQueueUrl`];
    expect(await new Queues(aws.operator).count(deadLetters)).toBeGreaterThan(0);
  },
);
