import { expect, test } from '@jest/globals';
import { ageText } from '../../../../tools/console/page/shared/age-text.ts';

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
