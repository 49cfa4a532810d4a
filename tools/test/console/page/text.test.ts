import { json } from '@codemirror/lang-json';
import { EditorState } from '@codemirror/state';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../../test/support/any-character.ts';
import { formatJson } from '../../../console/page/text/format-json.ts';
import { fieldAtCursor } from '../../../console/page/text/json-field.ts';
import { visibleParts } from '../../../console/page/text/visible.tsx';

function format(text: string): string {
  const formatted = formatJson(text);
  if (!formatted.ok) throw formatted.fault;
  return formatted.text;
}

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
      fc.property(jsonText, (text) => expect(withoutSpace(format(text))).toBe(withoutSpace(text))),
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

  test.each(['', '{"a":'])('of 100,000 levels is refused: %s[', (key) => {
    const text = `${key}[`.repeat(100_000);
    expect(reason(text)).toBe('The value is deeper than 40 levels.');
  });

  test('of 40 levels is formatted', () => {
    const deep = `${'['.repeat(40)}1${']'.repeat(40)}`;
    expect(withoutSpace(format(deep))).toBe(deep);
  });

  test.each([
    { text: '', reason: 'Line 1, column 1: a value is expected.' },
    { text: 'shop', reason: 'Line 1, column 1: text must be in double quotes.' },
    { text: '{"a":1,}', reason: 'Line 1, column 8: a key is expected.' },
    { text: '[1,]', reason: 'Line 1, column 4: a value is expected.' },
    { text: '{a:1}', reason: 'Line 1, column 2: text must be in double quotes.' },
    { text: '{\n  "a" 1\n}', reason: 'Line 2, column 7: a colon is expected.' },
    { text: '{"a":1\n', reason: 'Line 2, column 1: a comma or } is expected.' },
    { text: '{"a":1 "b":2}', reason: 'Line 1, column 8: a comma is expected.' },
    { text: '[1] // one', reason: 'Line 1, column 5: JSON has no comments.' },
    { text: '[1.]', reason: 'Line 1, column 2: the number is not complete.' },
    { text: '"a\\u12"', reason: 'Line 1, column 3: four hex digits are expected after \\u.' },
    { text: '"\\\\\\x"', reason: 'Line 1, column 4: one of "\\/bfnrtu is expected after a backslash.' },
    { text: '"a\tb"', reason: 'Line 1, column 3: control characters in a string must be escaped.' },
    { text: '["a', reason: 'Line 1, column 2: the string does not end.' },
    { text: '1 2', reason: 'Line 1, column 3: nothing may follow the value.' },
  ])('of $text names the error', (wrong) => {
    expect(reason(wrong.text)).toBe(`Not JSON. ${wrong.reason}`);
  });
});

function reason(text: string): string {
  const formatted = formatJson(text);
  return formatted.ok ? 'valid' : formatted.fault.message;
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('the value at the cursor', () => {
  /** @param marked JSON with a bar at the position of the cursor */
  const fieldAt = (marked: string) =>
    fieldAtCursor(
      EditorState.create({
        doc: marked.replace('|', ''),
        selection: { anchor: marked.indexOf('|') },
        extensions: [json()],
      }),
    );

  test.each([
    { marked: '{"data":{"shop_id":"sh|op"}}', path: 'data.shop_id', value: 'shop' },
    { marked: '{"data":{"sh|op_id":"a\\"b"}}', path: 'data.shop_id', value: 'a"b' },
    { marked: '{"tags":["a",{},1.0|]}', path: 'tags[2]', value: '1.0' },
    { marked: '{"a b":{"0":nul|l}}', path: '["a b"]["0"]', value: 'null' },
    { marked: '[[1],\n |  [2]]', path: '[1]', value: '[2]' },
    { marked: '{\n  "a": 1\n|}', path: '', value: '{\n  "a": 1\n}' },
    { marked: '{\n  "a": 1,|\n  "b": 2}', path: 'a', value: '1' },
    { marked: '|true', path: '', value: 'true' },
  ])('of $marked has a path', ({ marked, path, value }) => {
    expect(fieldAt(marked)).toMatchObject({ path, value });
  });

  test('is none in a text without values', () => {
    expect(fieldAt('|')).toBeUndefined();
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
