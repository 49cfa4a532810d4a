import { createHistogram } from 'node:perf_hooks';

/** Milliseconds that are told apart at most: beyond them all is the same. */
const LONGEST = 60 * 60 * 1_000;

/** In milliseconds. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Lengths of time, in an HDR histogram: exact to some share of each, in memory that does not grow. */
export class Latencies {
  readonly #histogram;

  /** @param figures significant digits: of many at a time 2 are enough, at a third of the memory */
  constructor(figures: 2 | 3 = 3) {
    this.#histogram = createHistogram({ lowest: 1, highest: LONGEST * 1_000, figures });
  }

  get count(): number {
    return this.#histogram.count;
  }

  /** @param milliseconds fractions count, to the microsecond */
  add(milliseconds: number): void {
    this.#histogram.record(Math.min(LONGEST * 1_000, Math.max(1, Math.round(milliseconds * 1_000))));
  }

  /** @param percent of the values that are at most as long, such as 99.9. @returns 0 where there is none */
  percentile(percent: number): number {
    return this.count === 0 ? 0 : this.#histogram.percentile(percent) / 1_000;
  }

  get max(): number {
    return this.count === 0 ? 0 : this.#histogram.max / 1_000;
  }

  percentiles(): Percentiles {
    return {
      count: this.count,
      p50: this.percentile(50),
      p90: this.percentile(90),
      p99: this.percentile(99),
      p999: this.percentile(99.9),
      max: this.max,
    };
  }
}
