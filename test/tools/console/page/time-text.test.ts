import { expect, test } from '@jest/globals';
import { shortMomentText } from '../../../../tools/console/page/shared/time-text.ts';

test.each([
  ['of today has milliseconds', new Date(2026, 10, 21, 13, 4, 59, 7), '13:04:59.007'],
  ['of another day has the day instead', new Date(2026, 10, 20, 13, 4, 59, 7), '11-20 13:04:59'],
  ['of another year is a date', new Date(2025, 10, 21, 13, 4, 59, 7), '2025-11-21'],
])('a moment in a narrow column %s', (_, moment, text) => {
  expect(shortMomentText(moment, new Date(2026, 10, 21, 20))).toBe(text);
});
