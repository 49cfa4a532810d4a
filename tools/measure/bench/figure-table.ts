import { table } from '../../cli/terminal/layout.ts';
import { type Figure, type Measured, reaches } from './figure.ts';

/** A figure, and what it is or why it could not be measured. */
export interface FigureRow {
  readonly figure: Figure;
  readonly result: Measured | Error;
}

/** @param width of the screen, in characters */
export function figureTable(rows: readonly FigureRow[], width: number): string[] {
  return table(
    [
      { heading: 'FIGURE' },
      { heading: 'GOAL', align: 'right' },
      { heading: 'MEDIAN', align: 'right' },
      { heading: 'HALF OF THE ROUNDS', align: 'right' },
      { heading: '' },
      { heading: 'MADE OF' },
    ],
    rows.map(({ figure, result }) => {
      const { title, goal } = figure;
      const aim = 'atMost' in goal ? `≤ ${shown(goal.atMost, figure)}` : `≥ ${shown(goal.atLeast, figure)}`;
      if (result instanceof Error) return [title, aim, '–', '', '!', `not measured: ${result.message}`];
      const { median, low, high, rounds, made } = result;
      const between = rounds === 1 ? '' : `${shown(low, figure)} to ${shown(high, figure)}`;
      return [title, aim, shown(median, figure), between, reaches(figure, result) ? '✓' : '✗', made];
    }),
    width,
  );
}

export function figureJson(rows: readonly FigureRow[]): string {
  const plain = rows.map(({ figure: { name, title, unit, goal }, result }) => ({
    name,
    title,
    unit,
    goal,
    ...(result instanceof Error ? { error: result.message } : result),
  }));
  return JSON.stringify(plain, undefined, 2);
}

/** Ratios and dollars to the hundredth, what is counted in hundreds whole. */
function shown(value: number, { unit }: Figure): string {
  const digits = Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
  return unit === undefined ? digits : `${digits} ${unit}`;
}
