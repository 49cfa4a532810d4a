import { expect, test } from '@jest/globals';
import { compare, figureTable } from '../../bench/figures.ts';

test('ratios are those of pairs, so that a slow moment that affects both changes nothing', () => {
  const pairs = [2, 200, 20, 4].map((of) => ({ of, to: of / 2 }));
  expect(compare(pairs, 10)).toEqual({ median: 2, made: '2.00 ms ÷ 1.00 ms' });
  expect(() => compare([])).toThrow('Nothing was measured');
});

test('a figure meets its goal up to its value', () => {
  const figure = { name: 'start', title: 'start ÷ bare start', atMost: 1.1, made: 'a ÷ b' };
  const [, met, missed] = figureTable(
    [1.1, 1.25].map((median) => ({ ...figure, median })),
    120,
  );
  expect(met).toMatch(/^start ÷ bare start +≤ 1\.10 +1\.10 +✓ +a ÷ b$/);
  expect(missed).toMatch(/^start ÷ bare start +≤ 1\.10 +1\.25 +✗ +a ÷ b$/);
});
