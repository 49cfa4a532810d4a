import { Latencies } from './latencies.ts';
import { NumberSet } from './number-set.ts';
import { type LoadPlan, type PlannedStep, ratesOf, stepsOf } from './plan.ts';

/** Points of time that a run is drawn with at most: a long one has several seconds in each. */
const MOST_SLICES = 120;

/** Milliseconds after which a delivery counts as sent late: the machine that sends is at fault then. */
export const LATE = 100;

/** What became of one delivery. */
export interface Ending {
  readonly number: number;
  /** When it was to be sent, in milliseconds since the run began. */
  readonly due: number;
  /** When it ended, likewise. */
  readonly at: number;
  /** The status of the answer, or why there was none. */
  readonly came: number | string;
}

/** Deliveries of a stretch of the run, by when they were to be sent. */
export class Stretch {
  /** When it begins, in seconds since the run began. */
  readonly begin: number;
  readonly seconds: number;
  /** Deliveries that are to be sent. */
  readonly wanted: number;
  sent = 0;
  accepted = 0;
  /** Answers but 200, and none. */
  failed = 0;
  /** Answers that came in it, of whatever delivery. */
  came = 0;
  /** Sent later than {@link LATE}. */
  late = 0;
  /** From when it was to be sent to its end. */
  readonly receipt: Latencies;
  /** From receipt to effect, by when it was received. */
  readonly effect: Latencies;

  constructor(begin: number, seconds: number, wanted: number, figures: 2 | 3) {
    this.begin = begin;
    this.seconds = seconds;
    this.wanted = wanted;
    this.receipt = new Latencies(figures);
    this.effect = new Latencies(figures);
  }
}

/** What is measured of a run, as it goes on. */
export class Measurements {
  readonly plan: LoadPlan;
  /** Equal parts of the run. */
  readonly slices: readonly Stretch[];
  readonly steps: readonly (Stretch & PlannedStep)[];
  readonly sliceSeconds: number;
  /** By status, and by the kind of error where there was no answer. */
  readonly endings = new Map<number | string, number>();
  /** Of every delivery that was sent and ended, whatever came: from when it was to be sent. */
  readonly receipt = new Latencies();
  /** From when deliveries were to be sent to when they were. */
  readonly sendLag = new Latencies();
  sent = 0;
  /** Of these, what went out a second time, as its connection had been closed while it was idle. */
  sentAgain = 0;
  ended = 0;
  /** Milliseconds since the run began, of the last answer. */
  lastAnswerAt = 0;
  /** Which deliveries were answered 200. */
  readonly accepted: NumberSet;

  constructor(plan: LoadPlan) {
    this.plan = plan;
    const rates = ratesOf(plan);
    this.sliceSeconds = Math.ceil(rates.length / MOST_SLICES);
    this.slices = Array.from({ length: Math.ceil(rates.length / this.sliceSeconds) }, (_, index) => {
      const own = rates.slice(index * this.sliceSeconds, (index + 1) * this.sliceSeconds);
      return new Stretch(index * this.sliceSeconds, own.length, sum(own), 2);
    });
    let begin = 0;
    this.steps = stepsOf(plan).map(({ rate, seconds }) => {
      const step = Object.assign(new Stretch(begin, seconds, rate * seconds, 2), { rate });
      begin += seconds;
      return step;
    });
    this.accepted = new NumberSet(sum(rates));
  }

  /** A delivery is being sent. @param due when it was to be sent, @param at when it is: milliseconds since the run began */
  begin(due: number, at: number): void {
    this.sent += 1;
    this.sendLag.add(at - due);
    for (const stretch of this.#stretches(due)) {
      stretch.sent += 1;
      if (at - due > LATE) stretch.late += 1;
    }
  }

  end({ number, due, at, came }: Ending): void {
    this.ended += 1;
    this.endings.set(came, (this.endings.get(came) ?? 0) + 1);
    this.receipt.add(at - due);
    if (typeof came === 'number') {
      this.lastAnswerAt = Math.max(this.lastAnswerAt, at);
      const slice = this.slices[Math.floor(at / 1_000 / this.sliceSeconds)];
      if (slice !== undefined) slice.came += 1;
    }
    if (came === 200) this.accepted.add(number);
    for (const stretch of this.#stretches(due)) {
      stretch.receipt.add(at - due);
      if (came === 200) stretch.accepted += 1;
      else stretch.failed += 1;
    }
  }

  /** A delivery had its effect. @param receivedAt milliseconds since the run began, by the receiver's clock */
  takeEffect(receivedAt: number, milliseconds: number): void {
    // A late one is received after the last second, and another clock may be before the first.
    const last = this.slices.length - 1;
    const slice = Math.floor(receivedAt / 1_000 / this.sliceSeconds);
    this.slices[Math.min(last, Math.max(0, slice))]?.effect.add(milliseconds);
  }

  /** Answers of whatever status. */
  get answered(): number {
    return sum([...this.endings].map(([came, count]) => (typeof came === 'number' ? count : 0)));
  }

  #stretches(due: number): Stretch[] {
    const second = due / 1_000;
    const slice = this.slices[Math.floor(second / this.sliceSeconds)];
    const step = this.steps.find(({ begin, seconds }) => second < begin + seconds);
    return [slice, step].filter((one) => one !== undefined);
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
