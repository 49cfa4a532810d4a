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
  expect(countNew(held, ['f', 'e', 'd', 'c', 'b'].map(row))).toBe(2);
});

test('what is older than all of a held list comes below it', () => {
  expect(olderThan(held, ['e', 'd', 'c', 'b', 'a', '0'].map(row))).toEqual(['a', '0'].map(row));
});

test('what comes between its rows, or leaves them, moves nothing in a held list', () => {
  expect(olderThan(held, ['d', 'between', 'b'].map(row))).toEqual([]);
  expect(countNew(held, ['d', 'between', 'b'].map(row))).toBe(0);
});

test('nothing comes below a held list if its filter admits none of its rows any more', () => {
  expect(olderThan(held, ['z', 'y'].map(row))).toEqual([]);
});
