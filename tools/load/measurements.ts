import { createHistogram } from 'node:perf_hooks';
import { deliveriesOf, type LoadPlan, partsOf } from './plan.ts';

/** Milliseconds after which a delivery counts as sent late. The cause is then the sending computer. */
export const LATE = 100;

/** Microseconds: a day. No delivery takes so long. */
const MAX_LATENCY = 24 * 60 * 60 * 1e6;

/** The ending of a delivery that had no answer when the run ended early. Its latency until then counts. */
export const UNDER_WAY = 'under way';

/** States of a delivery: answered 200, and found in the archive. */
export const [ACCEPTED, SETTLED] = [1, 2];

/** An HDR histogram: each value has a limited relative error, and memory does not grow. */
export class LatencyHistogram {
  /** In microseconds. */
  readonly #histogram = createHistogram({ lowest: 1, highest: MAX_LATENCY, figures: 3 });

  add(milliseconds: number): void {
    this.#histogram.record(Math.max(1, Math.round(milliseconds * 1_000)));
  }

  /** In milliseconds. */
  toJSON() {
    const { count } = this.#histogram;
    const at = (percent: number) => (count === 0 ? 0 : this.#histogram.percentile(percent) / 1_000);
    return { count, p50: at(50), p90: at(90), p99: at(99), p999: at(99.9), max: at(100) };
  }
}

/** Counts and latencies of a part of the run, by the due time of deliveries. */
const emptyPart = (begin: number, seconds: number, wanted: number) => ({
  /** First second of the part, since the run began. */
  begin,
  seconds,
  /** Number of deliveries that are due in the part. */
  wanted,
  sent: 0,
  /** Sent later than {@link LATE}. */
  late: 0,
  accepted: 0,
  /** Answers other than 200, and errors. */
  failed: 0,
  /** Latencies from the due time to the answer. */
  receipt: new LatencyHistogram(),
  /** Latencies from receipt to effect, in the part of the receipt. */
  effect: new LatencyHistogram(),
});

export type LoadPart = ReturnType<typeof emptyPart>;

export class LoadMeasurements {
  readonly total: LoadPart;
  readonly parts: readonly LoadPart[];
  /** Numbers of deliveries by status, or by the kind of error if there was no answer. */
  readonly endings = new Map<number | string, number>();
  /**
   * State of each delivery, at the index of its number. A byte each, because a run of hours has hundreds of millions.
   */
  readonly states: Uint8Array;

  constructor(plan: LoadPlan) {
    this.total = emptyPart(0, plan.seconds, deliveriesOf(plan));
    this.parts = partsOf(plan).map(({ begin, seconds, rate }) => emptyPart(begin, seconds, rate * seconds));
    this.states = new Uint8Array(this.total.wanted);
  }

  /** Records that a delivery is being sent. All times are in milliseconds since the run began. */
  begin(due: number, at: number): void {
    for (const part of this.#partsAt(due)) {
      part.sent += 1;
      if (at - due > LATE) part.late += 1;
    }
  }

  /** @param ending the status of the answer, or why there was none */
  end(number: number, due: number, at: number, ending: number | string): void {
    this.endings.set(ending, (this.endings.get(ending) ?? 0) + 1);
    if (ending === 200) this.states[number] = ACCEPTED;
    for (const part of this.#partsAt(due)) {
      part.receipt.add(at - due);
      if (ending === 200) part.accepted += 1;
      else if (ending !== UNDER_WAY) part.failed += 1;
    }
  }

  /**
   * Records that a delivery was processed.
   * @param receivedAt milliseconds since the run began, by API Gateway's clock, so it may be outside the run
   */
  takeEffect(receivedAt: number, milliseconds: number): void {
    for (const part of this.#partsAt(receivedAt)) part.effect.add(milliseconds);
  }

  /** The measurements of the whole run, and of the part at a time or nearest to it. */
  #partsAt(milliseconds: number): LoadPart[] {
    const part = this.parts.find(({ begin, seconds }) => milliseconds / 1_000 < begin + seconds);
    return [this.total, part ?? this.parts.at(-1) ?? this.total];
  }
}
