import { describe, expect, test } from '@jest/globals';
import { describe as described } from '../../../../tools/cli/terminal/progress.ts';

describe('a piece of work', () => {
  test.each([
    ['that has only begun has no estimate', { done: 1, total: 1_000 }, 60_000, 'Posting 0 % · 1 of 1,000'],
    [
      'has one from its pace so far',
      { done: 250, total: 1_000 },
      60_000,
      'Posting 25 % · 250 of 1,000 · about 3 min left',
    ],
    ['that is done has none', { done: 10, total: 10 }, 60_000, 'Posting 100 % · 10 of 10'],
    ['of nothing is done', { done: 0, total: 0 }, 60_000, 'Posting 100 % · 0 of 0'],
    [
      'says what it counts, and what else there is to know',
      { done: 5, total: 10, unit: 'rounds', note: '2 kills' },
      1_000,
      'Posting 50 % · 5 of 10 rounds · about 1 s left · 2 kills',
    ],
  ])('%s', (_, step, elapsed, line) => {
    expect(described({ doing: 'Posting', ...step }, elapsed)).toBe(line);
  });
});
