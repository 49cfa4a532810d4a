import { describe, expect, test } from '@jest/globals';
import { LogFormat } from '../../start/log-format.ts';

/** Ignores the exact width of columns, which depends on the longest names. */
const format = (text: string, width = Number.POSITIVE_INFINITY) =>
  new LogFormat(process.stdout, width)
    .logLine({ functionName: 'Hooks-Receiver', at: Date.parse(structured.timestamp), stream: 'stdout', text })
    ?.replaceAll(/(?<=\S) +/g, ' ');

const structured = {
  level: 'INFO',
  message: 'Accepted',
  timestamp: '2026-01-31T09:00:00.123Z',
  service: 'receiver',
};

describe('a line of a function', () => {
  const ended = { timestamp: structured.timestamp, level: 'ERROR', requestId: 'id' };
  test.each([
    {
      given: 'a text among its facts as it is, other facts as JSON',
      line: { ...structured, event: 'shop.updated', attempt: 2, stored: false, shop: null, fields: ['name'] },
      shown: '09:00:00 receiver INFO Accepted shop.updated attempt=2 stored=false shop=null fields=["name"]',
    },
    {
      given: 'an error that ended an invocation with a delivery, with the event’s id',
      line: {
        ...ended,
        event: 'shop.updated',
        eventId: 'e1',
        message: { errorType: 'Runtime.ExitError', errorMessage: 'exit status 1', stackTrace: [] },
      },
      shown: '09:00:00 Hooks-Receiver ERROR Runtime.ExitError e1 exit status 1 shop.updated',
    },
    {
      given: 'Lambda’s report of an invocation that timed out',
      line: {
        time: structured.timestamp,
        type: 'platform.report',
        record: { requestId: 'id', status: 'timeout' },
      },
      shown: '09:00:00 Hooks-Receiver ERROR timeout',
    },
    {
      given: 'a failed call by its service and operation, without the attempts of the SDK',
      line: {
        ...structured,
        attempt: 3,
        call: 'DynamoDB UpdateItem',
        error: 'connection closed',
        sdkAttempts: 2,
      },
      shown: '09:00:00 receiver INFO Accepted DynamoDB UpdateItem: connection closed attempt=3',
    },
    {
      given: 'of a consumer without its own event and a first attempt',
      line: { ...structured, service: 'shop-updated', event: 'shop.updated', attempt: 1, latencyMs: 12 },
      shown: '09:00:00 shop-updated INFO Accepted latencyMs=12',
    },
  ])('$given', ({ line, shown }) => {
    expect(format(JSON.stringify(line))).toBe(shown);
  });

  test.each(['loading', '{ not JSON', ''])('after time and function if it is the text %j', (text) => {
    expect(format(text)).toBe(`09:00:00 Hooks-Receiver ${text}`.trimEnd());
  });
});

test('an id is complete in a file or a pipe, and has eight characters on a terminal', () => {
  const line = JSON.stringify({ ...structured, eventId: 'e'.repeat(64), attempt: 10 });
  expect(format(line)).toBe(`09:00:00 receiver INFO Accepted ${'e'.repeat(64)} attempt=10`);
  expect(format(line, 100)).toBe('09:00:00 receiver INFO Accepted eeeeeeee attempt=10');
});

test('on a narrow terminal facts move to the next line, and none is cut', () => {
  const line = JSON.stringify({ ...structured, one: 'x'.repeat(40), two: 'y'.repeat(70) });
  expect(format(line, 60)?.split('\n')).toEqual([
    '09:00:00 receiver INFO Accepted',
    `         one=${'x'.repeat(40)}`,
    `         two=${'y'.repeat(70)}`,
  ]);
});

test('the stack of an error is printed below its line, and that of its cause below it', () => {
  const line = {
    ...structured,
    level: 'ERROR',
    message: 'Failed',
    stack: ['lambda/effects/idempotency.ts:84'],
    cause: { error: 'ResourceNotFoundException', errorMessage: 'gone', stack: ['node_modules/@smithy/core'] },
  };
  expect(format(JSON.stringify(line))?.split('\n')).toEqual([
    '09:00:00 receiver ERROR Failed',
    '         at lambda/effects/idempotency.ts:84',
    '         caused by ResourceNotFoundException: gone',
    '         at node_modules/@smithy/core',
  ]);
});

test('a metric is not printed', () => {
  expect(format('{"_aws":{"Timestamp":1},"Accepted":1}')).toBeUndefined();
});
