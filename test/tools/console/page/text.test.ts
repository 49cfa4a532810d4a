import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { faultText, formatJson, textOf } from '../../../../tools/console/page/text/format-json.ts';
import { cutLines, endOfPiece, type Lines, rawLines } from '../../../../tools/console/page/text/lines.ts';
import { windowOf } from '../../../../tools/console/page/text/viewer.tsx';
import { columnsOf, visibleParts } from '../../../../tools/console/page/text/visible.tsx';
import { anyCharacter } from '../../../support/any-character.ts';

function format(text: string): string {
  const formatted = formatJson(text);
  if (!formatted.ok) throw new Error(faultText(formatted.fault));
  return textOf(formatted.lines);
}

/** JSON text without insignificant white space. */
const withoutSpace = (text: string) =>
  text.replaceAll(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, (_, string: string | undefined) => string ?? '');

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);

/**
 * JSON text in any valid form: white space anywhere, numbers and strings in each of their notations, duplicate keys.
 */
const jsonText = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.constantFrom(
        'true',
        'false',
        'null',
        '0',
        '-0',
        '1.0',
        '1e999',
        '-12.50E+07',
        '12345678901234567890',
      ),
      tie('string'),
    ),
    tie('array'),
    tie('object'),
  ),
  string: fc.oneof(
    fc.string({ unit: anyCharacter }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"\\u0041\\/"', '"a  b"', '"\\"{[,:]}\\\\"', '" "'),
  ),
  array: fc
    .tuple(space, fc.array(fc.tuple(space, tie('value'), space), { maxLength: 4 }))
    .map(([gap, items]) => `[${gap}${items.map((item) => item.join('')).join(',')}]`),
  object: fc
    .tuple(
      space,
      fc.array(fc.tuple(space, tie('string'), space, space, tie('value'), space), { maxLength: 4 }),
    )
    .map(
      ([gap, members]) =>
        `{${gap}${members.map(([a, key, b, c, value, d]) => `${a}${key}${b}:${c}${value}${d}`).join(',')}}`,
    ),
})).value as fc.Arbitrary<string>;

describe('formatted JSON', () => {
  test('differs from the text only in white space outside of strings', () => {
    fc.assert(
      fc.property(fc.tuple(space, jsonText, space), ([before, text, after]) => {
        const whole = `${before}${text}${after}`;
        expect(withoutSpace(format(whole))).toBe(withoutSpace(whole));
      }),
      { numRuns: 300 },
    );
  });

  test('equals the output of JSON.stringify for its text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(format(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
      }),
      { numRuns: 300 },
    );
  });

  test('is accepted exactly for what JSON.parse accepts', () => {
    const damaged = fc
      .tuple(
        jsonText,
        fc.nat(),
        fc.constantFrom('', ',', '"', '}', ']', ':', '\\', '-', '.', '\u0001', '\u001f', 'e', '0'),
      )
      .map(([text, at, insert]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + insert + text.slice(place + (at % 2));
      });
    fc.assert(
      fc.property(damaged, (text) => {
        expect(formatJson(text).ok).toBe(parses(text));
      }),
      { numRuns: 1000 },
    );
  });

  test('of 10,000 levels stays readable and small', () => {
    const deep = `${'['.repeat(10_000)}1${']'.repeat(10_000)}`;
    const formatted = format(deep);
    expect(withoutSpace(formatted)).toBe(deep);
    expect(formatted.length).toBeLessThan(2_000_000);
  });

  test.each([
    { text: '{"a":1,}', problem: 'Line 1, column 8: a key is expected.' },
    { text: '{\n  "a" 1\n}', problem: 'Line 2, column 7: a colon is expected.' },
    { text: '{"a":1\n', problem: 'Line 2, column 1: a comma or } is expected.' },
    { text: '[1.]', problem: 'Line 1, column 4: a digit is expected.' },
    { text: '"a\\u12"', problem: 'Line 1, column 4: four hex digits are expected after \\u.' },
    { text: '1 x', problem: 'Line 1, column 3: the end is expected.' },
  ])('of $text names the error', ({ text, problem }) => {
    const formatted = formatJson(text);
    expect(formatted.ok ? 'valid' : faultText(formatted.fault)).toBe(problem);
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('a text in pieces', () => {
  function piecesOf(lines: Lines, columns: number): string[] {
    const pieces = cutLines(lines, columns);
    return Array.from({ length: pieces.count }, (_, index) =>
      lines.text.slice(pieces.starts[index], endOfPiece(pieces, lines, index)),
    );
  }

  const anyText = fc.string({ unit: anyCharacter, maxLength: 300 });

  test('equals the text, for any content and width', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: -5, max: 80 }), (text, columns) => {
        const lines = rawLines(text);
        const pieces = cutLines(lines, columns);
        const whole = piecesOf(lines, columns).map((piece, index) => {
          const isNextLine = index > 0 && pieces.lines[index] !== pieces.lines[index - 1];
          return isNextLine ? `\n${piece}` : piece;
        });
        expect(whole.join('')).toBe(text);
      }),
    );
  });

  test('is never wider than the view', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 20, max: 80 }), (text, columns) => {
        for (const piece of piecesOf(rawLines(text), columns)) {
          const widths = [...piece].map((character) => columnsOf(character.codePointAt(0) ?? 0));
          expect(widths.reduce((sum, width) => sum + width, 0)).toBeLessThanOrEqual(columns);
        }
      }),
    );
  });

  test.each([
    { what: 'a pair of surrogates', grapheme: '😀' },
    { what: 'a skin tone', grapheme: '👍🏽' },
    { what: 'a family', grapheme: '👨‍👩‍👧‍👦' },
    { what: 'a flag by tags', grapheme: '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}' },
    { what: 'a syllable of Devanagari', grapheme: 'क्षि' },
  ])('never divides $what', ({ grapheme }) => {
    for (const columns of [20, 21, 22, 23]) {
      const pieces = piecesOf(rawLines(grapheme.repeat(50)), columns);
      expect(pieces.length).toBeGreaterThan(1);
      expect(pieces.join('').length).toBe(grapheme.length * 50);
      expect(pieces.every((piece) => piece.length % grapheme.length === 0)).toBe(true);
    }
  });

  test('keeps an empty line', () => {
    expect(piecesOf(rawLines('a\n\nb\n'), 40)).toEqual(['a', '', 'b', '']);
  });
});

describe('an invisible character', () => {
  const shown = (text: string) =>
    visibleParts(text)
      .map((part) => (part.isName ? `<${part.text}>` : part.text))
      .join('');

  test.each([
    { text: 'a\u0000b', expected: 'a<NUL>b' },
    { text: '\u001b[31mred', expected: '<ESC>[31mred' },
    { text: 'invoice\u202egnp.exe', expected: 'invoice<U+202E>gnp.exe' },
    { text: '\u2066x\ufeff', expected: '<U+2066>x<U+FEFF>' },
    { text: 'line\u2028end\r', expected: 'line<U+2028>end<CR>' },
    { text: 'half \ud800 pair', expected: 'half <U+D800> pair' },
    { text: 'tag \u{e0041}', expected: 'tag <U+E0041>' },
    { text: 'after an emoji 😀\u200d', expected: 'after an emoji 😀<U+200D>' },
    { text: 'flag by tags \u{1f3f4}\u{e0061}\u{e007f}', expected: 'flag by tags 🏴<U+E0061><U+E007F>' },
    { text: '\u0085', expected: '<U+0085>' },
  ])('is named: $expected', ({ text, expected }) => {
    expect(shown(text)).toBe(expected);
  });

  test.each([
    '東京 Tōkyō',
    'مرحبا',
    '👩🏽‍❤️‍💋‍👩🏻',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    'tab\tand\nline',
  ])('is not found in %j', (text) => {
    expect(visibleParts(text)).toEqual([{ text, isName: false }]);
  });

  test('changes nothing else', () => {
    const ascii = fc.string({ unit: 'grapheme-ascii' });
    fc.assert(fc.property(ascii, (text) => expect(shown(text)).toBe(text)));
  });
});

describe('the drawn rows', () => {
  const viewport = fc.record({
    scrollTop: fc.integer({ min: -50, max: 9_000_000 }),
    height: fc.integer({ min: 0, max: 2_000 }),
    rowHeight: fc.constantFrom(18, 32, 50),
    count: fc.oneof(fc.nat(60), fc.nat(20_000), fc.nat(5_000_000)),
  });

  test('are few, and cover the visible part', () => {
    fc.assert(
      fc.property(viewport, (view) => {
        const { first, end, top, height } = windowOf(view);
        const scrolled = Math.min(Math.max(0, view.scrollTop), Math.max(0, height - view.height));
        expect(end - first).toBeLessThanOrEqual(Math.ceil(view.height / view.rowHeight) + 26);
        expect(first === 0 || top <= scrolled + 1).toBe(true);
        const bottom = top + (end - first) * view.rowHeight;
        expect(end === view.count || bottom >= scrolled + view.height - 1).toBe(true);
      }),
    );
  });

  test('end with the last row at the end of the area, for any number of rows', () => {
    fc.assert(
      fc.property(viewport, (view) => {
        const { height } = windowOf(view);
        const { end, top, first } = windowOf({ ...view, scrollTop: height });
        expect(end).toBe(view.count);
        expect(top + (end - first) * view.rowHeight).toBeLessThanOrEqual(height + 1);
      }),
    );
  });

  test('are in an area that a browser supports', () => {
    expect(windowOf({ scrollTop: 0, height: 800, rowHeight: 18, count: 4_000_000 }).height).toBe(8_000_000);
  });
});
