import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { faultText, formatJson, textOf } from '../../../../tools/console/page/text/format-json.ts';

function format(text: string): string {
  const formatted = formatJson(text);
  if (!formatted.ok) throw new Error(faultText(formatted.fault));
  return textOf(formatted.lines);
}

function problem(text: string): string {
  const formatted = formatJson(text);
  return formatted.ok ? 'valid' : faultText(formatted.fault);
}

/** JSON text without the white space that means nothing. */
const withoutSpace = (text: string) =>
  text.replaceAll(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, (_, string: string | undefined) => string ?? '');

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);

/** JSON text as anybody may write it: white space anywhere, numbers and strings in each of their forms, keys twice. */
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
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
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
  test('has one line for each member and element', () => {
    expect(format('{"a":1,"b":[true,{}],"c":{"d":[]}}')).toBe(
      JSON.stringify({ a: 1, b: [true, {}], c: { d: [] } }, null, 2),
    );
  });

  test('keeps numbers, strings and keys as they were written', () => {
    const text = '{"a":1.0,"a":12345678901234567890,"\\u0061":"\\u0041\\/","e":1e999}';
    expect(withoutSpace(format(text))).toBe(text);
  });

  test('is the text itself, but for white space outside of strings', () => {
    fc.assert(
      fc.property(fc.tuple(space, jsonText, space), ([before, text, after]) => {
        const whole = `${before}${text}${after}`;
        expect(withoutSpace(format(whole))).toBe(withoutSpace(whole));
      }),
      { numRuns: 500 },
    );
  });

  test('looks as JSON.stringify writes it, where the text is of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(format(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
      }),
      { numRuns: 300 },
    );
  });

  test('is valid for what JSON.parse takes, and for nothing else', () => {
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
      { numRuns: 2000 },
    );
  });

  test('of 10,000 levels stays readable and small', () => {
    const deep = `${'['.repeat(10_000)}1${']'.repeat(10_000)}`;
    const formatted = format(deep);
    expect(withoutSpace(formatted)).toBe(deep);
    expect(formatted.length).toBeLessThan(2_000_000);
  });

  test.each([
    ['', 'Line 1, column 1: a value is expected.'],
    ['{"a":1,}', 'Line 1, column 8: a key is expected.'],
    ['{\n  "a" 1\n}', 'Line 2, column 7: a colon is expected.'],
    ['[1 2]', 'Line 1, column 4: a comma or ] is expected.'],
    ['{"a":1\n', 'Line 2, column 1: a comma or } is expected.'],
    ['[01]', 'Line 1, column 3: a comma or ] is expected.'],
    ['[1.]', 'Line 1, column 4: a digit is expected.'],
    ['"a\nb"', 'Line 1, column 3: a control character has to be escaped in a string.'],
    ['"a\u001fb"', 'Line 1, column 3: a control character has to be escaped in a string.'],
    ['"a\\x"', 'Line 1, column 4: one of "\\/bfnrtu is expected after a backslash.'],
    ['"a\\u12"', 'Line 1, column 4: four hex digits are expected after \\u.'],
    ['"a', 'Line 1, column 3: the string does not end.'],
    ['1 x', 'Line 1, column 3: the end is expected.'],
    ['\ufeff{}', 'Line 1, column 1: a value is expected.'],
  ])('of %j says where it is wrong', (text, expected) => {
    expect(problem(text)).toBe(expected);
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
