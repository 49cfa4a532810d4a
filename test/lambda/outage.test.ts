import { describe, expect, test } from '@jest/globals';
import { isOutage } from '../../lambda/outage.ts';

const failed = (name: string, more: object = {}) => Object.assign(new Error('x'), { name, ...more });
const answered = (httpStatusCode: number) => ({ $metadata: { httpStatusCode, attempts: 1 } });

describe('an outage of a dependency', () => {
  test.each([
    { kind: 'no answer in time', error: failed('TimeoutError', { $metadata: { attempts: 2 } }) },
    { kind: 'an answer of 503', error: failed('ServiceUnavailable', answered(503)) },
    { kind: 'an answer of 507', error: failed('InsufficientStorage', answered(507)) },
    { kind: 'an answer of 429', error: failed('TooMany', answered(429)) },
    { kind: 'a throttle', error: failed('ThrottlingException', answered(400)) },
    { kind: 'throttling of the key', error: failed('KmsThrottled', answered(400)) },
    { kind: 'a connection that breaks', error: failed('Error', { code: 'ECONNRESET' }) },
    { kind: 'a host that is not found', error: failed('Error', { code: 'EAI_AGAIN' }) },
    {
      kind: 'what one caused',
      error: new Error('x', { cause: failed('ThrottlingException', answered(400)) }),
    },
  ])('is $kind', ({ error }) => {
    expect(isOutage(error)).toBe(true);
  });

  test.each([
    { kind: 'a bug', error: new TypeError('x') },
    { kind: 'a misuse of Node.js', error: failed('TypeError', { code: 'ERR_INVALID_ARG_TYPE' }) },
    {
      kind: 'a bug below the repeats of the SDK',
      error: failed('TypeError', { $metadata: { attempts: 1 } }),
    },
    { kind: 'a missing permission', error: failed('AccessDeniedException', answered(400)) },
    { kind: 'a missing queue', error: failed('QueueDoesNotExist', answered(400)) },
    { kind: 'what is no error', error: 'x' },
  ])('is not $kind', ({ error }) => {
    expect(isOutage(error)).toBe(false);
  });
});
