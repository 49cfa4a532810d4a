import { table } from '../terminal/layout.ts';

/** A measurement with a goal. */
export interface Figure {
  /** Name of the figure on the command line, such as `module-load`. */
  readonly name: string;
  readonly title: string;
  readonly atMost: number;
  /** Unit, such as `KB` or `$`. Ratios have none. */
  readonly unit?: string;
  /** @throws Error if it cannot be measured here. A missed goal is not an error. */
  measure(options: MeasureOptions): Promise<Measured>;
}

export interface MeasureOptions {
  readonly signal: AbortSignal;
  /** Called with a few words about the current work. */
  readonly onProgress: (doing: string) => void;
}

/** Median and quartiles of the rounds of one run. */
export interface Measured {
  readonly median: number;
  readonly firstQuartile: number;
  readonly thirdQuartile: number;
  readonly rounds: number;
  /** How the value was calculated, in one line, such as `4.1 ms ÷ 3.6 ms`. */
  readonly made: string;
}

/** A single value, such as a size. */
export const exactly = (value: number) => ({
  median: value,
  firstQuartile: value,
  thirdQuartile: value,
  rounds: 1,
});

/** Milliseconds of two things that were measured in succession. */
export interface TimePair {
  readonly of: number;
  readonly to: number;
}

/**
 * The ratios of pairs. Other load on the computer affects both values of a pair.
 * @param repeats how often each of the two was done in the time of a pair
 * @throws Error if there are no pairs
 */
export function compare(pairs: readonly TimePair[], repeats = 1): Measured {
  const ratios = pairs.map(({ of, to }) => of / to);
  const medians = [pairs.map(({ of }) => of), pairs.map(({ to }) => to)].map((times) => quantile(times, 0.5));
  return {
    median: quantile(ratios, 0.5),
    firstQuartile: quantile(ratios, 0.25),
    thirdQuartile: quantile(ratios, 0.75),
    rounds: pairs.length,
    made: medians.map((median) => `${(median / repeats).toPrecision(3)} ms`).join(' ÷ '),
  };
}

/** @param share of the values that are below, from 0 to 1 */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
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
      const { title, atMost } = figure;
      const goal = `≤ ${shown(atMost, figure)}`;
      if (result instanceof Error) return [title, goal, '–', '', '!', `not measured: ${result.message}`];
      const { median, firstQuartile, thirdQuartile, rounds, made } = result;
      const between =
        rounds === 1 ? '' : `${shown(firstQuartile, figure)} to ${shown(thirdQuartile, figure)}`;
      return [title, goal, shown(median, figure), between, median <= atMost ? '✓' : '✗', made];
    }),
    width,
  );
}

export function figureJson(rows: readonly FigureRow[]): string {
  const plain = rows.map(({ figure: { name, title, unit, atMost }, result }) => {
    const measured = result instanceof Error ? { error: result.message } : result;
    return { name, title, unit, atMost, ...measured };
  });
  return JSON.stringify(plain, undefined, 2);
}

/** Text of a value: two decimals below 100, otherwise none. */
function shown(value: number, { unit }: Figure): string {
  const digits = value >= 100 ? value.toFixed(0) : value.toFixed(2);
  return unit === undefined ? digits : `${digits} ${unit}`;
}
