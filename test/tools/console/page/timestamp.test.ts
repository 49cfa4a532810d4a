import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withTimestamp } from '../../../../tools/console/page/editor/editor.tsx';

const NOW = new Date('2026-11-22T12:00:00.000Z');
const ISO = '"2026-11-22T12:00:00.000Z"';

test.each([
  ['the only key', '{"timestamp":"old"}', `{"timestamp":${ISO}}`],
  [
    'a key among others',
    '{ "a" : [1, {}] ,\n "timestamp" : "old" , "b": 1.0 }',
    `{ "a" : [1, {}] ,\n "timestamp" : ${ISO} , "b": 1.0 }`,
  ],
  ['the last of duplicate keys', '{"timestamp":1,"timestamp":2}', `{"timestamp":1,"timestamp":${ISO}}`],
  [
    'not a nested one',
    '{"data":{"timestamp":1},"timestamp":2}',
    `{"data":{"timestamp":1},"timestamp":${ISO}}`,
  ],
  ['a value that is an object', '{"timestamp":{"a":[1,2],"b":{}},"c":1}', `{"timestamp":${ISO},"c":1}`],
  ['a key with escapes', '{"time\\u0073tamp":1e999}', `{"time\\u0073tamp":${ISO}}`],
  [
    'beside strings that look like JSON',
    '{"a":"\\"timestamp\\":1,","timestamp":""}',
    `{"a":"\\"timestamp\\":1,","timestamp":${ISO}}`,
  ],
])('the timestamp changes and nothing else: %s', (_, text, expected) => {
  expect(withTimestamp(text, NOW)).toBe(expected);
});

test.each([
  ['no such key', '{"a":1}'],
  ['only a nested one', '{"data":{"timestamp":1}}'],
  ['a list', '[{"timestamp":1}]'],
  ['a string', '"timestamp"'],
  ['invalid JSON', '{"timestamp":1'],
  ['nothing', ''],
])('a text stays as it is with %s', (_, text) => {
  expect(withTimestamp(text, NOW)).toBeUndefined();
});

test('any object keeps its other values', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (others, value) => {
      const before = { ...others, timestamp: value };
      const after = withTimestamp(JSON.stringify(before), NOW) ?? '';
      expect(JSON.parse(after)).toEqual({
        ...JSON.parse(JSON.stringify(before)),
        timestamp: NOW.toISOString(),
      });
    }),
  );
});
