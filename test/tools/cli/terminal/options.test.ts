import { describe, expect, test } from '@jest/globals';
import { eachOf, time } from '../../../../tools/cli/terminal/options.ts';

describe('a time', () => {
  test.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T09:00Z', '2026-01-31T09:00:00.000Z'],
    ['2026-01-31T09:00:07.5Z', '2026-01-31T09:00:07.500Z'],
    ['2026-01-31T09:00:00+02:00', '2026-01-31T07:00:00.000Z'],
  ])('%s is %s', (text, moment) => {
    expect(time(text).toISOString()).toBe(moment);
  });

  test.each([
    ['90m', 5_400_000],
    ['3h', 10_800_000],
    ['7d', 604_800_000],
  ])('%s is %d ms ago', (text, length) => {
    const before = Date.now();
    const found = time(text).getTime() + length;
    expect(found).toBeGreaterThanOrEqual(before);
    expect(found).toBeLessThanOrEqual(Date.now());
  });

  test.each([
    '',
    'yesterday',
    '3',
    '0h',
    '3 h',
    '-3h',
    '3w',
    '1769850000',
    '2026-1-31',
    '2026-02-30',
    '2026-02-30T09:00:00Z',
    '2026-01-31T25:00Z',
    '2026-01-31T09:00:00',
    '2026-01-31 09:00:00Z',
  ])('is not %j', (text) => {
    expect(() => time(text)).toThrow(/^It must be a time such as 2026-01-31T09:00:00Z, /);
  });
});

test('words of a list are collected, and another one is refused with the list', () => {
  const parse = eachOf(['fill', 'repair']);
  expect(parse('repair', parse('fill'))).toEqual(['fill', 'repair']);
  expect(() => parse('Fill')).toThrow('One of: fill, repair');
});
