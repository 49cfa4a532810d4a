import type { SettledOutcome } from '../../../lambda/archive/record.ts';
import { facts, lines, table } from '../../cli/terminal/layout.ts';
import { duration } from '../../cli/terminal/text.ts';
import { outcomeText } from '../../stage/history/state-text.ts';
import { NO_ANSWER_AFTER, STALE_WITHIN } from './generator.ts';
import type { Percentiles } from './measurements.ts';
import { type LoadReport, MAX_P99, percent } from './report.ts';
import { LOCAL_ERRORS } from './run.ts';

/** Explanations for endings whose code alone is not clear. */
const MEANINGS: Readonly<Record<string, string>> = {
  200: 'queued or parked',
  301: 'leads to another address',
  302: 'leads to another address',
  307: 'leads to another address',
  308: 'leads to another address',
  400: 'not a usable event',
  401: 'wrong secret',
  403: 'rejected, for example by a firewall',
  404: 'wrong path',
  413: 'too large',
  429: 'throttled: above the stage’s apiThrottle, or the account’s rate',
  500: 'could not be stored; with a REST API also throttled',
  503: 'the receiver is throttled or timed out',
  'no answer': `within ${NO_ANSWER_AFTER / 1_000} s`,
  'under way': 'when it ended',
  ECONNREFUSED: 'nothing listens',
  ECONNRESET: 'the connection was closed',
  ENOTFOUND: 'no such name',
  ETIMEDOUT: 'no connection in time',
  ...LOCAL_ERRORS,
};

export function describeReport(report: LoadReport, width: number): string[] {
  const { plan, deliveries, rate, sender, steps, ended } = report;
  const sections = [
    [
      `Load on ${report.url}, run ${report.run}`,
      '',
      ...facts(
        [
          [
            'plan',
            `${plan.ramp ? 'up to ' : ''}${count(plan.rate)} a second for ${duration(plan.seconds * 1_000)}`,
          ],
          ['wanted', `${count(deliveries.wanted)} deliveries, ${rateText(rate.wanted)}`],
          ['sent', `${count(deliveries.sent)}, ${rateText(rate.sent)}`],
          ...(deliveries.sentAgain === 0
            ? []
            : [
                [
                  'sent again',
                  `${count(deliveries.sentAgain)}, once each: the connection was reset within ${STALE_WITHIN} ms of the write`,
                ] as const,
              ]),
          ['answered', `${count(deliveries.answered)}, ${rateText(rate.answered)} until the last answer`],
          ['sender', describeSender(report)],
        ],
        width,
      ),
    ],
    describeEndings(report, width),
    describeTimes(report, width),
    describeEffect(report, width),
    steps.length === 0 ? [] : describeSteps(report, width),
    sender.doubts.length === 0 ? [] : lines(`Do not trust these figures: ${sender.doubts.join(' ')}`, width),
    ended === undefined ? [] : lines(`It ended early: ${ended}`, width),
  ];
  const [first = [], ...below] = sections.filter(({ length }) => length > 0);
  return [...first, ...below.flatMap((section) => ['', ...section])];
}

function describeSender({ sender: { sendLag, loopDelayP99 } }: LoadReport): string {
  return `sent ${milliseconds(sendLag.p99)} ms late at p99, its event loop ${milliseconds(loopDelayP99)} ms`;
}

function describeEndings({ endings, deliveries }: LoadReport, width: number): string[] {
  return table(
    [
      { heading: 'ANSWER' },
      { heading: 'COUNT', align: 'right' },
      { heading: 'SHARE', align: 'right' },
      { heading: '' },
    ],
    endings.map(({ came, count: times }) => [
      String(came),
      count(times),
      percent(times / deliveries.sent),
      MEANINGS[came] ?? '',
    ]),
    width,
  );
}

function describeTimes({ receipt, effect }: LoadReport, width: number): string[] {
  const row = (name: string, { count: of, p50, p90, p99, p999, max }: Percentiles) => [
    name,
    count(of),
    ...[p50, p90, p99, p999, max].map(milliseconds),
  ];
  return table(
    [
      { heading: 'MILLISECONDS' },
      ...['COUNT', 'P50', 'P90', 'P99', 'P99.9', 'MAX'].map((heading) => ({
        heading,
        align: 'right' as const,
      })),
    ],
    [
      row('receipt: from the planned sending to the answer', receipt),
      ...('why' in effect ? [] : [row('effect: from the receipt to the effect', effect.latency)]),
    ],
    width,
  );
}

function describeEffect({ effect }: LoadReport, width: number): string[] {
  if ('why' in effect) return lines(`Effects are unknown: ${effect.why}`, width);
  const { accepted, missing, unread, unanswered, outcomes, repeated } = effect;
  const came = Object.entries(outcomes)
    .sort(([, one], [, other]) => other - one)
    .map(([outcome, of]) => `${count(of)} ${outcomeText(outcome as SettledOutcome)}`);
  const more = [
    unread === undefined ? [] : `${count(unread.count)} were not read: ${unread.why.replace(/\.$/, '')}.`,
    unanswered === 0 ? [] : `${count(unanswered)} that were not answered 200 were settled, too.`,
    repeated === 0 ? [] : `${count(repeated)} arrived a second time.`,
  ].flat();
  const settled = `${count(accepted - missing - (unread?.count ?? 0))} of ${count(accepted)} that were answered 200 are settled`;
  const open =
    missing === 0 ? '.' : `, ${count(missing)} are missing: npm run dlq -- list shows waiting messages.`;
  return lines(
    [`${settled}${came.length === 0 ? '' : ` (${came.join('; ')})`}${open}`, ...more].join(' '),
    width,
  );
}

function describeSteps({ steps }: LoadReport, width: number): string[] {
  const shown = steps.filter(({ sent }) => sent > 0);
  const first = shown.find(({ broken }) => broken !== undefined);
  // If a run ended early, there may be neither a broken step nor an answer to all deliveries.
  const last = shown
    .filter(({ rate, wanted, accepted }) => accepted === wanted && (first === undefined || rate < first.rate))
    .at(-1);
  return [
    ...table(
      [
        ...['A SECOND', 'SENT', '200', 'P50', 'P99', 'MAX'].map((heading) => ({
          heading,
          align: 'right' as const,
        })),
        { heading: '' },
      ],
      shown.map(({ rate, sent, accepted, receipt, broken = '' }) => [
        count(rate),
        count(sent),
        percent(accepted / sent),
        ...[receipt.p50, receipt.p99, receipt.max].map((value) =>
          receipt.count === 0 ? '–' : milliseconds(value),
        ),
        broken,
      ]),
      width,
    ),
    '',
    ...lines(
      first === undefined
        ? last === undefined
          ? 'It ended during the first step: the rate that holds is unknown.'
          : `It holds at ${count(last.rate)} a second: all 200, and p99 within ${count(MAX_P99)} ms.`
        : `It breaks at ${count(first.rate)} a second: ${first.broken}. ${last === undefined ? 'No step holds: start with a lower rate.' : `The last step that holds is ${count(last.rate)} a second.`}`,
      width,
    ),
  ];
}

const count = (value: number) => value.toLocaleString('en');

const rateText = (rate: number) => `${count(Math.round(rate * 10) / 10)} a second`;

/** Three digits: an HDR histogram has no more. */
const milliseconds = (value: number) =>
  (value >= 100 ? Math.round(value) : Number(value.toPrecision(3))).toLocaleString('en');
