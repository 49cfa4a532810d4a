import { GrowingArray } from './growing-array.ts';

/** A text in lines. They are places in it and no strings: a text of 4 MB may have as many lines as characters. */
export interface Lines {
  readonly text: string;
  /** Of line i: where it begins in the text, and where it ends. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** Of line i: how deep it is indented; absent of a text as it was sent. */
  readonly depths?: Uint32Array;
  /** Of line i: where its key ends, behind the colon; its beginning where it has none. */
  readonly keyEnds?: Uint32Array;
}

/** A text as it is. Line feeds end lines; a carriage return before one stays, to be seen. */
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
