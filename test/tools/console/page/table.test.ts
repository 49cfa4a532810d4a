import { expect, test } from '@jest/globals';
import { rowAfterKey, toggled } from '../../../../tools/console/page/ui/table.tsx';

const COUNT = 40;

test.each<[key: string, current: number, index: number | undefined]>([
  ['j', -1, 0],
  ['ArrowDown', 0, 1],
  ['j', COUNT - 1, COUNT - 1],
  ['k', -1, 0],
  ['ArrowUp', 5, 4],
  ['k', 0, 0],
  ['PageDown', 10, 25],
  ['PageDown', COUNT - 3, COUNT - 1],
  ['PageUp', 20, 5],
  ['PageUp', 3, 0],
  ['Home', 7, 0],
  ['End', 7, COUNT - 1],
  ['x', 7, undefined],
])('the key %s leads from row %d to row %d', (key, current, index) => {
  expect(rowAfterKey(key, current, COUNT)).toBe(index);
});

test('no key leads anywhere in an empty table', () => {
  expect(rowAfterKey('j', -1, 0)).toBeUndefined();
});

test('a tick is added, and removed the next time', () => {
  const once = toggled(new Set(['a']), 'b');
  expect([...once]).toEqual(['a', 'b']);
  expect([...toggled(once, 'a')]).toEqual(['b']);
});
