import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../../test/support/any-character.ts';
import { formatted } from '../../../console/page/text/format-json.ts';
import { visibleParts } from '../../../console/page/text/visible.tsx';

/** JSON text without insignificant white space. */
const withoutSpace = (text: string) =>
  text.replaceAll(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, (_, string: string | undefined) => string ?? '');

/**
 * JSON with white space everywhere, all notations of numbers and strings, duplicate keys and empty
 * containers.
 */
const NOTATIONS = [
  ' { "a" : [ 1.0 ,-0, 1e999,\t-12.50E+07 ] , "a":\n"\\u0041\\/", "{[,:]}" : 12345678901234567890 }\r\n',
  '[ ] ',
  '{"":{ },"\\"{[,:]}\\\\":[[ ]," "]}',
  ' true',
];

const jsonText = fc.oneof(
  fc.json({ maxDepth: 4, stringUnit: anyCharacter }),
  fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value, null, '\t ')),
  fc.constantFrom(...NOTATIONS),
);

describe('formatted JSON', () => {
  test('differs from the text only in white space outside of strings', () => {
    fc.assert(
      fc.property(jsonText, (text) => expect(withoutSpace(formatted(text) ?? '')).toBe(withoutSpace(text))),
      { numRuns: 300 },
    );
  });

  test('equals the output of JSON.stringify for its text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(formatted(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
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
        expect(formatted(text) !== undefined).toBe(parses(text));
      }),
      { numRuns: 1000 },
    );
  });

  test.each(['[', '{"a":'])('of 100,000 levels is not formatted: %s', (open) => {
    const close = open === '[' ? ']' : '}';
    expect(formatted(`${open.repeat(100_000)}1${close.repeat(100_000)}`)).toBeUndefined();
  });

  test('of 40 levels is formatted', () => {
    const deep = `${'['.repeat(40)}1${']'.repeat(40)}`;
    expect(withoutSpace(formatted(deep) ?? '')).toBe(deep);
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
    { text: '\u202e\u202e\u202e\u200b', expected: '<U+202E ×3><U+200B>' },
    { text: '\u{e0041}\u{e0041}', expected: '<U+E0041 ×2>' },
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
