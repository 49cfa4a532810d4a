import { DATA_KEY_REUSE_SECONDS } from '../../../lib/pipeline/queue-retention.ts';
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
const BUFFER_SECONDS = [60, 300, 900];

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
    text: 'functions have twice the memory and are no faster',
    workload: () => ({ memoryMegabytes: 1024 }),
  },
  { text: 'batches hold 10 messages', workload: () => ({ batch: 10 }) },
  { text: 'payloads have 16 KB', workload: () => ({ payloadBytes: 16 * 1024 }) },
  { text: '1 % of the deliveries is oversize', workload: () => ({ oversizeShare: 0.01 }) },
  { text: 'each review notification goes to one e-mail address', workload: () => ({ reviewEmails: 1 }) },
  {
    text: 'each invalidation of a shop invalidates a CloudFront path',
    workload: () => ({ cloudFront: true }),
  },
  {
    text: 'everything is encrypted under a key of one’s own (`encryption`)',
    // The alarm topic then has its own key.
    deployment: ({ keys }) => ({ queueDataKeySeconds: DATA_KEY_REUSE_SECONDS, keys: keys + 1 }),
  },
  {
    text: 'no archive is kept (`archive.days`)',
    // The archive's streams share one alarm.
    deployment: ({ archive, alarmMetrics }) =>
      archive ? { archive: undefined, alarmMetrics: alarmMetrics - 1 } : {},
  },
  {
    text: 'X-Ray follows deliveries (`tracing`)',
    deployment: () => ({ tracing: LAMBDA_SAMPLING }),
  },
  {
    text: 'Lambda logs invocations that do not fail, too (`platformLogs`)',
    deployment: () => ({ platformLogs: true }),
  },
  {
    text: 'the lag of an event is watched by itself (`events.<event>.lagAfter`)',
    deployment: ({ customMetrics, alarmMetrics }) => ({
      customMetrics: customMetrics + 1,
      alarmMetrics: alarmMetrics + 1,
    }),
  },
  { text: 'Athena is asked a hundred times about a week', workload: () => ({ questions: 100 }) },
  { text: 'a REST API stands before the receiver (`gateway`)', deployment: () => ({ gateway: 'rest' }) },
  {
    text: 'and AWS WAF before that, with one list and the rate rule (`waf`)',
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
    'And each month without any:',
    lineItems(month.standing),
    `Together $${total(month).toFixed(2)} a month. It changes by this much if`,
    table(
      ['', '$'],
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
    'The archive’s part of it, without its alarm:',
    table(
      ['Read after (`archive.bufferSeconds`)', ...amounts.map((each) => `$ for ${count(each)} deliveries`)],
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
    `Receiver ${workload.receiverMilliseconds} ms, consumer ${workload.consumerMilliseconds} ms a batch (both assumed), account concurrency ${count(accountConcurrency)}, other quotas as they are by default in us-east-1:`,
    table(
      [
        'Deliveries a second',
        'Receivers busy',
        'Consumers busy',
        'Saturated, the first one first',
        'What then happens',
        'An outage fills the in-flight quota after',
      ],
      loads.map(({ rate, receiversBusy, consumersBusy, full, nearest, secondsToInFlight }) => [
        count(rate),
        count(receiversBusy),
        count(consumersBusy),
        full.length === 0
          ? `nothing; nearest: ${nearest.name}, ${percent(rate / nearest.deliveries)}`
          : full.map(({ name }) => name).join('; '),
        full.length === 0 ? '–' : [...new Set(full.map(({ consequence }) => consequence))].join('; '),
        duration(secondsToInFlight),
      ]),
    ),
    'Each limit, and what moves it. One behind a narrower one shows only once that one has been moved.',
    table(
      ['Limit', 'Full at deliveries a second', 'What moves it'],
      limits(workload, deployment, accountConcurrency).map(({ name, deliveries, raise }) => [
        name,
        count(Math.floor(deliveries)),
        raise,
      ]),
    ),
    'Narrower than the stack, in deliveries a second (the last two: of the one shop):',
    table(
      ['Limit', 'Full at', 'What then happens'],
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
