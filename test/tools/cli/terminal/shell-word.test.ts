import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { shellWord } from '../../../../tools/cli/terminal/shell-word.ts';

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
