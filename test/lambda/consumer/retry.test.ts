import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { UnprocessableMessageError } from '../../../lambda/consumer/received-event.ts';
import { backOffSeconds, isOutage, isPermanent } from '../../../lambda/consumer/retry.ts';

describe('the wait after a failure', () => {
  test('doubles from 30 s to an hour', () => {
    const waits = Array.from({ length: 10 }, (_, index) => backOffSeconds(index + 1, 30, 0.5));
    expect(waits).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
  });

  test('lets ten receives last some three hours', () => {
    const waits = Array.from({ length: 9 }, (_, index) => backOffSeconds(index + 1, 30, 0.5));
    expect(waits.reduce((sum, wait) => sum + wait) / 3600).toBeCloseTo(3, 0);
  });

  test('differs by chance, by a quarter at most, and never exceeds an hour', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, random) => {
          const middle = 30 * 2 ** (attempt - 1);
          const wait = backOffSeconds(attempt, 30, random);
          expect(wait).toBeLessThanOrEqual(3600);
          expect(wait).toBeGreaterThanOrEqual(Math.min(3600, Math.floor(middle * 0.75)));
          expect(wait).toBeLessThanOrEqual(Math.ceil(middle * 1.25));
        },
      ),
    );
  });
});

describe('a failure', () => {
  const named = (name: string) => Object.assign(new Error('x'), { name });

  test.each([
    ['a message that is no usable event', new UnprocessableMessageError('x')],
    ['a payload that is gone', named('NoSuchKey')],
    ['an item larger than DynamoDB takes', named('ValidationException')],
    ['what DynamoDB cannot read', named('SerializationException')],
    ['a message with characters that SQS refuses', named('InvalidMessageContents')],
    ['an attribute that SQS refuses', named('InvalidParameterValue')],
    ['an attribute that SNS refuses', named('InvalidParameterValueException')],
    ['a notification that SNS refuses', named('InvalidParameterException')],
    ['a notification that SNS refuses by its short name', named('InvalidParameter')],
  ])('of %s cannot pass', (_, error) => {
    expect(isPermanent(error)).toBe(true);
  });

  test.each([
    ['throttling', named('ThrottlingException')],
    ['throughput', named('ProvisionedThroughputExceededException')],
    ['a time-out', named('TimeoutError')],
    ['an internal error', named('InternalServerError')],
    ['a missing permission', named('AccessDeniedException')],
    ['a missing distribution', named('NoSuchDistribution')],
    ['too many invalidations', named('TooManyInvalidationsInProgress')],
    ['a missing table', named('ResourceNotFoundException')],
    ['a connection', Object.assign(new Error('x'), { code: 'ECONNRESET' })],
    ['a bug', new TypeError('x')],
    ['what is no error', 'x'],
  ])('of %s may pass', (_, error) => {
    expect(isPermanent(error)).toBe(false);
  });
});

describe('an outage of a dependency', () => {
  const failed = (name: string, properties: object) => Object.assign(new Error('x'), { name, ...properties });
  const answered = (httpStatusCode: number) => ({ $metadata: { httpStatusCode, attempts: 1 } });

  test.each([
    ['no answer in time', failed('TimeoutError', { $metadata: { attempts: 2 } })],
    ['an answer of 503', failed('ServiceUnavailable', answered(503))],
    ['an answer of 507', failed('InsufficientStorage', answered(507))],
    ['an answer of 429', failed('TooMany', answered(429))],
    ['a throttle with a status of 400', failed('ProvisionedThroughputExceededException', answered(400))],
    ['too many invalidations', failed('TooManyInvalidationsInProgress', answered(400))],
    ['throttling of the key', failed('KmsThrottled', answered(400))],
    ['a payload that breaks off', failed('Error', { code: 'ECONNRESET' })],
    ['a host that is not found', failed('Error', { code: 'EAI_AGAIN' })],
    ['a record that Firehose refuses', failed('NotArchivedError', {})],
    ['a notification that another invocation is at', failed('IdempotencyAlreadyInProgressError', {})],
    ['what was caused by one', new Error('x', { cause: failed('ThrottlingException', answered(400)) })],
  ])('is %s', (_, error) => {
    expect(isOutage(error)).toBe(true);
  });

  test.each([
    ['a bug', new TypeError('x')],
    ['a misuse of Node.js', failed('TypeError', { code: 'ERR_INVALID_ARG_TYPE' })],
    ['a bug below the repeats of the SDK', failed('TypeError', { $metadata: { attempts: 1 } })],
    ['a missing file', failed('Error', { code: 'ENOENT' })],
    ['work that never ends', failed('OutOfTimeError', {})],
    ['a message that is no usable event', new UnprocessableMessageError('x')],
    ['a missing permission', failed('AccessDeniedException', answered(400))],
    ['a missing table', failed('ResourceNotFoundException', answered(400))],
    ['an item that DynamoDB refuses', failed('ValidationException', answered(400))],
    ['what is no error', 'x'],
  ])('is not %s', (_, error) => {
    expect(isOutage(error)).toBe(false);
  });
});
