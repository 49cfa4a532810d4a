import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { getBorderCharacters, table as layOut } from 'table';
import type { Column } from './block.ts';

/** Spaces between two columns. */
const GAP = 2;

/** Characters below which no column is narrowed: what is longer wraps, and stays readable. */
const NARROWEST = 8;

/**
 * Rows under their headings, in columns as wide as they need. If that is wider than the terminal, the widest
 * columns are narrowed and their cells wrap.
 * @param width characters of a line; Infinity if the output is not a terminal
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const lines = [
    columns.map(({ heading }) => styleText('bold', heading)),
    ...rows.map((cells) => cells.map(oneSpace)),
  ];
  const natural = columns.map((_, index) => Math.max(1, ...lines.map((cells) => longestLine(cells[index]))));
  const widths = narrow(natural, width - GAP * (columns.length - 1));
  const text = layOut(lines, {
    border: getBorderCharacters('void'),
    drawHorizontalLine: () => false,
    columnDefault: { paddingLeft: 0, paddingRight: GAP, wrapWord: true },
    columns: columns.map(({ align = 'left' }, index) => ({ alignment: align, width: widths[index] ?? 1 })),
  });
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());
}

/** Takes from the widest column, character by character, until all fit. */
function narrow(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  while (sum(widths) > room) {
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) break;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

/** A tab has no fixed width, and the library does not take one. */
const oneSpace = (cell: string) => cell.replaceAll('\t', ' ');

const longestLine = (cell = '') => Math.max(...cell.split('\n').map((line) => stringWidth(line)));

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
