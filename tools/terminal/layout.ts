import { stripVTControlCharacters, styleText } from 'node:util';

export interface Column {
  readonly heading: string;
  /** Alignment of the column. @default 'left' */
  readonly align?: 'left' | 'right';
}

/** Spaces between two columns, and before the name of a field. */
const GAP = 2;

/** Minimum width of a column that is narrowed, so that wrapped text stays readable. */
const MIN_COLUMN_WIDTH = 8;

/**
 * A table: headings, and rows below them, in columns as wide as needed. If it is wider than the terminal, the
 * widest columns are narrowed and their cells wrap.
 * @param width characters of a line; Infinity if the output is not a terminal
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const printed = [
    columns.map(({ heading }) => styleText('bold', heading)),
    // A tab has no fixed width.
    ...rows.map((cells) => cells.map((cell) => cell.replaceAll('\t', ' '))),
  ];
  const natural = columns.map((_, index) =>
    Math.max(1, ...printed.map((cells) => longestLine(cells[index]))),
  );
  const widths = narrow(natural, width - GAP * (columns.length - 1));
  return printed.flatMap((cells) => {
    const wrapped = widths.map((columnWidth, index) =>
      (cells[index] ?? '')
        .split('\n')
        .flatMap((line) => lines(line, columnWidth))
        .flatMap((line) => split(line, columnWidth)),
    );
    const height = Math.max(...wrapped.map(({ length }) => length));
    return Array.from({ length: height }, (_, row) =>
      columns
        .map(({ align }, index) => {
          const text = wrapped[index]?.[row] ?? '';
          const space = ' '.repeat(Math.max(0, (widths[index] ?? 1) - textWidth(text)));
          return align === 'right' ? space + text : text + space;
        })
        .join(' '.repeat(GAP))
        .trimEnd(),
    );
  });
}

/** Splits a word that is wider than a column. A word with colours is not split. */
function split(word: string, width: number): string[] {
  if (textWidth(word) <= width || word.includes('\u001b')) return [word];
  const parts: string[] = [];
  let part = '';
  for (const { segment } of characters.segment(word)) {
    if (textWidth(part + segment) > width) {
      parts.push(part);
      part = '';
    }
    part += segment;
  }
  return [...parts, part];
}

/** Widths of columns that fit: the widest column is narrowed, character by character. */
function narrow(natural: readonly number[], available: number): number[] {
  const widths = [...natural];
  while (sum(widths) > available) {
    const widest = Math.max(...widths);
    if (widest <= MIN_COLUMN_WIDTH) break;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

const longestLine = (cell = '') => Math.max(...cell.split('\n').map(textWidth));

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** Minimum characters of the values' column. */
const MIN_VALUE_WIDTH = 20;

type NamedValue = readonly [name: string, value: string | false | undefined];

/**
 * A list of named values, one below the other. Names without a value are left out. A value that does not fit the line
 * wraps.
 * @param width characters of a line; Infinity if the output is not a terminal
 */
export function fieldLines(all: readonly NamedValue[], width: number): string[] {
  const known = all.flatMap(([name, value]) =>
    value === undefined || value === false ? [] : ([[name, value]] as const),
  );
  const nameWidth = Math.max(0, ...known.map(([name]) => textWidth(name)));
  const indent = GAP + nameWidth + GAP;
  return known.flatMap(([name, value]) =>
    lines(value, Math.max(MIN_VALUE_WIDTH, width - indent)).map(
      (line, index) => `${' '.repeat(GAP)}${(index === 0 ? name : '').padEnd(nameWidth + GAP)}${line}`,
    ),
  );
}

/** Wraps a text at spaces to a width. Each line keeps the text's indentation. */
export function lines(text: string, width: number): string[] {
  if (!Number.isFinite(width)) return [text];
  const words = text.trimStart().split(' ');
  const indent = ' '.repeat(text.length - text.trimStart().length);
  const all: string[] = [];
  let line: string | undefined;
  for (const word of words) {
    const longer: string = line === undefined ? `${indent}${word}` : `${line} ${word}`;
    if (line !== undefined && textWidth(longer) > width) {
      all.push(line);
      line = `${indent}${word}`;
    } else {
      line = longer;
    }
  }
  return [...all, line ?? ''];
}

/** Splits a text into what a reader sees as single characters. */
const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });

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
