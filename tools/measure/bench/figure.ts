/** Something of which it is known how fast, how big or how dear it should be. */
export interface Figure {
  /** What is typed to measure it alone, such as `module-load`. */
  readonly name: string;
  /** What is put in relation, such as `module load ÷ bare bundle`. */
  readonly title: string;
  /** That it should reach. */
  readonly goal: { readonly atMost: number } | { readonly atLeast: number };
  /** Such as `MB`, `$` or `s`. @default a ratio, which has none */
  readonly unit?: string;
  /** @throws Error where it cannot be measured here: that it is worse than its goal is no error */
  measure(options: MeasureOptions): Promise<Measured>;
}

export interface MeasureOptions {
  /** Ends what is under way. */
  readonly signal: AbortSignal;
  /** Told what is being done, in a few words. */
  readonly say: (doing: string) => void;
}

/** What a figure is in one run. */
export interface Measured extends Spread {
  /** What it was made of, such as `4.1 ms ÷ 3.6 ms`; one line. */
  readonly made: string;
}

/** Of the rounds of one run. */
export interface Spread {
  readonly median: number;
  /** A quarter of the rounds is below it. */
  readonly low: number;
  /** A quarter of the rounds is above it. */
  readonly high: number;
  readonly rounds: number;
}

/** @throws Error where there is no value */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other);
  return {
    median: share(sorted, 0.5),
    low: share(sorted, 0.25),
    high: share(sorted, 0.75),
    rounds: sorted.length,
  };
}

/** Of what is the same in each run, such as a price. */
export const exactly = (value: number): Spread => ({ median: value, low: value, high: value, rounds: 1 });

/**
 * Times pairs that took turns, so that a busy moment of the machine met both alike: the spread of their ratios.
 * @throws Error where there is no pair
 */
export const ratios = (pairs: readonly { readonly of: number; readonly to: number }[]): Spread =>
  spread(pairs.map(({ of, to }) => of / to));

export function reaches({ goal }: Figure, { median }: Spread): boolean {
  return 'atMost' in goal ? median <= goal.atMost : median >= goal.atLeast;
}

/** @param share of the values that are below, from 0 to 1 */
function share(sorted: readonly number[], share: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new Error('Nothing was measured');
  return value;
}
