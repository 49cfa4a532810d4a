import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { visibleParts } from '../../../../tools/console/page/text/visible.tsx';

const shown = (text: string) =>
  visibleParts(text)
    .map((part) => (part.isName ? `<${part.text}>` : part.text))
    .join('');

describe('what cannot be seen', () => {
  test.each([
    ['a\u0000b', 'a<NUL>b'],
    ['\u001b[31mred', '<ESC>[31mred'],
    ['invoice\u202egnp.exe', 'invoice<U+202E>gnp.exe'],
    ['\u2066x\u2069', '<U+2066>x<U+2069>'],
    ['zero\u200bwidth\ufeff', 'zero<U+200B>width<U+FEFF>'],
    ['line\u2028end', 'line<U+2028>end'],
    ['half \ud800 pair', 'half <U+D800> pair'],
    ['tag \u{e0041}', 'tag <U+E0041>'],
    ['a\r', 'a<CR>'],
    ['joined a\u200db', 'joined a<U+200D>b'],
    ['after an emoji 😀\u200d', 'after an emoji 😀<U+200D>'],
    ['another flag by tags \u{1f3f4}\u{e0061}\u{e007f}', 'another flag by tags 🏴<U+E0061><U+E007F>'],
    ['\u0085', '<U+0085>'],
  ])('is named in %j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test.each([
    '東京 Tōkyō',
    'مرحبا',
    'נ',
    '😀 👍🏽',
    '👨‍👩‍👧‍👦',
    '👩🏽‍❤️‍💋‍👩🏻',
    '🏳️‍🌈',
    '🇨🇭',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '<script>alert(1)</script>',
    'tab\tand\nline',
  ])('is nothing of %j', (text) => {
    expect(visibleParts(text)).toEqual([{ text, isName: false }]);
  });

  test('leaves everything else as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        expect(shown(text)).toBe(text);
      }),
    );
  });
});
