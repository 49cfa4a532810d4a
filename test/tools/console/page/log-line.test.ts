import { expect, test } from '@jest/globals';
import { factsOfLine, readLogLine } from '../../../../tools/console/page/detail/logs.tsx';

test('a line of a function is its level, its message, and what else it says', () => {
  const line = readLogLine(
    '{"level":"INFO","message":"Processed","timestamp":"t","eventId":"e","attempt":1,"cause":{"error":"E"}}',
  );
  expect(line).toMatchObject({ level: 'INFO', message: 'Processed' });
  expect(factsOfLine(line)).toBe('attempt=1  cause={"error":"E"}');
});

test.each(['START RequestId: 1', '[1,2]', 'null', '"text"', '{"cut":'])(
  'a line %j is its own message',
  (text) => {
    expect(readLogLine(text)).toEqual({ message: text });
    expect(factsOfLine({ message: text })).toBe('');
  },
);
