import { type SendMessageCommand, type SendMessageCommandInput, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, jest, test } from '@jest/globals';
import type { SQSRecord } from 'aws-lambda';
import { sqsEvent } from '../../../events/samples.ts';
import { TooLargeToArchiveError } from '../../../lambda/archive/archive.ts';
import {
  readMetadata,
  readRecord,
  UnprocessableMessageError,
} from '../../../lambda/consumer/received-event.ts';
import { backOffSeconds, isPermanent, retryDelaySeconds } from '../../../lambda/consumer/retry.ts';
import { SourceQueue } from '../../../lambda/consumer/source-queue.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import { MAX_RECEIVES } from '../../../lambda/limits.ts';

const payload = { event: 'shop.updated', data: { shop_id: 'shop-1' }, timestamp: '2026-01-31T09:00:00Z' };
const [sample] = sqsEvent({ event: 'shop.updated', name: 'shop-updated', payload }).Records as [SQSRecord];
const eventId = sha256Hex(JSON.stringify(payload));

const text = (stringValue: string) => ({ dataType: 'String' as const, stringValue });

describe('an event', () => {
  test("has the receiver's facts of its delivery", async () => {
    expect(await readRecord('shop.updated', sample)).toEqual({
      event: 'shop.updated',
      data: { shop_id: 'shop-1' },
      sentShopId: 'shop-1',
      timestamp: '2026-01-31T09:00:00.000000000Z',
      text: JSON.stringify(payload),
      eventId,
      requestId: 'JKJaXmPLvHcESHA=',
      receivedAt: '2026-01-31T09:00:00.000Z',
      attempt: 1,
      replay: undefined,
    });
  });

  test("that was sent by hand, without attributes, gets the hash of its body as id, and its queue's time of receipt", () => {
    expect(readMetadata({ ...sample, messageAttributes: {} })).toEqual({
      eventId,
      requestId: undefined,
      receivedAt: '2026-01-31T09:00:00.000Z',
      attempt: 1,
      replay: undefined,
    });
  });

  test.each([
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    // Not a time that sorts as text: then the queue's own.
    ['+012026-01-31T09:00:00Z', '2026-01-31T09:00:00.000Z'],
  ])('with the time of receipt %s was received at %s', (sent, received) => {
    const messageAttributes = { ...sample.messageAttributes, receivedAt: text(sent) };
    expect(readMetadata({ ...sample, messageAttributes }).receivedAt).toBe(received);
  });

  test.each([
    ['hello', 'Not a usable event: body must be JSON'],
    ...[{ event: 'user.updated', data: { user_id: 'u' } }, { event: 'example.unknown' }].map((other) => [
      JSON.stringify({ ...payload, ...other }),
      'Wrong event for this queue, which is for shop.updated',
    ]),
  ])('is not read from %s: %s', async (body = '', message) => {
    await expect(readRecord('shop.updated', { ...sample, body })).rejects.toThrow(
      expect.objectContaining({ name: 'UnprocessableMessageError', message }),
    );
  });
});

describe('a dead letter', () => {
  const TRACE = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1';

  /** Parameters of the call that sends to the dead-letter queue. */
  async function sentFor(record: SQSRecord, reason = 'Error: x'): Promise<SendMessageCommandInput> {
    Object.assign(process.env, {
      QUEUE_URL: 'queue',
      DEAD_LETTER_QUEUE_URL: 'dead-letters',
      MAXIMUM_RECEIVES: '10',
      FIRST_RETRY_DELAY_SECONDS: '30',
    });
    const send = jest.spyOn(SQSClient.prototype, 'send').mockImplementation(async () => {});
    await new SourceQueue().sendToDeadLetterQueue(record, reason);
    const [command] = send.mock.lastCall ?? [];
    return (command as SendMessageCommand).input;
  }

  test('has the text, the group, the trace and the attributes of its message', async () => {
    process.env._X_AMZN_TRACE_ID = TRACE.replace('53', '54');
    const attributes = { ...sample.attributes, MessageGroupId: 'shop-1', AWSTraceHeader: TRACE };
    const more = { payloadKey: text('shop.updated/x'), replay: text('{"name":"r"}') };
    const messageAttributes = { ...sample.messageAttributes, ...more };
    const sent = await sentFor({ ...sample, attributes, messageAttributes });
    delete process.env._X_AMZN_TRACE_ID;
    expect(sent).toEqual({
      QueueUrl: 'dead-letters',
      MessageBody: sample.body,
      MessageGroupId: 'shop-1',
      MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: TRACE } },
      MessageAttributes: {
        event: { DataType: 'String', StringValue: 'shop.updated' },
        eventId: { DataType: 'String', StringValue: eventId },
        receivedAt: { DataType: 'String', StringValue: '2026-01-31T09:00:00.000Z' },
        requestId: { DataType: 'String', StringValue: 'JKJaXmPLvHcESHA=' },
        payloadKey: { DataType: 'String', StringValue: 'shop.updated/x' },
        replay: { DataType: 'String', StringValue: '{"name":"r"}' },
        failureReason: { DataType: 'String', StringValue: 'Error: x' },
        failedAt: { DataType: 'String', StringValue: expect.stringMatching(/^\d{4}-.*Z$/) },
      },
    });
  });

  // Source: SQS developer guide, "Amazon SQS message metadata": a message can have up to 10 attributes.
  test.each([8, 9, 10])(
    'has the reason, the ids and at most ten attributes if its message has %d',
    async (count) => {
      const bytes = { dataType: 'Binary', binaryValue: 'AAEC' };
      const others = Array.from({ length: count - 1 }, (_, index) => [`other-${index}`, bytes]);
      const messageAttributes = Object.fromEntries([...others, ['eventId', text('e')]]);
      const { MessageAttributes = {} } = await sentFor({ ...sample, messageAttributes });
      expect(Object.keys(MessageAttributes)).toHaveLength(10);
      expect(MessageAttributes).toMatchObject({
        eventId: { StringValue: 'e' },
        'other-0': { DataType: 'Binary', BinaryValue: Buffer.from([0, 1, 2]) },
        failureReason: { StringValue: 'Error: x' },
        failedAt: {},
      });
    },
  );

  test('that fails again has only its last reason', async () => {
    const messageAttributes = {
      ...sample.messageAttributes,
      failureReason: text('old'),
      failedAt: text('old'),
    };
    const { MessageAttributes } = await sentFor({ ...sample, messageAttributes });
    expect(MessageAttributes).toMatchObject({ failureReason: { StringValue: 'Error: x' } });
    expect(MessageAttributes?.failedAt?.StringValue).not.toBe('old');
  });
});

describe('the wait after a failure', () => {
  test('doubles from 30 s to an hour: ten receives take about three hours', () => {
    const waits = Array.from({ length: 10 }, (_, index) => backOffSeconds(index + 1, 30, 0.5));
    expect(waits).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
  });

  test('varies randomly by up to a quarter, and never exceeds an hour', () => {
    expect([0, 0.5, 1].map((random) => backOffSeconds(3, 100, random))).toEqual([300, 400, 500]);
    expect([0, 1].map((random) => backOffSeconds(50, 30, random))).toEqual([3600, 3600]);
  });
});

const failed = (name: string, more: object = {}) => Object.assign(new Error('x'), { name, ...more });

const error = failed('TooManyInvalidationsInProgress');

test('while CloudFront is busy, the wait is random within a window that grows from 15 minutes to 11 hours', () => {
  const window = (attempt: number) => [0, 1].map((random) => retryDelaySeconds(error, attempt, 30, random));
  expect([1, 2, 3, 4, 9].map(window)).toEqual([
    [225, 900],
    [900, 3_600],
    [3_600, 14_400],
    [9_900, 39_600],
    [9_900, 39_600],
  ]);
  const longest = Array.from({ length: MAX_RECEIVES - 1 }, (_, index) => window(index + 1)[1] ?? 0);
  expect(longest.reduce((sum, wait) => sum + wait)).toBeLessThan(3 * 24 * 60 * 60);
});

test.each([
  new UnprocessableMessageError('x'),
  new TooLargeToArchiveError('x'),
  ...['NoSuchKey', 'ValidationException', 'SerializationException', 'InvalidMessageContents'].map((name) =>
    failed(name),
  ),
  ...['InvalidParameter', 'InvalidParameterValueException'].map((name) => failed(name)),
])('a failure is permanent: $name', (error) => {
  expect(isPermanent(error)).toBe(true);
});

test.each([
  ...['ThrottlingException', 'TimeoutError', 'InternalServerError', 'AccessDeniedException'].map((name) =>
    failed(name),
  ),
  ...['NoSuchDistribution', 'ResourceNotFoundException'].map((name) => failed(name)),
  failed('Error', { code: 'ECONNRESET' }),
  new TypeError('x'),
  { name: 'NoSuchKey' },
])('a failure is transient: $name', (error) => {
  expect(isPermanent(error)).toBe(false);
});
