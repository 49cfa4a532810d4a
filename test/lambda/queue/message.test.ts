import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  escapeForSqs,
  fitsMessage,
  messageGroupId,
  readableText,
  stringAttribute,
  traceAttribute,
} from '../../../lambda/queue/message.ts';
import { parseReplay, type Replay } from '../../../lambda/queue/replay.ts';
import { anyCharacter } from '../../support/any-character.ts';

/** Valid message bodies. Source: SQS API reference, `SendMessage`. */
const ACCEPTED_BY_SQS = /^[\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;

test('every JSON text is sent in characters that SQS accepts, with the same meaning', () => {
  const strings = fc.string({
    unit: fc.oneof(fc.constantFrom('\ufffe', '\uffff', '😀', '\u2028', '"', '\\'), anyCharacter),
  });
  // Values only: V8 of Node.js 24 confuses keys with escapes when it parses them.
  fc.assert(
    fc.property(fc.array(strings), (value) => {
      const text = JSON.stringify(value);
      const escaped = escapeForSqs(text);
      expect(escaped).toMatch(ACCEPTED_BY_SQS);
      expect(JSON.parse(escaped)).toEqual(JSON.parse(text));
    }),
  );
});

const HASH = /^[0-9a-f]{64}$/;

test.each<[id: string | undefined, group: unknown]>([
  ['shop-1', 'shop-1'],
  ['!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'],
  ['x'.repeat(129), expect.stringMatching(HASH)],
  ['shop 1', expect.stringMatching(HASH)],
  ['店', expect.stringMatching(HASH)],
  [undefined, undefined],
])('the message group of the shop %j is %s', (id, group) => {
  expect(messageGroupId(id)).toEqual(group);
});

test('an attribute value that SQS would reject is hashed', () => {
  for (const value of ['shop-1', '\t\ufffd\u{1F600}', 'x'.repeat(2048)]) {
    expect(stringAttribute(value)).toEqual({ DataType: 'String', StringValue: value });
  }
  for (const value of ['', '\u0000a', 'a\uffff', '\ud800', 'x'.repeat(2049)]) {
    const hashed = stringAttribute(value).StringValue;
    expect(hashed).toMatch(/^sha256:[0-9a-f]{64}$/);
    // A value that equals the hash of another one is another one.
    expect(stringAttribute(hashed).StringValue).not.toBe(hashed);
  }
});

test.each([
  ['2,048 characters', `x${'y'.repeat(5000)}`, `x${'y'.repeat(2047)}`],
  ['no half of a character', `${'y'.repeat(2047)}😀`, `${'y'.repeat(2047)}\ufffd`],
  ['no character that SQS rejects', 'a\u0000\ud800b\uffff', 'a\ufffd\ufffdb\ufffd'],
])('a reason is sent with %s', (_, text, sent) => {
  expect(readableText(text)).toBe(sent);
  expect(stringAttribute(sent).StringValue).toBe(sent);
});

test.each([
  ['968 KiB', `"${'x'.repeat(968 * 1024 - 6)}"`, true],
  ['484 KiB of line feeds, which a record of the archive escapes', '\n'.repeat(484 * 1024), true],
  ['968 KiB and a byte', `"${'x'.repeat(968 * 1024 - 5)}"`, false],
  ['484 KiB and a byte of line feeds', '\n'.repeat(484 * 1024 + 1), false],
])('a body of %s fits into its message and its archive record, or is stored in S3', (_, body, fits) => {
  expect(fitsMessage(body)).toBe(fits);
});

const ROOT = 'Root=1-5759e988-bd862e3fe1be46a994272793';

test.each([ROOT, `${ROOT};Parent=53995c3f42cd8ad8;Sampled=1;Lineage=1:a87bd80c:0|68fd508a:5`])(
  'a message continues the trace %s',
  (header) => {
    expect(traceAttribute(header)).toEqual({
      MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: header } },
    });
  },
);

test.each([
  undefined,
  `Self=1;${ROOT}`,
  `${ROOT};Lineage=${'1'.repeat(201)}`,
  `${ROOT};Parent=53995c3f42cd8ad8;Sampled=1\n`,
])('a malformed trace header is left out: %j', (header) => {
  expect(traceAttribute(header)).toEqual({});
});

const replay: Replay = { name: 'repair-2026-01', mode: 'repair', notify: false };

test.each<Replay>([replay, { name: 'x'.repeat(63), mode: 'fill', notify: false }])(
  'the attribute %j is parsed as a replay',
  (written) => {
    expect(parseReplay(JSON.stringify(written))).toEqual(written);
  },
);

test.each([
  '{}',
  ...['', 'Repair', 'x'.repeat(64)].map((name) => JSON.stringify({ ...replay, name })),
  JSON.stringify({ ...replay, mode: 'undo' }),
  JSON.stringify({ ...replay, notify: 'yes' }),
])('%j is not a replay', (text) => {
  expect(parseReplay(text)).toBeUndefined();
});
