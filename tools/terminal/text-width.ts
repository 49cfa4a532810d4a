import { stripVTControlCharacters } from 'node:util';

/** Splits a text into what a reader sees as single characters. */
export const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Characters that take two columns. Source: Unicode, EastAsianWidth.txt (W and F), and emoji. */
const WIDE =
  /^(?:[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{17000}-\u{18DFF}\u{1B000}-\u{1B2FF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}|.\uFE0F)/u;

/** Columns that a text takes on a terminal, without its colours. */
export function textWidth(text: string): number {
  // Almost every text of a table is ASCII.
  if (/^[ -~]*$/.test(text)) return text.length;
  return [...characters.segment(stripVTControlCharacters(text))].reduce(
    (width, { segment }) =>
      width + (WIDE.test(segment) ? 2 : /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u.test(segment) ? 0 : 1),
    0,
  );
}
