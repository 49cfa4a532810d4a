import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type ServerSentEvent,
  ServerSentEventParser,
} from '../../../../tools/console/page/stream/sse-parser.ts';

const parse = (...pieces: readonly string[]): ServerSentEvent[] => {
  const parser = new ServerSentEventParser();
  return pieces.flatMap((piece) => parser.push(piece));
};

describe('an event stream', () => {
  test('is read message by message', () => {
    expect(parse('id: 1\nevent: ready\ndata: {"total":2}\n\ndata: x\n\n')).toEqual([
      { event: 'ready', data: '{"total":2}', id: '1' },
      { event: 'message', data: 'x', id: '1' },
    ]);
  });

  test.each(['\n', '\r', '\r\n'])('ends lines with %j', (end) => {
    expect(parse(['id: 7', 'data: a', 'data: b', '', ''].join(end))).toEqual([
      { event: 'message', data: 'a\nb', id: '7' },
    ]);
  });

  test('takes one space away behind the colon, and no more', () => {
    expect(parse('data:  a\n\ndata:b\n\n').map(({ data }) => data)).toEqual([' a', 'b']);
  });

  test('drops comments, unknown fields and the message that it breaks off in', () => {
    expect(parse(': still here\n\nretry: 5\nwhat: else\ndata: a\n\ndata: cut off\n')).toEqual([
      { event: 'message', data: 'a', id: '' },
    ]);
  });

  test('says nothing of a message without data, but keeps its id', () => {
    expect(parse('id: 3\nevent: reset\n\ndata: a\n\n')).toEqual([{ event: 'message', data: 'a', id: '3' }]);
  });

  test('is the same in whatever pieces it comes', () => {
    const line = fc.constantFrom('data: a', 'data: ü', 'id: 4', 'event: task', ': comment', 'data', '');
    const text = fc
      .array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n')), { maxLength: 30 })
      .map((lines) => lines.flat().join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 12 }), (whole, cuts) => {
        const places = [
          0,
          ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b),
          whole.length,
        ];
        const pieces = places.slice(1).map((end, index) => whole.slice(places[index], end));
        expect(parse(...pieces)).toEqual(parse(whole));
      }),
    );
  });
});
