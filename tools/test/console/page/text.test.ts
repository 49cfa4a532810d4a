import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../../test/support/any-character.ts';
import { curlCommand } from '../../../console/page/detail/actions.ts';
import { formatted, withTimestamp } from '../../../console/page/text/format-json.ts';
import { visibleParts } from '../../../console/page/text/visible.tsx';

/** JSON text without insignificant white space. */
const withoutSpace = (text: string) =>
  text.replaceAll(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, (_, string: string | undefined) => string ?? '');

/** JSON with white space everywhere, all notations of numbers and strings, duplicate keys and empty containers. */
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
    );
  });

  test('equals the output of JSON.stringify for its text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(formatted(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  test.each([
    { what: 'broken JSON', text: '{"a":' },
    { what: '100,000 levels', text: `${'['.repeat(100_000)}1${']'.repeat(100_000)}` },
  ])('is not made of $what', ({ text }) => {
    expect(formatted(text)).toBeUndefined();
  });
});

describe('the timestamp of a text is set to now', () => {
  const now = new Date('2026-11-22T12:00:00.000Z');

  test.each([
    { what: 'a key among others', before: '{ "a" : [1, {}] ,\n "timestamp" : ', value: '"old"', after: ' }' },
    { what: 'the last of duplicate keys', before: '{"timestamp":1,"timestamp":', value: '2', after: '}' },
    { what: 'a value that is an object', before: '{"timestamp":', value: '{"b":{}}', after: ',"c":1.0}' },
  ])('and nothing else changes: $what', ({ before, value, after }) => {
    expect(withTimestamp(before + value + after, now)).toBe(`${before}"${now.toISOString()}"${after}`);
  });

  test.each(['{"data":{"timestamp":1}}', '[{"timestamp":1}]', '"timestamp"', '{"timestamp":1', ''])(
    'unless it has none: %s',
    (text) => {
      expect(withTimestamp(text, now)).toBeUndefined();
    },
  );
});

describe('an invisible character', () => {
  const shown = (text: string) =>
    visibleParts(text)
      .map((part, index) => (index % 2 === 1 ? `<${part}>` : part))
      .join('');

  test.each([
    { text: 'a\u0000b', expected: 'a<NUL>b' },
    { text: '\u001b[31mred', expected: '<ESC>[31mred' },
    { text: 'invoice\u202egnp.exe', expected: 'invoice<U+202E>gnp.exe' },
    { text: '\u2066x\ufeff', expected: '<U+2066>x<U+FEFF>' },
    { text: 'line\u2028end\r', expected: 'line<U+2028>end<CR>' },
    { text: 'half \ud800 pair', expected: 'half <U+D800> pair' },
    { text: 'tag \u{e0041}', expected: 'tag <U+E0041>' },
    { text: 'shop\u200d1, after an emoji 😀\u200d', expected: 'shop<U+200D>1, after an emoji 😀<U+200D>' },
    { text: '\u0085\u200b', expected: '<U+0085><U+200B>' },
  ])('is named: $expected', ({ text, expected }) => {
    expect(shown(text)).toBe(expected);
  });

  test.each(['東京 Tōkyō', 'مرحبا', '👩🏽‍❤️‍💋‍👩🏻', 'line\nend'])('is not found in %j', (text) => {
    expect(visibleParts(text)).toEqual([text]);
  });
});

describe('a delivery as curl', () => {
  const webhookUrl = 'http://localhost:3000/api/v1/webhooks/partner';

  const curl = (text: string, secret?: string, isUtf8 = true) =>
    curlCommand({ webhookUrl, ...(secret && { secret }) }, { text, isUtf8 }, 'application/json');

  /**
   * Runs a command in a shell with a fake curl.
   * @returns the arguments and the input that curl gets
   */
  function run(command: string): { arguments: string[]; body: string } {
    const script = `curl() { printf '%s\\n' "$@"; printf 'BODY:'; cat; }\n${command}`;
    const [head = '', ...body] = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('BODY:');
    return { arguments: head.split('\n'), body: body.join('BODY:') };
  }

  const signed = (secret: string, body: string) =>
    `X-Webhook-Signature: ${createHmac('sha256', secret).update(body).digest('hex')}`;

  test.each([
    {
      what: 'has quotes and what a shell takes for commands',
      secret: "it's $HOME `id` \\",
      text: `{"a":"it's $(id) \`id\` \\\\ \\"x\\" !!"}`,
    },
    { what: 'ends with line feeds', secret: 'secret', text: '{"a":1}\n\n' },
    { what: 'is not ASCII', secret: 'gehëim', text: '{"a":"東京 😀"}' },
    { what: 'begins as an option does', secret: '-secret', text: '-n -e {"a":1}' },
  ])('sends and signs a body that $what', ({ secret, text }) => {
    const sent = run(curl(text, secret));
    expect(sent.body).toBe(text);
    expect(sent.arguments).toEqual(expect.arrayContaining([webhookUrl, signed(secret, text)]));
  });

  test('of a stage takes the secret from the environment', () => {
    expect(run(`WEBHOOK_SECRET=theirs\n${curl('{}')}`).arguments).toContain(signed('theirs', '{}'));
  });

  test.each([
    { what: 'has control characters', text: 'a\u001b[2J' },
    { what: 'turns the direction of its text', text: '\u202e' },
    { what: 'is not UTF-8', text: '', isUtf8: false },
    { what: 'is long', text: 'x'.repeat(20_000) },
  ])('is not made of a body that $what', ({ text, isUtf8 }) => {
    expect(() => curl(text, 'secret', isUtf8)).toThrow('Save it, and send it with');
  });
});
