import { expect, test } from '@jest/globals';
import {
  exactly,
  type Figure,
  figureJson,
  figureTable,
  type Measured,
  ratios,
  reaches,
  spread,
} from '../../../../tools/measure/bench/figure.ts';
import { FIGURES } from '../../../../tools/measure/bench/figures.ts';

const figure: Figure = {
  name: 'start',
  title: 'start ÷ bare start',
  goal: { atMost: 1.1 },
  measure: () => Promise.reject(new Error('never asked')),
};
const of = (median: number): Measured => ({ ...exactly(median), made: 'a ÷ b' });

test('each figure can be requested by its own name', () => {
  const names = FIGURES.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).not.toEqual(expect.arrayContaining(['figures', 'start', 'console']));
});

test('a spread has the median of the measurements, and half of them on both sides', () => {
  expect(spread([4, 1, 3, 2, 5])).toEqual({ median: 3, low: 2, high: 4, rounds: 5 });
  expect(() => spread([])).toThrow('Nothing was measured');
});

test('ratios are those of pairs, so that a slow moment that affects both changes nothing', () => {
  expect(
    ratios([
      { of: 2, to: 1 },
      { of: 200, to: 100 },
      { of: 20, to: 10 },
    ]).median,
  ).toBe(2);
});

test('a goal is reached from the right side', () => {
  expect([1, 1.1, 1.2].map((median) => reaches(figure, of(median)))).toEqual([true, true, false]);
  const most = { ...figure, goal: { atLeast: 600 } };
  expect([599, 600].map((median) => reaches(most, of(median)))).toEqual([false, true]);
});

test('a figure that could not be measured is listed with the others', () => {
  const rows = [
    { figure, result: of(1.25) },
    { figure, result: new Error('there is no openssl') },
  ];
  const [, missed, failed] = figureTable(rows, 120);
  expect(missed).toMatch(/^start ÷ bare start +≤ 1\.10 +1\.25 +✗ +a ÷ b$/);
  expect(failed).toMatch(/^start ÷ bare start +≤ 1\.10 +– +! +not measured: there is no openssl$/);
  expect(JSON.parse(figureJson(rows))).toEqual([
    { name: 'start', title: figure.title, goal: { atMost: 1.1 }, ...of(1.25) },
    { name: 'start', title: figure.title, goal: { atMost: 1.1 }, error: 'there is no openssl' },
  ]);
});
