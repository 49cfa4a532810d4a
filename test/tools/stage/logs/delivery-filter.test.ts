import { describe, expect, test } from '@jest/globals';
import type { FunctionName } from '../../../../tools/stage/logs/follow.ts';
import { deliveryFilter } from '../../../../tools/stage/logs/tail.ts';

const eventId = 'abcdef0123456789'.repeat(4);
const ids = { eventId, requestId: 'Request-1=', messageId: 'message-1' };
type Filter = Parameters<typeof deliveryFilter>[0];
const passes = (filter: Filter, line: object | string, name: FunctionName = 'shop.updated') =>
  deliveryFilter(filter)({
    function: name,
    at: 0,
    text: typeof line === 'string' ? line : JSON.stringify(line),
  });

describe('without a wish', () => {
  test.each([
    ['what a function writes of a delivery', { message: 'Processed', ...ids }, true],
    ['what it writes of none, such as that a variable is missing', 'Error: Missing variable', true],
    ['metrics', { _aws: {}, Processed: 1 }, false],
    ['the start of an invocation, of which Lambda tells', 'START RequestId: 1 Version: 1', false],
    ['its end', 'REPORT RequestId: 1 Duration: 1 ms', false],
    ['a time-out', '2026-01-31T09:00:00Z 1 Task timed out after 30.00 seconds', true],
    ['a time-out in JSON', '{"type":"platform.report","record":{"requestId":"1","status":"timeout"}}', true],
    [
      'its run in JSON, of which the report tells again',
      '{"type":"platform.runtimeDone","record":{"requestId":"1","status":"timeout"}}',
      false,
    ],
    ['the error that ended it', '{"level":"ERROR","requestId":"1","message":{"errorType":"Error"}}', true],
    ['its end in JSON', '{"type":"platform.report","record":{"requestId":"1","status":"success"}}', false],
    ['JSON that is cut off', '{"message":', true],
  ])('%s: %#', (_, line, expected) => {
    expect(passes({}, line)).toBe(expected);
  });
});

describe('of one event', () => {
  const filter: Filter = { events: ['shop.updated'] };
  test.each([
    ['the receiver’s line of it', { event: 'shop.updated' }, 'receiver', true],
    ['the receiver’s line of another', { event: 'user.updated' }, 'receiver', false],
    ['the error that ended a consumer', { message: { errorType: 'Error' } }, 'shop.updated', true],
    ['the error that ended the receiver', { message: { errorType: 'Error' } }, 'receiver', false],
    ['the receiver’s line of none', { message: 'Rejected' }, 'receiver', false],
    ['the receiver’s text, which may be of any', 'Error', 'receiver', false],
    ['the consumer’s text', 'Task timed out', 'shop.updated', true],
  ] as const)('%s', (_, line, name, expected) => {
    expect(passes(filter, line, name)).toBe(expected);
  });
});

describe('of one id', () => {
  test.each([
    ['an event’s', eventId, true],
    ['its first eight characters', 'abcdef01', true],
    ['the same in capitals', 'ABCDEF01', true],
    ['a request’s', 'Request-1=', true],
    ['its first eight characters', 'Request-', true],
    ['a request’s in other letters', 'request-1=', false],
    ['a message’s', 'message-1', true],
    ['another', 'abcdef02', false],
    ['the middle of one', '0123456789', false],
  ])('%s: %s', (_, id, expected) => {
    expect(passes({ id }, { message: 'Processed', ...ids })).toBe(expected);
  });

  test('also a line that is no JSON and names it', () => {
    expect(passes({ id: 'Request-1=' }, 'RequestId: Request-1= Task timed out')).toBe(true);
    expect(passes({ id: 'Request-1=' }, 'RequestId: Request-2= Task timed out')).toBe(false);
  });
});
