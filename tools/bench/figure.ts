import { table } from '../terminal/layout.ts';

/** A measurement with a goal. */
export interface Figure {
  /** Name of the figure on the command line, such as `module-load`. */
  readonly name: string;
  readonly title: string;
  readonly atMost: number;
  /** @throws Error if it cannot be measured here. A missed goal is not an error. */
  measure(signal: AbortSignal): Promise<Measured>;
}

/** Median and quartiles of the rounds of one run. */
export interface Measured {
  readonly median: number;
  readonly firstQuartile: number;
  readonly thirdQuartile: number;
  /** How the value was calculated, in one line, such as `4.1 ms ÷ 3.6 ms`. */
  readonly made: string;
}

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

export type FigureRow = Omit<Figure, 'measure'> & Measured;

/** @param width of the screen, in characters */
export function figureTable(rows: readonly FigureRow[], width: number): string[] {
  const headings = ['FIGURE', 'GOAL', 'MEDIAN', 'HALF OF THE ROUNDS', '', 'MADE OF'];
  return table(
    headings.map((heading) => ({ heading })),
    rows.map(({ title, atMost, median, firstQuartile, thirdQuartile, made }) => [
      title,
      `≤ ${shown(atMost)}`,
      shown(median),
      firstQuartile === thirdQuartile ? '' : `${shown(firstQuartile)} to ${shown(thirdQuartile)}`,
      median <= atMost ? '✓' : '✗',
      made,
    ]),
    width,
  );
}

const shown = (value: number) => value.toFixed(value >= 100 ? 0 : 2);
