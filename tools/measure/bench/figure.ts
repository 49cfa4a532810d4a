import { table } from '../../cli/terminal/layout.ts';

/** A measurement with a goal. */
export interface Figure {
  /** Its name on the command line, such as `module-load`. */
  readonly name: string;
  /** Title, such as `module load ÷ bare bundle`. */
  readonly title: string;
  readonly goal: { readonly atMost: number } | { readonly atLeast: number };
  /** Such as `MB`, `$` or `s`. Ratios have none. */
  readonly unit?: string;
  /** @throws Error if it cannot be measured here. A missed goal is not an error. */
  measure(options: MeasureOptions): Promise<Measured>;
}

export interface MeasureOptions {
  readonly signal: AbortSignal;
  /** Called with a few words about the current work. */
  readonly onProgress: (doing: string) => void;
}

export interface Measured extends Spread {
  /** The parts of the value in one line, such as `4.1 ms ÷ 3.6 ms`. */
  readonly made: string;
}

/** Median and quartiles of the rounds of one run. */
export interface Spread {
  readonly median: number;
  /** First quartile. */
  readonly low: number;
  /** Third quartile. */
  readonly high: number;
  readonly rounds: number;
}

/** @throws Error if there are no values */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other);
  return {
    median: share(sorted, 0.5),
    low: share(sorted, 0.25),
    high: share(sorted, 0.75),
    rounds: sorted.length,
  };
}

/** The spread of a single value, such as a price. */
export const exactly = (value: number): Spread => ({ median: value, low: value, high: value, rounds: 1 });

/**
 * The spread of the ratios of pairs. The two values of a pair are measured in succession, so that other load on the
 * computer affects both.
 * @throws Error if there are no pairs
 */
export const ratios = (pairs: readonly { readonly of: number; readonly to: number }[]): Spread =>
  spread(pairs.map(({ of, to }) => of / to));

export function reaches({ goal }: Figure, { median }: Spread): boolean {
  return 'atMost' in goal ? median <= goal.atMost : median >= goal.atLeast;
}

/** A quantile. @param share of the values that are below, from 0 to 1 */
function share(sorted: readonly number[], share: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new Error('Nothing was measured');
  return value;
}

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

/** Two decimals below 100. */
function shown(value: number, { unit }: Figure): string {
  const digits = Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
  return unit === undefined ? digits : `${digits} ${unit}`;
}
