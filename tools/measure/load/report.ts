import type { Effect } from './effect.ts';
import { type Interval, LATE, type Percentiles } from './measurements.ts';
import { deliveriesOf, type LoadPlan } from './plan.ts';
import type { Run } from './run.ts';

/** Milliseconds. A step of a ramp with a higher p99 of the receipt counts as broken. */
export const MAX_P99 = 1_000;

/** Share of deliveries that may take longer than that. */
const MAX_SLOW_SHARE = 0.01;

/** Share of deliveries that may be sent late. With more, the figures show the sender and not the receiver. */
const MAX_LATE_SHARE = 0.01;

/** The same for one step, which has few deliveries. */
const MAX_LATE_SHARE_OF_STEP = 0.05;

/** Milliseconds by which the event loop may be late at p99. */
const MAX_LOOP_DELAY = 50;

type IntervalSummary = ReturnType<Interval['summary']>;

interface ReportedStep extends IntervalSummary {
  /** Deliveries a second. */
  readonly rate: number;
  readonly broken?: string;
}

/** Why the results are unknown. */
export interface Unread {
  readonly why: string;
}

/** The result of a run. `--json` prints it. */
export interface LoadReport {
  readonly url: string;
  readonly run: string;
  readonly begun: string;
  readonly plan: Pick<LoadPlan, 'rate' | 'seconds' | 'ramp' | 'mix' | 'shops' | 'connections'>;
  readonly deliveries: Record<'wanted' | 'sent' | 'sentAgain' | 'answered' | 'accepted', number>;
  /** Per second. */
  readonly rate: Record<'wanted' | 'sent' | 'answered', number>;
  /** By status, or by the kind of error if there was no answer. In a run that ended early also `under way`. */
  readonly endings: readonly { readonly came: number | string; readonly count: number }[];
  /** From the due time of a delivery to its answer, or to its timeout. */
  readonly receipt: Percentiles;
  readonly effect: Effect | Unread;
  /** The computer that sends. */
  readonly sender: {
    readonly sendLag: Percentiles;
    readonly loopDelayP99: number;
    /** Why the figures cannot be trusted. */
    readonly doubts: readonly string[];
  };
  /** Empty without a ramp. */
  readonly steps: readonly ReportedStep[];
  readonly slices: readonly IntervalSummary[];
  readonly ended?: string;
  /** Whether all deliveries were sent at their rate, answered 200 and processed, as far as that is known. */
  readonly succeeded: boolean;
}

export function makeReport(run: Run, effect: Effect | Unread): LoadReport {
  const { plan, url, measurements, begin, lasted, ended, tooSlow } = run;
  const { sent, sentAgain, answered, endings, receipt, lastAnswerAt } = measurements;
  const accepted = measurements.accepted.size;
  const wanted = deliveriesOf(plan);
  const underWay = sent - measurements.ended;
  const perSecond = (count: number, milliseconds: number) =>
    milliseconds === 0 ? 0 : (count * 1_000) / milliseconds;
  const { rate, seconds, ramp, mix, shops, connections } = plan;
  const hasEffect =
    'why' in effect ||
    (effect.missing === 0 && effect.unread === undefined && effect.outcomes.DeadLettered === undefined);
  return {
    url: url.href,
    run: plan.run,
    begun: new Date(begin).toISOString(),
    plan: { rate, seconds, ramp, mix, shops, connections },
    deliveries: { wanted, sent, sentAgain, answered, accepted },
    rate: {
      wanted: wanted / seconds,
      sent: perSecond(sent, ended === undefined ? Math.max(lasted, seconds * 1_000) : lasted),
      answered: perSecond(answered, Math.max(lastAnswerAt, ended === undefined ? seconds * 1_000 : 0)),
    },
    endings: [...endings, ...(underWay === 0 ? [] : [['under way', underWay] as const])]
      .map(([came, count]) => ({ came, count }))
      .sort((one, other) => other.count - one.count),
    receipt: receipt.percentiles(),
    effect,
    sender: {
      sendLag: measurements.sendLag.percentiles(),
      loopDelayP99: run.loopDelay,
      doubts: doubtsOf(run),
    },
    steps: ramp ? measurements.steps.map((step) => reportStep(step, run)) : [],
    slices: measurements.slices.map((slice) => slice.summary()),
    ...(ended !== undefined && { ended }),
    succeeded:
      ended === undefined && tooSlow === undefined && !isLate(run) && accepted === wanted && hasEffect,
  };
}

const lateOf = ({ slices }: Run['measurements']) => slices.reduce((sum, { late }) => sum + late, 0);

/** Whether the sending computer did not keep the rate. */
const isLate = ({ measurements }: Run) => lateOf(measurements) > measurements.sent * MAX_LATE_SHARE;

function doubtsOf(run: Run): string[] {
  const { measurements, tooSlow, loopDelay } = run;
  return [
    ...(tooSlow === undefined ? [] : [tooSlow]),
    ...(isLate(run)
      ? [
          `${percent(lateOf(measurements) / measurements.sent)} of the deliveries were sent more than ${LATE} ms late.`,
        ]
      : []),
    ...(loopDelay <= MAX_LOOP_DELAY
      ? []
      : [
          `Its event loop was ${Math.round(loopDelay)} ms late at the 99th percentile: other work took the processor.`,
        ]),
  ];
}

function reportStep(step: Interval & { readonly rate: number }, run: Run): ReportedStep {
  const broken = breakOf(step, run);
  return { ...step.summary(), rate: step.rate, ...(broken !== undefined && { broken }) };
}

/** Why a step counts as broken. A fault of the sender comes first, because it would explain the others. */
function breakOf(step: Interval, { ended, over }: Run): string | undefined {
  const { begin, seconds, wanted, sent, accepted, failed, late, receipt } = step;
  const isCut = ended !== undefined && sent < wanted;
  if (isCut && failed === 0) return undefined;
  if (late > sent * MAX_LATE_SHARE_OF_STEP) return 'sent late: this machine is the limit';
  if (sent < wanted && !isCut) return 'not all sent';
  if (failed > 0) return `${percent(failed / sent)} not 200`;
  const open = sent - accepted - failed;
  if (open > sent * MAX_SLOW_SHARE && (begin + seconds) * 1_000 + MAX_P99 < over) {
    return `${percent(open / sent)} without an answer`;
  }
  const slowest = receipt.percentile(99);
  return slowest > MAX_P99 ? `p99 above ${MAX_P99.toLocaleString('en')} ms` : undefined;
}

/** `0.02 %`, `12 %`, `99.9 %`. Only 1 is `100 %`. */
export function percent(share: number): string {
  const isNearlyAll = share > 0.99 && share < 1;
  const shown = isNearlyAll ? Math.floor(share * 10_000) / 100 : Number((share * 100).toPrecision(2));
  return `${share === 1 ? 100 : shown} %`;
}
