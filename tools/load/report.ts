import type { SettledOutcome } from '../../lambda/archive/record.ts';
import { outcomeText } from '../stage/history/state-text.ts';
import type { Column } from '../terminal/block.ts';
import { lines, table } from '../terminal/layout.ts';
import type { LoadEffects } from './effects.ts';
import { LATE, type LatencyHistogram, type LoadPart } from './measurements.ts';
import { type LoadRun, MEANINGS } from './run.ts';

/** p99 limit of the answers in a step of a ramp, in milliseconds. A step above it counts as broken. */
const MAX_P99 = 1_000;

/** Share of deliveries that may be sent late. With more, the figures show the sender and not the receiver. */
const MAX_LATE_SHARE = 0.01;

/** The result of a run. `--json` prints it. */
export type LoadReport = ReturnType<typeof makeReport>;

/** @param effects how the deliveries ended, or why that is unknown */
export function makeReport(run: LoadRun, effects: LoadEffects | { readonly why: string }) {
  const { plan, url, measurements, begin, ended } = run;
  const { total, parts, endings } = measurements;
  const isLate = total.late > total.sent * MAX_LATE_SHARE;
  const hasEffects =
    'why' in effects || (effects.missing === 0 && effects.outcomes.DeadLettered === undefined);
  return {
    url: url.href,
    begun: new Date(begin).toISOString(),
    plan,
    total,
    /** Numbers of deliveries by status, or by the kind of error if there was no answer. */
    endings: Object.fromEntries(endings),
    effects,
    /** Why the figures cannot be trusted. */
    doubt: isLate
      ? `${percent(total.late / total.sent)} of the deliveries were sent more than ${LATE} ms late. Lower --rate, stop other programs, or split the rate among several machines.`
      : undefined,
    parts: parts.map((part) => ({ ...part, broken: breakOf(part) })),
    ended,
    /** Whether all deliveries were sent on time, answered 200 and processed, as far as that is known. */
    succeeded: ended === undefined && !isLate && total.accepted === total.wanted && hasEffects,
  };
}

/** Why a step counts as broken. A fault of the sender comes first, because it would explain the others. */
function breakOf({ sent, failed, late, receipt }: LoadPart): string | undefined {
  // A higher share than for the run, because one step has few deliveries.
  if (late > sent * 5 * MAX_LATE_SHARE) return 'sent late: this machine is the limit';
  if (failed > 0) return `${percent(failed / sent)} not 200`;
  return receipt.toJSON().p99 > MAX_P99 ? `p99 above ${count(MAX_P99)} ms` : undefined;
}

export function describeReport(report: LoadReport, width: number): string[] {
  const { url, plan, total, endings, parts, doubt, ended } = report;
  const { wanted, sent, late } = total;
  const answers = Object.entries(endings).map(([ending, of]) => {
    return [ending, count(of), percent(of / sent), MEANINGS[ending] ?? ''];
  });
  const sections = [
    [
      `Load on ${url}, run ${plan.run}`,
      `Sent ${count(sent)} of ${count(wanted)} deliveries, ${count(late)} of them more than ${LATE} ms late`,
    ],
    table([{ heading: 'ANSWER' }, right('COUNT'), right('SHARE'), { heading: '' }], answers, width),
    describeTimes(report, width),
    lines(describeEffects(report), width),
    plan.ramp ? lines(describeRamp(parts), width) : [],
    doubt === undefined ? [] : lines(`Do not trust these figures: ${doubt}`, width),
    ended === undefined ? [] : lines(`It ended early: ${ended}`, width),
  ];
  return sections.filter(({ length }) => length > 0).flatMap((section) => [...section, '']);
}

function describeTimes({ plan, total, parts, effects }: LoadReport, width: number): string[] {
  const row = (name: string, histogram: LatencyHistogram, broken = '') => {
    const { count: of, ...times } = histogram.toJSON();
    return [name, count(of), ...Object.values(times).map(milliseconds), broken];
  };
  const rows = [row('receipt: from the planned sending to the answer', total.receipt)];
  if (!('why' in effects)) rows.push(row('effect: from the receipt to the effect', total.effect));
  const steps = plan.ramp ? parts.filter(({ sent }) => sent > 0) : [];
  rows.push(...steps.map((step) => row(`receipt at ${rateOf(step)}`, step.receipt, step.broken)));
  const headings = ['COUNT', 'P50', 'P90', 'P99', 'P99.9', 'MAX'];
  return table([{ heading: 'MILLISECONDS' }, ...headings.map(right), { heading: '' }], rows, width);
}

/** Says at which rate the ramp breaks. A step in which the run ended early does not count. */
function describeRamp(steps: LoadReport['parts']): string {
  const first = steps.find(({ broken }) => broken !== undefined);
  const below = first === undefined ? steps : steps.slice(0, steps.indexOf(first));
  const last = below.findLast(({ accepted, wanted }) => accepted === wanted);
  const breaks = first === undefined ? '' : `It breaks at ${rateOf(first)}: ${first.broken}. `;
  return `${breaks}${last === undefined ? 'No step stays within the limits.' : `The last step within the limits is ${rateOf(last)}.`}`;
}

function describeEffects({ total, effects }: LoadReport): string {
  if ('why' in effects) return `Effects are unknown: ${effects.why}`;
  const { missing, unread, unanswered, outcomes, repeated } = effects;
  const open = unread === undefined ? 'are missing: see npx hookctl dlq list' : `were not read: ${unread}`;
  return [
    [total.accepted - missing, `of ${count(total.accepted)} that were answered 200 are settled`] as const,
    ...Object.entries(outcomes).map(([ending, of]) => [of, outcomeText(ending as SettledOutcome)] as const),
    ...(missing > 0 ? [[missing, open] as const] : []),
    ...(unanswered > 0 ? [[unanswered, 'that were not answered 200 were settled, too'] as const] : []),
    ...(repeated > 0 ? [[repeated, 'arrived a second time'] as const] : []),
  ]
    .map(([of, what]) => `${count(of)} ${what}.`)
    .join(' ');
}

const rateOf = ({ wanted, seconds }: LoadPart) => `${count(wanted / seconds)} a second`;

const right = (heading: string): Column => ({ heading, align: 'right' });

const count = (value: number) => value.toLocaleString('en');

/** Rounded to three digits, because an HDR histogram is not more precise. */
const milliseconds = (value: number) => Number(value.toPrecision(3)).toLocaleString('en');

/** `0.02 %`, `12.5 %`, `99.9 %`. Only 1 is `100 %`. */
const percent = (share: number) =>
  `${share < 0.01 ? Number((share * 100).toPrecision(2)) : Math.floor(share * 1_000) / 10} %`;
