import { expect, test } from '@jest/globals';
import { facts, lines } from '../../../../tools/cli/terminal/facts.ts';

test('facts have their names in one column, and values that do not fit go on below themselves', () => {
  const all = [
    ['mode', 'repair: state is written anew by its newest event'],
    ['cost', 'less than a cent'],
  ] as const;
  expect(facts(all, 40)).toEqual([
    '  mode  repair: state is written anew by',
    '        its newest event',
    '  cost  less than a cent',
  ]);
  expect(facts(all, Number.POSITIVE_INFINITY)).toHaveLength(2);
});

test('a word that is longer than a line stands alone', () => {
  const id = 'e'.repeat(64);
  expect(facts([['ids', `${id} x`]], 40)).toEqual([`  ids  ${id}`, '       x']);
});

test('a fact without a value is left out, and a value that is not wrapped stays as it is', () => {
  const all = [
    ['expired', undefined],
    ['people', false],
    ['payload', '  {"a":  1}'],
  ] as const;
  expect(facts(all, Number.POSITIVE_INFINITY)).toEqual(['  payload    {"a":  1}']);
});

test('a text that is wrapped keeps its indentation on each line', () => {
  expect(lines('  shop.updated is damaged', 14)).toEqual(['  shop.updated', '  is damaged']);
  expect(lines('', 14)).toEqual(['']);
});
