import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { topLevelValue } from '../../../lambda/events/top-level-value.ts';

// The table's oracle is the text itself: the value is what stands between the colon and the next comma or brace.
test.each([
  [
    'numbers as sent',
    '{"data":{"fee":1.10,"pi":3.14159265358979323846}}',
    '{"fee":1.10,"pi":3.14159265358979323846}',
  ],
  [
    'numbers that no float holds',
    '{"data":[1e400,1e21,-0,12345678901234567891]}',
    '[1e400,1e21,-0,12345678901234567891]',
  ],
  ['white space inside', '{ "data" :\n{ "a" : 1 }\t, "b":2}', '{ "a" : 1 }'],
  ['escapes as sent', '{"data":{"\\u540d":"\\u0041\\/"}}', '{"\\u540d":"\\u0041\\/"}'],
  ['the last of equal keys', '{"data":1,"data":{"a":[2]},"b":3}', '{"a":[2]}'],
  ['a key in escapes', '{"data":1,"\\u0064\\u0061t\\u0061":2}', '2'],
  ['no key of an inner object', '{"a":{"data":1},"data":2,"b":[{"data":3}]}', '2'],
  ['no string', '{"a":"\\",\\"data\\":1","b":"data","data":2,"c":"\\\\"}', '2'],
  ['a string with every separator', '{"data":"{[,:\\"]}"}', '"{[,:\\"]}"'],
  ['the last member', '{"a":1,"data":true}', 'true'],
  ['nothing', '{"a":"data","dat":1,"data ":2,"\\\\u0064ata":3}', undefined],
  ['nothing of an empty object', '{}', undefined],
])('the value of a top-level key has %s', (_, json, value) => {
  expect(topLevelValue(json, 'data')).toBe(value);
});

test('nesting of any depth is no problem', () => {
  const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
  expect(topLevelValue(`{"data":${deep}}`, 'data')).toBe(deep);
});

const characters = fc.string({ unit: fc.constantFrom(...'dat"\\/{}[],: \n\u540d😀u0') });

/** A text as JSON strings, with some of its characters as escapes. */
const written = (texts: fc.Arbitrary<string>) =>
  fc.tuple(texts, fc.infiniteStream(fc.boolean())).map(([text, isEscaped]) => {
    const units = text.split('').map((unit) => {
      const escaped = `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
      return isEscaped.next().value ? escaped : JSON.stringify(unit).slice(1, -1);
    });
    return `"${units.join('')}"`;
  });

/** Other keys have no backslash and are longer: V8 takes an escaped key for an earlier one that begins with a backslash. */
const jsonKey = written(
  fc.oneof(
    fc.constant('data'),
    characters.map((text) => `data.${text.replaceAll('\\', '')}`),
  ),
);
const space = fc.constantFrom('', ' ', '\r\n\t');
const { object } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('1.10', '1e400', 'null', 'true', '-0'),
    written(characters),
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }).map((values) => `[${values.join(',')}]`),
  ),
  object: fc
    .array(fc.tuple(jsonKey, space, tie('value'), space), { maxLength: 5 })
    .map(
      (members) => `{${members.map(([key, s, value, t]) => `${s}${key}${t}:${s}${value}${t}`).join(',')} }`,
    ),
}));

test('the value is the one that JSON.parse finds', () => {
  fc.assert(
    fc.property(object, (json) => {
      const value = topLevelValue(json, 'data');
      expect(value === undefined ? undefined : JSON.parse(value)).toEqual(
        Object.getOwnPropertyDescriptor(JSON.parse(json), 'data')?.value,
      );
    }),
    { numRuns: 2000 },
  );
});
