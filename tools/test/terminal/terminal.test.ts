import { execFileSync } from 'node:child_process';
import { stripVTControlCharacters, styleText } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { fieldLines, lines, table } from '../../terminal/layout.ts';
import { eachOf, time } from '../../terminal/options.ts';
import { progressText } from '../../terminal/progress.ts';
import { duration, printable, shellWord } from '../../terminal/text.ts';

const UNLIMITED = Number.POSITIVE_INFINITY;

describe('a table', () => {
  test('has columns as wide as they need', () => {
    const columns = [{ heading: 'QUEUE' }, { heading: 'N', align: 'right' }, { heading: 'WHY' }] as const;
    const rows = [
      ['a', '10', 'x'],
      ['unrouted', '7', ''],
    ];
    expect(table(columns, rows, UNLIMITED)).toEqual(['QUEUE      N  WHY', 'a         10  x', 'unrouted   7']);
  });

  test('fits the terminal without losing a word', () => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`);
    const rows = [['girl.schedule_changed', words.join(' ')]];
    const shown = table([{ heading: 'QUEUE' }, { heading: 'WHY' }], rows, 60);
    expect(Math.max(...shown.map(({ length }) => length))).toBeLessThanOrEqual(60);
    expect(words.filter((word) => !shown.join(' ').includes(word))).toEqual([]);
  });

  test.each([
    { character: 'f', parts: [60, 60, 30] },
    { character: '京', parts: [30, 30, 30, 30, 30] },
    // A base, a modifier and a joiner are one character of two columns.
    { character: '👩🏽‍🚀', parts: [30, 30, 30, 30, 30] },
  ])('splits a word of 150 × $character, which is wider than the terminal', ({ character, parts }) => {
    const shown = table([{ heading: 'ID' }], [[character.repeat(150)]], 60);
    expect(shown.slice(1)).toEqual(parts.map((count) => character.repeat(count)));
  });

  test.each(['東京', '👍👍', '❤️1️⃣', '🇯🇵한', 'ＡＢ', 'ab\u0301c\u200bd'])(
    'measures %s as four columns, and ignores its colour',
    (wide) => {
      const rows = [
        [styleText('red', wide, { validateStream: false }), 'x'],
        ['abcdef', 'y'],
      ];
      const shown = table([{ heading: 'A' }, { heading: 'B' }], rows, 80);
      expect(shown.map(stripVTControlCharacters)).toEqual(['A       B', `${wide}    x`, 'abcdef  y']);
    },
  );
});

describe('fields', () => {
  test('have their names in a column, and long values continue below', () => {
    const all = [
      ['mode', 'repair: items are rewritten by its newest event'],
      ['cost', 'less than a cent'],
    ] as const;
    expect(fieldLines(all, 40)).toEqual([
      '  mode  repair: items are rewritten by',
      '        its newest event',
      '  cost  less than a cent',
    ]);
    expect(fieldLines(all, UNLIMITED)).toHaveLength(2);
  });

  test('without a value are left out, and a value that is not wrapped stays unchanged', () => {
    const all = [
      ['expired', undefined],
      ['people', false],
      ['payload', '  {"a":  1}'],
    ] as const;
    expect(fieldLines(all, UNLIMITED)).toEqual(['  payload    {"a":  1}']);
  });
});

test('wrapped text keeps its indentation on each line', () => {
  expect(lines('  shop.updated is damaged', 14)).toEqual(['  shop.updated', '  is damaged']);
  expect(lines('', 14)).toEqual(['']);
});

describe('a time', () => {
  test.each([
    { text: '2026-01-31', moment: '2026-01-31T00:00:00.000Z' },
    { text: '2026-01-31T09:00:07.5Z', moment: '2026-01-31T09:00:07.500Z' },
    { text: '2026-01-31T09:00:00+02:00', moment: '2026-01-31T07:00:00.000Z' },
  ])('$text is $moment', ({ text, moment }) => {
    expect(time(text).toISOString()).toBe(moment);
  });

  test.each([
    { text: '90m', length: 5_400_000 },
    { text: '7d', length: 604_800_000 },
  ])('$text is $length ms ago', ({ text, length }) => {
    const before = Date.now();
    const found = time(text).getTime() + length;
    expect(found).toBeGreaterThanOrEqual(before);
    expect(found).toBeLessThanOrEqual(Date.now());
  });

  test.each([
    ...['', 'yesterday', '3', '0h', '-3h', '3w', '2026-02-30', '2026-01-31T25:00Z', '2026-01-31T09:00:00'],
  ])('cannot be %j', (text) => {
    expect(() => time(text)).toThrow(/^It must be a time such as 2026-01-31T09:00:00Z, /);
  });
});

test('words of a list are collected, and other words are refused with the list', () => {
  const parse = eachOf(['fill', 'repair']);
  expect(parse('repair', parse('fill'))).toEqual(['fill', 'repair']);
  expect(() => parse('Fill')).toThrow('One of: fill, repair');
});

test.each([
  { step: { done: 1, total: 1_000 }, elapsed: 60_000, text: 'Posting 0 % · 1 of 1,000' },
  {
    step: { done: 250, total: 1_000 },
    elapsed: 60_000,
    text: 'Posting 25 % · 250 of 1,000 · about 3 min left',
  },
  { step: { done: 0, total: 0 }, elapsed: 60_000, text: 'Posting 100 % · 0 of 0' },
  {
    step: { done: 5, total: 10, unit: 'rounds', note: '2 kills' },
    elapsed: 1_000,
    text: 'Posting 50 % · 5 of 10 rounds · about 1 s left · 2 kills',
  },
])('progress is printed as $text', ({ step, elapsed, text }) => {
  expect(progressText({ doing: 'Posting', ...step }, elapsed)).toBe(text);
});

const SECOND = 1000;
const HOUR = 3600 * SECOND;

test.each([
  { milliseconds: -5, text: '0 s' },
  { milliseconds: 60 * SECOND, text: '1 min' },
  { milliseconds: 2 * HOUR + 5 * 60 * SECOND + 7 * SECOND, text: '2 h 5 min' },
  { milliseconds: 24 * HOUR + 59 * SECOND, text: '1 d' },
])('a duration of $milliseconds ms is $text', ({ milliseconds, text }) => {
  expect(duration(milliseconds)).toBe(text);
});

test('outside text cannot control the terminal, and keeps its lines and its script', () => {
  expect(printable('a\u001b[2Jb\u009b1mc\u0007\r')).toBe('a\\u001b[2Jb\\u009b1mc\\u0007\\u000d');
  expect(printable('東京\tTōkyō\n')).toBe('東京\tTōkyō\n');
});

test('a shell reads any quoted text as the same single word', () => {
  // Words of a shell can contain neither NUL nor half a surrogate pair.
  const word = fc.string({ unit: anyCharacter }).map((any) => any.replaceAll('\0', ''));
  fc.assert(
    fc.property(fc.array(word, { minLength: 60, maxLength: 60 }), (words) => {
      const command = `printf '%s\\0' ${words.map(shellWord).join(' ')}`;
      const read = execFileSync('sh', ['-c', command], { encoding: 'utf8' });
      expect(read.split('\0').slice(0, -1)).toEqual(words);
    }),
    { numRuns: 5 },
  );
});
