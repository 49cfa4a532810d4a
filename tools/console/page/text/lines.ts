import { columnsOf, JOINED_EMOJI } from './visible.tsx';

/** A text in lines, stored as positions instead of strings: a text of 4 MB may have millions of lines. */
export interface Lines {
  readonly text: string;
  /** Where line i begins and ends in the text. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** Indentation depth of line i. Absent for unformatted text. */
  readonly depths?: Uint32Array;
  /** Where the key of line i ends, after the colon. The line's beginning if it has no key. */
  readonly keyEnds?: Uint32Array;
}

/**
 * The lines of unformatted text. A line feed ends a line. A carriage return before it is kept, so that it can be shown.
 */
export function rawLines(text: string): Lines {
  const starts = new GrowingArray();
  const ends = new GrowingArray();
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    starts.push(start);
    ends.push(end);
    start = end + 1;
  }
  starts.push(start);
  ends.push(text.length);
  return { text, starts: starts.toArray(), ends: ends.toArray() };
}

/** Lines cut into pieces that fit the width of the view, so that no line is too long to draw. */
export interface Pieces {
  readonly count: number;
  /** Where piece i begins in the text. */
  readonly starts: Uint32Array;
  /** The line of piece i. */
  readonly lines: Uint32Array;
}

/** Minimum columns for the text of a line, even if it is deeply indented. */
const FEWEST_COLUMNS = 20;

/** Indentation in columns: at most half of the width. */
export const shownIndent = (depth: number, columns: number) => Math.min(depth * 2, Math.floor(columns / 2));

export function cutLines({ text, starts, ends, depths, keyEnds }: Lines, columns: number): Pieces {
  const pieceStarts = new GrowingArray();
  const pieceLines = new GrowingArray();
  for (let line = 0; line < starts.length; line += 1) {
    const end = ends[line] ?? text.length;
    let at = starts[line] ?? 0;
    // A key is followed by a space.
    const space = (keyEnds?.[line] ?? 0) > at ? 1 : 0;
    const room = Math.max(FEWEST_COLUMNS, columns - shownIndent(depths?.[line] ?? 0, columns) - space);
    pieceStarts.push(at);
    pieceLines.push(line);
    let used = 0;
    let pieceStart = at;
    while (at < end) {
      const { length, width } = unitAt(text, at);
      if (used > 0 && used + width > room) {
        at = graphemeStart(text, pieceStart, at);
        pieceStarts.push(at);
        pieceLines.push(line);
        pieceStart = at;
        used = 0;
        continue;
      }
      used += width;
      at += length;
    }
  }
  return { count: pieceStarts.length, starts: pieceStarts.toArray(), lines: pieceLines.toArray() };
}

export function endOfPiece({ starts, lines }: Pieces, { ends }: Lines, index: number): number {
  const line = lines[index] ?? 0;
  return lines[index + 1] === line ? (starts[index + 1] ?? 0) : (ends[line] ?? 0);
}

/** Length in the text and maximum columns of a character, or of emoji joined to one. */
function unitAt(text: string, at: number): { length: number; width: number } {
  const unit = text.charCodeAt(at);
  // A fast path, because most text is ASCII.
  if (unit >= 0x20 && unit < 0x7f) return PLAIN;
  const code = text.codePointAt(at) ?? unit;
  if (code > 0xffff || (code >= FIRST_EMOJI && code <= LAST_EMOJI_OF_BMP)) {
    JOINED_EMOJI.lastIndex = at;
    const length = JOINED_EMOJI.exec(text)?.[0].length;
    // A font without the joined emoji draws its parts side by side, two columns each.
    if (length !== undefined) return { length, width: length };
  }
  return { length: code > 0xffff ? 2 : 1, width: columnsOf(code) };
}

const PLAIN = { length: 1, width: 1 };

/** Emoji of the Basic Multilingual Plane, except © and ®. Source: Unicode's emoji-data.txt, `Extended_Pictographic`. */
const FIRST_EMOJI = 0x203c;
const LAST_EMOJI_OF_BMP = 0x3299;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Number of code units after a position that can decide whether a grapheme continues. */
const LOOKED_AHEAD = 32;

/** Start of the grapheme at a position, if it is within the piece. Otherwise the position itself. */
function graphemeStart(text: string, pieceStart: number, at: number): number {
  if (text.charCodeAt(at) < 0x7f && text.charCodeAt(at - 1) < 0x7f) return at;
  const around = text.slice(pieceStart, at + LOOKED_AHEAD);
  const start = graphemes.segment(around).containing(at - pieceStart)?.index ?? 0;
  return start > 0 ? pieceStart + start : at;
}

/**
 * A growing array of numbers below 2^32. A text may have millions of lines, and a JavaScript array would need ten times
 * the memory.
 */
export class GrowingArray {
  #values = new Uint32Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Uint32Array(this.#values.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  toArray(): Uint32Array {
    return this.#values.slice(0, this.#length);
  }
}
