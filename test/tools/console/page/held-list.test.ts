import { expect, test } from '@jest/globals';
import { countNew, holdList, olderThan } from '../../../../tools/console/page/deliveries/held-list.ts';
import type { Delivery } from '../../../../tools/stage/history/history.ts';

const row = (id: string): Delivery => ({
  id,
  receivedAt: '2026-11-21T10:00:00.000Z',
  state: 'processed',
  attempts: 1,
});
const held = holdList(['d', 'c', 'b'].map(row));

test('what is newer than all of a held list is counted', () => {
  expect(countNew(held, ['f', 'e', 'd', 'c', 'b'])).toBe(2);
});

test('what is older than all of a held list comes below it', () => {
  expect(olderThan(held, ['e', 'd', 'c', 'b', 'a', '0'])).toEqual(['a', '0']);
});

test('what comes between its rows, or leaves them, moves nothing in a held list', () => {
  expect(olderThan(held, ['d', 'between', 'b'])).toEqual([]);
  expect(countNew(held, ['d', 'between', 'b'])).toBe(0);
});

test('nothing comes below a held list of which nothing is admitted any more', () => {
  expect(olderThan(held, ['z', 'y'])).toEqual([]);
});
