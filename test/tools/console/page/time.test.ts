import { expect, test } from '@jest/globals';
import { ageText, dayText, utcText } from '../../../../tools/console/page/ui/time.tsx';

const now = Date.parse('2026-01-31T12:00:00.000Z');

test.each([
  [0, '0 s'],
  [-5_000, '0 s'],
  [999, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [7_200_000, '2 h'],
  [259_200_000, '3 d'],
])('what was %d ms ago was %s ago', (milliseconds, text) =>
  expect(ageText(new Date(now - milliseconds).toISOString(), now)).toBe(text),
);

test.each([
  ['of today has no day', new Date(2026, 10, 21), ''],
  ['of another day of the year has month and day', new Date(2026, 10, 20), '11-20 '],
  ['of another year is a whole date', new Date(2025, 10, 21), '2025-11-21 '],
])('a moment %s', (_, moment, text) => {
  expect(dayText(moment, new Date(2026, 10, 21, 20))).toBe(text);
});

test('the title of a time has the same moment in UTC', () => {
  expect(utcText('2026-01-31T12:00:00.123Z')).toBe('2026-01-31 12:00:00.123 UTC');
});
