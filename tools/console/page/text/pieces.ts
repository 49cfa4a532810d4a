import { GrowingArray } from './growing-array.ts';
import { columnsOf } from './invisible.ts';
import type { Lines } from './lines.ts';

/** Lines cut into pieces that are as wide as what shows them, so that no line is too long to be drawn. */
export interface Pieces {
  readonly count: number;
  /** Of piece i: where it begins in the text. */
  readonly starts: Uint32Array;
  /** Of piece i: the line that it is of. */
  readonly lines: Uint32Array;
}

/** Columns that a line of text has at least, however deep it is indented. */
const FEWEST_COLUMNS = 20;

/** Deepest indentation, in columns, of what is shown: half of the width at most. */
export const shownIndent = (depth: number, columns: number) => Math.min(depth * 2, Math.floor(columns / 2));

export function cutLines({ text, starts, ends, depths, keyEnds }: Lines, columns: number): Pieces {
  const pieceStarts = new GrowingArray();
  const pieceLines = new GrowingArray();
  for (let line = 0; line < starts.length; line += 1) {
    const end = ends[line] ?? text.length;
    let at = starts[line] ?? 0;
    // Behind a key stands a space.
    const space = (keyEnds?.[line] ?? 0) > at ? 1 : 0;
    const room = Math.max(FEWEST_COLUMNS, columns - shownIndent(depths?.[line] ?? 0, columns) - space);
    pieceStarts.push(at);
    pieceLines.push(line);
    let used = 0;
    while (at < end) {
      const unit = text.charCodeAt(at);
      // Most of a text: not to be asked about one by one.
      const isPlain = unit >= 0x20 && unit < 0x7f;
      const code = isPlain ? unit : (text.codePointAt(at) ?? unit);
      const width = isPlain ? 1 : columnsOf(code);
      if (used > 0 && used + width > room) {
        pieceStarts.push(at);
        pieceLines.push(line);
        used = 0;
      }
      used += width;
      at += code > 0xffff ? 2 : 1;
    }
  }
  return { count: pieceStarts.length, starts: pieceStarts.toArray(), lines: pieceLines.toArray() };
}

/** Where piece i ends in the text. */
export function endOfPiece({ starts, lines }: Pieces, { ends }: Lines, index: number): number {
  const line = lines[index] ?? 0;
  return lines[index + 1] === line ? (starts[index + 1] ?? 0) : (ends[line] ?? 0);
}
