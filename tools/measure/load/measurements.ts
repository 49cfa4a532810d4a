import { createHistogram } from 'node:perf_hooks';
import { type LoadPlan, type PlannedStep, ratesOf, stepsOf } from './plan.ts';

/** Maximum number of points in the picture. In a long run, each covers several seconds. */
const MAX_SLICES = 120;

/** Milliseconds after which a delivery counts as sent late. The cause is then the sending computer. */
export const LATE = 100;

/** Milliseconds. Longer latencies count as this value. */
const MAX_LATENCY = 60 * 60 * 1_000;

/** In milliseconds. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** An HDR histogram: each value has a limited relative error, and memory does not grow. */
export class LatencyHistogram {
  readonly #histogram;

  /** @param figures significant digits: 2 need a third of the memory */
  constructor(figures: 2 | 3 = 3) {
    this.#histogram = createHistogram({ lowest: 1, highest: MAX_LATENCY * 1_000, figures });
  }

  /** @param milliseconds may have fractions, to the microsecond */
  add(milliseconds: number): void {
    this.#histogram.record(Math.min(MAX_LATENCY * 1_000, Math.max(1, Math.round(milliseconds * 1_000))));
  }

  /** @param percent of the values that are at most this long, such as 99.9. @returns 0 if there are no values */
  percentile(percent: number): number {
    return this.#histogram.count === 0 ? 0 : this.#histogram.percentile(percent) / 1_000;
  }

  percentiles(): Percentiles {
    const { count, max } = this.#histogram;
    return {
      count,
      p50: this.percentile(50),
      p90: this.percentile(90),
      p99: this.percentile(99),
      p999: this.percentile(99.9),
      max: count === 0 ? 0 : max / 1_000,
    };
  }
}

/** A set of delivery numbers with one bit each: a run of hours has hundreds of millions. */
export class Bitmap {
  readonly #bits: Uint8Array;
  #size = 0;

  /** @param limit all numbers are below it */
  constructor(limit: number) {
    this.#bits = new Uint8Array(Math.ceil(limit / 8));
  }

  get size(): number {
    return this.#size;
  }

  has(number: number): boolean {
    return ((this.#bits[number >> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }

  /** @returns whether it is new */
  add(number: number): boolean {
    const index = number >> 3;
    if (index >= this.#bits.length || this.has(number)) return false;
    this.#bits[index] = (this.#bits[index] ?? 0) | (1 << (number & 7));
    this.#size += 1;
    return true;
  }
}

export interface Ending {
  readonly number: number;
  /** When it was due, in milliseconds since the run began. */
  readonly due: number;
  /** When it ended, in milliseconds since the run began. */
  readonly at: number;
  /** The status of the answer, or why there was none. */
  readonly came: number | string;
}

/** Counts for an interval of the run, by the due time of deliveries. */
export class Interval {
  /** Seconds since the run began. */
  readonly begin: number;
  readonly seconds: number;
  /** Number of deliveries due. */
  readonly wanted: number;
  sent = 0;
  accepted = 0;
  /** Answers other than 200, and errors. */
  failed = 0;
  /** Answers that came in the interval, whenever their delivery was sent. */
  came = 0;
  /** Sent later than {@link LATE}. */
  late = 0;
  /** From the due time to the end. */
  readonly receipt = new LatencyHistogram(2);
  /** From receipt to effect, by the time of receipt. */
  readonly effect = new LatencyHistogram(2);

  constructor(begin: number, rates: readonly number[]) {
    this.begin = begin;
    this.seconds = rates.length;
    this.wanted = sum(rates);
  }

  summary() {
    const { begin, seconds, wanted, sent, accepted, failed, came, late } = this;
    const latencies = { receipt: this.receipt.percentiles(), effect: this.effect.percentiles() };
    return { begin, seconds, wanted, sent, accepted, failed, came, late, ...latencies };
  }
}

export class Measurements {
  /** Equal parts of the run. */
  readonly slices: readonly Interval[];
  readonly steps: readonly (Interval & Pick<PlannedStep, 'rate'>)[];
  /** By status, or by the kind of error if there was no answer. */
  readonly endings = new Map<number | string, number>();
  /** From the due time to the end, for every delivery that ended in any way. */
  readonly receipt = new LatencyHistogram();
  /** From the due time to the time of sending. */
  readonly sendLag = new LatencyHistogram();
  sent = 0;
  /** How many were sent again because an idle connection had been closed. */
  sentAgain = 0;
  ended = 0;
  /** Time of the last answer, in milliseconds since the run began. */
  lastAnswerAt = 0;
  /** Deliveries that were answered 200. */
  readonly accepted: Bitmap;
  readonly #sliceSeconds: number;

  constructor(plan: LoadPlan) {
    const rates = ratesOf(plan);
    const sliceSeconds = Math.ceil(rates.length / MAX_SLICES);
    this.#sliceSeconds = sliceSeconds;
    this.slices = Array.from({ length: Math.ceil(rates.length / sliceSeconds) }, (_, index) => {
      const begin = index * sliceSeconds;
      return new Interval(begin, rates.slice(begin, begin + sliceSeconds));
    });
    let begin = 0;
    this.steps = stepsOf(plan).map(({ rate, seconds }) => {
      const step = Object.assign(new Interval(begin, rates.slice(begin, begin + seconds)), { rate });
      begin += seconds;
      return step;
    });
    this.accepted = new Bitmap(sum(rates));
  }

  /**
   * Records that a delivery is being sent. @param due when it was due, @param at when it is sent: milliseconds since
   * the run began
   */
  begin(due: number, at: number): void {
    this.sent += 1;
    this.sendLag.add(at - due);
    for (const interval of this.#intervals(due)) {
      interval.sent += 1;
      if (at - due > LATE) interval.late += 1;
    }
  }

  end({ number, due, at, came }: Ending): void {
    this.ended += 1;
    this.endings.set(came, (this.endings.get(came) ?? 0) + 1);
    this.receipt.add(at - due);
    if (typeof came === 'number') {
      this.lastAnswerAt = Math.max(this.lastAnswerAt, at);
      const slice = this.slices[this.#sliceAt(at)];
      if (slice !== undefined) slice.came += 1;
    }
    if (came === 200) this.accepted.add(number);
    for (const interval of this.#intervals(due)) {
      interval.receipt.add(at - due);
      if (came === 200) interval.accepted += 1;
      else interval.failed += 1;
    }
  }

  /**
   * Records that a delivery was processed. @param receivedAt milliseconds since the run began, by the receiver's clock
   */
  takeEffect(receivedAt: number, milliseconds: number): void {
    // The receipt may be after the last second. Because clocks differ, it may also be before the first.
    const index = Math.min(this.slices.length - 1, Math.max(0, this.#sliceAt(receivedAt)));
    this.slices[index]?.effect.add(milliseconds);
  }

  /** Answers of any status. */
  get answered(): number {
    return sum([...this.endings].map(([came, count]) => (typeof came === 'number' ? count : 0)));
  }

  #sliceAt(milliseconds: number): number {
    return Math.floor(milliseconds / 1_000 / this.#sliceSeconds);
  }

  #intervals(due: number): Interval[] {
    const step = this.steps.find(({ begin, seconds }) => due / 1_000 < begin + seconds);
    return [this.slices[this.#sliceAt(due)], step].filter((one) => one !== undefined);
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
