import { describe, expect, test } from '@jest/globals';
import { parseLogLine } from '../../../../tools/stage/history/log-line.ts';
import { queryText } from '../../../../tools/stage/history/log-query.ts';
import { parseTraceId } from '../../../../tools/stage/history/trace-id.ts';

const HEX = '0123456789abcdef'.repeat(4);

describe('an id', () => {
  test.each([
    ['of an event', HEX, HEX],
    ['that an event’s begins with', HEX.slice(0, 8), HEX.slice(0, 8)],
    ['in capitals', 'ABCDEF01', 'abcdef01'],
    ['of a request to an HTTP API', 'JKJaXmPLvHcESHA=', undefined],
    ['of a request to a REST API', 'b1/+_-JKJaXmPLvHcESHA==', undefined],
    ['longer than any event’s', `${HEX}0`, undefined],
    ['of a webhook', 'wh:2026.01~a@b', undefined],
  ])('%s is taken', (_, text, eventIdPrefix) => {
    expect(parseTraceId(text)).toEqual({ text, eventIdPrefix });
  });

  test.each([
    ['', 'The id is empty'],
    ['abcdef0', "'abcdef0' is too short: of an event id at least the first 8 characters"],
    ['abc def 01', 'has characters that no id has'],
    ['abcdef01"', 'has characters that no id has'],
    ['\u001b[31mabcdef01', 'has characters that no id has'],
    ['x'.repeat(129), 'The id has 129 characters, and none has more than 128'],
  ])('%j is refused', (text, line) => {
    expect(() => parseTraceId(text)).toThrow(line);
  });
});

test('what an id has of a regular expression’s is escaped in the query', () => {
  expect(queryText({ eventIdPrefix: 'abcdef01', requestId: 'a.b/c+d=' })).toBe(
    'fields @message | filter @message like /"eventId":"abcdef01|"requestId":"a\\.b\\/c\\+d="/ | sort @timestamp desc | limit 1000',
  );
  expect(queryText({ eventIdPrefix: HEX })).toContain(`like /"eventId":"${HEX}/`);
});

test.each([
  ['no JSON', 'START RequestId: 1'],
  ['a metric', '{"_aws":{},"service":"receiver"}'],
  ['about no event', '{"timestamp":"2026-01-31T09:00:00Z","level":"INFO","message":"x"}'],
  ['of no time', '{"timestamp":"soon","level":"INFO","message":"x","eventId":"y"}'],
])('a line that is %s is passed over', (_, text) => {
  expect(parseLogLine(text)).toBeUndefined();
});
