import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatJson } from '../../../../tools/console/page/text/format-json.ts';
import { cutLines, endOfPiece, type Lines, rawLines } from '../../../../tools/console/page/text/lines.ts';
import { columnsOf } from '../../../../tools/console/page/text/visible.tsx';

function piecesOf(lines: Lines, columns: number): string[] {
  const pieces = cutLines(lines, columns);
  return Array.from({ length: pieces.count }, (_, index) =>
    lines.text.slice(pieces.starts[index], endOfPiece(pieces, lines, index)),
  );
}

describe('a text in pieces', () => {
  test('is the text, whatever is in it and however wide the view is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.integer({ min: -5, max: 80 }),
        (text, columns) => {
          const lines = rawLines(text);
          const pieces = cutLines(lines, columns);
          let whole = '';
          piecesOf(lines, columns).forEach((piece, index) => {
            if (index > 0 && pieces.lines[index] !== pieces.lines[index - 1]) whole += '\n';
            whole += piece;
          });
          expect(whole).toBe(text);
        },
      ),
    );
  });

  test('is never wider than the view', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.integer({ min: 20, max: 80 }),
        (text, columns) => {
          for (const piece of piecesOf(rawLines(text), columns)) {
            const width = [...piece].reduce(
              (sum, character) => sum + columnsOf(character.codePointAt(0) ?? 0),
              0,
            );
            expect(width).toBeLessThanOrEqual(columns);
          }
        },
      ),
    );
  });

  test.each([
    ['a pair of surrogates', '😀'],
    ['a skin tone', '👍🏽'],
    ['a family', '👨‍👩‍👧‍👦'],
    ['a flag', '🇨🇭'],
    ['a flag by tags', '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}'],
    ['a letter with marks', 'é\u0323'],
    ['a syllable of Devanagari', 'क्षि'],
  ])('never divides %s', (_, grapheme) => {
    for (const columns of [20, 21, 22, 23]) {
      const pieces = piecesOf(rawLines(grapheme.repeat(50)), columns);
      expect(pieces.length).toBeGreaterThan(1);
      expect(pieces.join('').length).toBe(grapheme.length * 50);
      expect(pieces.every((piece) => piece.length % grapheme.length === 0)).toBe(true);
    }
  });

  test('of a line of 4 MB costs little', () => {
    const formatted = formatJson(`{"a":"${'x'.repeat(4_000_000)}"}`);
    if (!formatted.ok) throw new Error('It is JSON');
    expect(cutLines(formatted.lines, 100).count).toBeLessThan(50_000);
  });

  test('keeps an empty line', () => {
    expect(piecesOf(rawLines('a\n\nb\n'), 40)).toEqual(['a', '', 'b', '']);
  });
});
