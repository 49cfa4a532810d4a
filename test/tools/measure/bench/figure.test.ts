import { expect, test } from '@jest/globals';
import {
  compare,
  exactly,
  type Figure,
  figureJson,
  figureTable,
  isReached,
} from '../../../../tools/measure/bench/figure.ts';
import { FIGURES } from '../../../../tools/measure/bench/figures.ts';

const figure: Figure = {
  name: 'start',
  title: 'start ÷ bare start',
  atMost: 1.1,
  measure: () => Promise.reject(new Error('never asked')),
};
const of = (median: number) => ({ ...exactly(median), made: 'a ÷ b' });

test('each figure can be requested by its own name', () => {
  const names = FIGURES.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).not.toContain('all');
});

test('ratios are those of pairs, so that a slow moment that affects both changes nothing', () => {
  const pairs = [
    { of: 2, to: 1 },
    { of: 200, to: 100 },
    { of: 20, to: 10 },
    { of: 50, to: 10 },
    { of: 1, to: 1 },
  ];
  expect(compare(pairs, 10)).toEqual({
    median: 2,
    firstQuartile: 2,
    thirdQuartile: 2,
    rounds: 5,
    made: '2.00 ms ÷ 1.00 ms',
  });
  expect(() => compare([])).toThrow('Nothing was measured');
});

test('a goal is reached up to its value', () => {
  expect([1, 1.1, 1.2].map((median) => isReached(figure, of(median)))).toEqual([true, true, false]);
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
    { name: 'start', title: figure.title, atMost: 1.1, ...of(1.25) },
    { name: 'start', title: figure.title, atMost: 1.1, error: 'there is no openssl' },
  ]);
});
