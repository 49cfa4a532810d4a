import { DATA_KEY_REUSE_SECONDS, MAX_BUFFER_SECONDS } from '../../../lambda/limits.ts';
import { PRICES_DATE, prices } from '../../../lib/prices.ts';
import { archiveCosts } from './archive-cost.ts';
import { type Costs, costs } from './cost-model.ts';
import { type Deployment, LAMBDA_SAMPLING } from './deployment.ts';
import { dollars, type LineItem, paid, totalDollars } from './line-item.ts';
import type { LogBytes } from './log-bytes.ts';
import { limits, load, narrowLimits } from './scale-model.ts';
import type { Workload } from './workload.ts';

/** Deliveries a second. */
const RATES = [100, 1_000, 10_000, 100_000];

/** Values of `archive.bufferSeconds` that are compared: the minimum, one in between, and the maximum. */
const BUFFER_SECONDS = [60, 300, MAX_BUFFER_SECONDS];

interface Variation {
  readonly text: string;
  readonly workload?: (workload: Workload) => Partial<Workload>;
  readonly deployment?: (deployment: Deployment) => Partial<Deployment>;
}

const VARIATIONS: readonly Variation[] = [
  {
    text: 'the receiver takes twice as long',
    workload: ({ receiverMilliseconds }) => ({ receiverMilliseconds: 2 * receiverMilliseconds }),
  },
  {
    text: 'consumers take four times as long',
    workload: ({ consumerMilliseconds }) => ({ consumerMilliseconds: 4 * consumerMilliseconds }),
  },
  {
    text: 'functions have twice the memory, at the same speed',
    workload: () => ({ memoryMegabytes: 1024 }),
  },
  { text: 'batches hold 10 messages', workload: () => ({ batch: 10 }) },
  { text: 'payloads have 16 KB', workload: () => ({ payloadBytes: 16 * 1024 }) },
  { text: '1 % of the deliveries are oversize', workload: () => ({ oversizeShare: 0.01 }) },
  { text: 'each review notification goes to one e-mail address', workload: () => ({ reviewEmails: 1 }) },
  {
    text: 'each invalidation of a shop invalidates a CloudFront path',
    workload: () => ({ cloudFront: true }),
  },
  {
    text: 'your own key encrypts everything (`encryption`)',
    // The alarm topic then has its own key.
    deployment: ({ keys }) => ({ queueDataKeySeconds: DATA_KEY_REUSE_SECONDS, keys: keys + 1 }),
  },
  {
    text: 'the archive is off (`archive.days: 0`)',
    // The archive's streams share one alarm.
    deployment: ({ archive, alarmMetrics }) =>
      archive ? { archive: undefined, alarmMetrics: alarmMetrics - 1 } : {},
  },
  {
    text: 'X-Ray traces deliveries (`tracing`)',
    deployment: () => ({ tracing: LAMBDA_SAMPLING }),
  },
  {
    text: 'Lambda also logs successful invocations (`platformLogs`)',
    deployment: () => ({ platformLogs: true }),
  },
  {
    text: 'one event has its own lag alarm (`events.<event>.lagAfter`)',
    deployment: ({ customMetrics, alarmMetrics }) => ({
      customMetrics: customMetrics + 1,
      alarmMetrics: alarmMetrics + 1,
    }),
  },
  { text: 'Athena runs 100 queries about a week', workload: () => ({ questions: 100 }) },
  { text: 'the gateway is a REST API (`gateway: rest`)', deployment: () => ({ gateway: 'rest' }) },
  {
    text: 'the gateway is a REST API with AWS WAF: one list and the rate rule (`waf`)',
    // Each of the two has an alarm.
    deployment: ({ alarmMetrics }) => ({ gateway: 'rest', firewallRules: 2, alarmMetrics: alarmMetrics + 2 }),
  },
];

export type ReportBlock = string | ReportTable;

interface ReportTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function costReport(workload: Workload, deployment: Deployment, logs: LogBytes): ReportBlock[] {
  const month = costs(workload, deployment, logs);
  return [
    `US dollars in us-east-1, list prices of ${PRICES_DATE} without free tiers, for ${count(workload.deliveries)} deliveries in a month:`,
    lineItems(month.deliveries),
    'Fixed costs of a month:',
    lineItems(month.standing),
    `Total: $${total(month).toFixed(2)} a month. Changes to the total:`,
    table(
      ['If', '$'],
      VARIATIONS.map(({ text, ...change }) => {
        const varied = costs(
          { ...workload, ...change.workload?.(workload) },
          { ...deployment, ...change.deployment?.(deployment) },
          logs,
        );
        return [text, signed(total(varied) - total(month))];
      }),
    ),
    ...archiveReport(workload, deployment),
  ];
}

/** The archive's part of a month's dollars, by the delay until a record can be read. */
function archiveReport(workload: Workload, deployment: Deployment): ReportBlock[] {
  const { archive } = deployment;
  if (archive === undefined) return [];
  const amounts = [workload.deliveries, 10 * workload.deliveries];
  return [
    'The archive’s share, without its alarm:',
    table(
      ['`archive.bufferSeconds`', ...amounts.map((each) => `$ for ${count(each)} deliveries`)],
      BUFFER_SECONDS.map((bufferSeconds) => [
        `${bufferSeconds} s`,
        ...amounts.map((deliveries) =>
          totalDollars(
            paid(
              archiveCosts(
                { ...workload, deliveries },
                { ...deployment, archive: { ...archive, bufferSeconds } },
              ),
            ),
          ).toFixed(2),
        ),
      ]),
    ),
  ];
}

/** Saturated resources, by rate. */
export function scaleReport(
  workload: Workload,
  deployment: Deployment,
  accountConcurrency: number,
): ReportBlock[] {
  const loads = RATES.map((rate) => load(rate, workload, deployment, accountConcurrency));
  return [
    `Receiver ${workload.receiverMilliseconds} ms, consumer ${workload.consumerMilliseconds} ms a batch (both assumed), account concurrency ${count(accountConcurrency)}, other quotas at the defaults of us-east-1:`,
    table(
      [
        'Deliveries a second',
        'Receivers busy',
        'Consumers busy',
        'Limits reached',
        'In-flight quota full after an outage of',
      ],
      loads.map(({ rate, receiversBusy, consumersBusy, full, nearest, secondsToInFlight }) => [
        count(rate),
        count(receiversBusy),
        count(consumersBusy),
        full.length === 0
          ? `none; ${percent(rate / nearest.deliveries)} of the lowest`
          : `the lowest ${full.length}`,
        duration(secondsToInFlight),
      ]),
    ),
    'The limits, lowest first. A higher limit matters only after the lower ones are raised.',
    table(
      ['Limit', 'Deliveries a second', 'Above it', 'How to raise it'],
      limits(workload, deployment, accountConcurrency).map(({ name, deliveries, consequence, raise }) => [
        name,
        count(Math.floor(deliveries)),
        consequence,
        raise,
      ]),
    ),
    'Lower limits of a single shop or recipient:',
    table(
      ['Limit', 'Deliveries a second', 'Above it'],
      narrowLimits(workload).map(({ name, deliveries, consequence }) => [
        name,
        count(Math.floor(deliveries)),
        consequence,
      ]),
    ),
  ];
}

function lineItems(items: readonly LineItem[]): ReportTable {
  return table(
    ['Service', 'Line item', 'Quantity', 'Price, $', '$'],
    [
      ...items.map((item) => [
        item.service,
        item.item,
        significant(item.quantity),
        price(prices[item.price]),
        dollars(item).toFixed(2),
      ]),
      ['Sum', '', '', '', totalDollars(items).toFixed(2)],
    ],
  );
}

const total = ({ deliveries, standing }: Costs) => totalDollars([...deliveries, ...standing]);

const table = (head: ReportTable['head'], rows: ReportTable['rows']): ReportTable => ({ head, rows });

/** Tiny prices are shown for a million. */
function price(dollarsForOne: number): string {
  return dollarsForOne < 0.001 ? `${significant(dollarsForOne * 1e6)} a million` : significant(dollarsForOne);
}

const count = (value: number) => value.toLocaleString('en-US');

/** Whole numbers from 100 on, three significant digits below. */
const significant = (value: number) =>
  value >= 100 ? count(Math.round(value)) : String(Number(value.toPrecision(3)));

const duration = (seconds: number) =>
  seconds < 60 ? `${significant(seconds)} s` : `${significant(seconds / 60)} min`;

const percent = (share: number) => `${significant(share * 100)} %`;

const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
