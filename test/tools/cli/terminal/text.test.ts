import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { duration, printable, shellWord } from '../../../../tools/cli/terminal/text.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;

describe('a duration', () => {
  test.each([
    [-5, '0 s'],
    [12 * SECOND, '12 s'],
    [60 * SECOND, '1 min'],
    [2 * HOUR + 5 * 60 * SECOND + 7 * SECOND, '2 h 5 min'],
    [13 * 24 * HOUR + 23 * HOUR, '13 d 23 h'],
    [24 * HOUR + 59 * SECOND, '1 d'],
  ])('of %d ms is %s', (milliseconds, text) => {
    expect(duration(milliseconds)).toBe(text);
  });
});

describe('text from outside', () => {
  test('cannot command the terminal', () => {
    expect(printable('a\u001b[2Jb\u009b1mc\u0007\r')).toBe('a\\u001b[2Jb\\u009b1mc\\u0007\\u000d');
  });

  test('keeps its lines and its script', () => {
    expect(printable('東京\tTōkyō\n')).toBe('東京\tTōkyō\n');
  });
});

test('a shell reads any text as the one word that it was', () => {
  // A shell has no word with NUL, and no text with half a surrogate pair.
  const text = fc.string({ unit: 'binary' }).map((any) => any.replaceAll('\0', ''));
  fc.assert(
    fc.property(text, (word) => {
      expect(execFileSync('sh', ['-c', `printf '%s' ${shellWord(word)}`], { encoding: 'utf8' })).toBe(word);
    }),
    { numRuns: 60 },
  );
});
