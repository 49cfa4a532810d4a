import { stripVTControlCharacters, styleText } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { facts, lines, table } from '../../../../tools/cli/terminal/layout.ts';

const COLUMNS = [{ heading: 'QUEUE' }, { heading: 'N', align: 'right' }, { heading: 'WHY' }] as const;

describe('a table', () => {
  test('has columns as wide as they need', () => {
    const rows = [
      ['a', '10', 'x'],
      ['unrouted', '7', ''],
    ];
    expect(table(COLUMNS, rows, Number.POSITIVE_INFINITY)).toEqual([
      'QUEUE      N  WHY',
      'a         10  x',
      'unrouted   7',
    ]);
  });

  test.each([60, 100])('fits a terminal of %d columns, and loses nothing', (width) => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`);
    const rows = [['girl.schedule_changed', '1', words.join(' ')]];
    const lines = table(COLUMNS, rows, width);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
    expect(words.filter((word) => !lines.join(' ').includes(word))).toEqual([]);
  });

  test('cuts a word that is longer than the terminal', () => {
    const lines = table([{ heading: 'ID' }], [['f'.repeat(150)]], 60);
    expect(lines.slice(1).map(({ length }) => length)).toEqual([60, 60, 30]);
  });

  test('is laid out by what is seen of colours and wide characters', () => {
    const lines = table(
      [{ heading: 'A' }, { heading: 'B' }],
      [
        [styleText('red', '東京', { validateStream: false }), 'x'],
        ['abcd', 'y'],
      ],
      80,
    );
    expect(lines.map(stripVTControlCharacters)).toEqual(['A     B', '東京  x', 'abcd  y']);
  });
});

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
