import { expect, test } from '@jest/globals';
import { LineSplitter } from '../../../local/functions/sandbox.ts';

test.each([
  ['a whole line', ['one\n'], ['one'], []],
  ['several lines at once', ['one\ntwo\n'], ['one', 'two'], []],
  ['a line in pieces', ['o', 'n', 'e\n'], ['one'], []],
  ['an empty line', ['\n'], [''], []],
  ['Windows line ends', ['one\r\ntwo\r\n'], ['one', 'two'], []],
  ['no line end', ['one\ntwo'], ['one'], ['two']],
  ['nothing', [], [], []],
])('%s', (_case, pieces, lines, rest) => {
  const splitter = new LineSplitter();
  expect(pieces.flatMap((piece) => splitter.push(piece))).toEqual(lines);
  expect(splitter.flush()).toEqual(rest);
  expect(splitter.flush()).toEqual([]);
});
