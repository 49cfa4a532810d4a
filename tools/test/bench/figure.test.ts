import { expect, test } from '@jest/globals';
import { compare, exactly, type Figure, figureJson, figureTable } from '../../bench/figure.ts';

const figure: Figure = {
  name: 'start',
  title: 'start ÷ bare start',
  atMost: 1.1,
  measure: () => Promise.reject(new Error('never asked')),
};

test('ratios are those of pairs, so that a slow moment that affects both changes nothing', () => {
  const pairs = [2, 200, 20, 4].map((of) => ({ of, to: of / 2 }));
  const quartiles = { firstQuartile: 2, thirdQuartile: 2 };
  expect(compare(pairs, 10)).toEqual({ median: 2, ...quartiles, rounds: 4, made: '2.00 ms ÷ 1.00 ms' });
  expect(() => compare([])).toThrow('Nothing was measured');
});

test('a figure meets its goal up to its value, and one that could not be measured is listed with the others', () => {
  const results = [1.1, 1.25].map((median) => ({ ...exactly(median), made: 'a ÷ b' }));
  const rows = [...results, new Error('there is no openssl')].map((result) => ({ figure, result }));
  const [, met, missed, failed] = figureTable(rows, 120);
  expect(met).toMatch(/^start ÷ bare start +≤ 1\.10 +1\.10 +✓ +a ÷ b$/);
  expect(missed).toMatch(/^start ÷ bare start +≤ 1\.10 +1\.25 +✗ +a ÷ b$/);
  expect(failed).toMatch(/^start ÷ bare start +≤ 1\.10 +– +! +not measured: there is no openssl$/);
  expect(JSON.parse(figureJson(rows)).slice(1)).toEqual([
    { name: 'start', title: figure.title, atMost: 1.1, ...results[1] },
    { name: 'start', title: figure.title, atMost: 1.1, error: 'there is no openssl' },
  ]);
});
