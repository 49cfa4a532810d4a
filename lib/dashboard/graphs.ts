import { Duration } from 'aws-cdk-lib';
import {
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { catalogue } from '../../lambda/events/catalogue.ts';
import { type MetricName, rejectionReasons } from '../../lambda/metric-names.ts';
import { countedMetrics, type MetricSource } from '../alarms/log-metrics.ts';
import type { WebhookApi } from '../api/webhook-api.ts';
import type { EventArchive } from '../archive/event-archive.ts';
import type { EventPipeline } from '../pipeline/event-pipeline.ts';
import type { ProtectedQueue } from '../pipeline/protected-storage.ts';
import type { Receiver } from '../pipeline/receiver.ts';

export interface DashboardSources {
  readonly api: WebhookApi;
  readonly receiver: Receiver;
  readonly pipelines: readonly EventPipeline[];
  readonly archive: EventArchive | undefined;
  readonly quarantine: ProtectedQueue;
  readonly unrouted: ProtectedQueue;
}

/** Labels of graphs, by the name of the metric. */
type Labels<Name extends string> = Readonly<Partial<Record<Name, string>>>;

const period = Duration.minutes(1);

/** Metrics of each minute, in the order of their labels. */
const metricsOf = <Name extends string>(
  source: MetricSource<Name>,
  statistic: string,
  labels: Labels<Name>,
) =>
  (Object.entries(labels) as [Name, string][]).map(([name, label]) =>
    source.metric(name, { period, statistic, label }),
  );

const sums = <Name extends string>(source: MetricSource<Name>, labels: Labels<Name>) =>
  metricsOf(source, 'Sum', labels);

const maxima = (source: MetricSource, labels: Labels<string>) => metricsOf(source, 'Maximum', labels);

const percentiles = <Name extends string>(source: MetricSource<Name>, name: Name, prefix = '') =>
  ['p50', 'p99'].map((statistic) =>
    source.metric(name, { period, statistic, label: `${prefix}${statistic}` }),
  );

interface Graph {
  readonly title: string;
  readonly left: readonly IMetric[];
  /** Unit of the left axis. */
  readonly unit: string;
  /** Whether the values of the left axis are stacked. @default false */
  readonly stacked?: boolean;
  /** @default no right axis */
  readonly right?: { readonly metrics: readonly IMetric[]; readonly unit: string };
}

/** Grid rows of a graph: a title, a curve, and a legend of two lines. */
const GRAPH_HEIGHT = 6;

const axis = (label: string) => ({ min: 0, label, showUnits: false });

function row(...graphs: readonly Graph[]): IWidget[] {
  return graphs.map(
    ({ title, left, unit, stacked = false, right }) =>
      new GraphWidget({
        title,
        // A row has 24 columns.
        width: 24 / graphs.length,
        height: GRAPH_HEIGHT,
        left: [...left],
        leftYAxis: axis(unit),
        stacked,
        ...(right && {
          right: [...right.metrics],
          rightYAxis: axis(right.unit),
        }),
      }),
  );
}

/** A row with a heading, and with lines below it, in Markdown. */
export function textRow(heading: string, ...lines: readonly string[]): IWidget[] {
  const markdown = [heading, ...lines].join('\n\n');
  return [new TextWidget({ markdown, width: 24, height: 1 + lines.length })];
}

/** Graphs that answer "Are we accepting?": from the partner's requests to the receiver's outcomes. */
export function accepting({ api, receiver, pipelines }: DashboardSources): IWidget[][] {
  const { metrics } = api.gateway;
  const { function: own } = receiver;
  const counted = countedMetrics(api);
  return [
    row(
      {
        title: 'Requests and failures',
        left: sums(metrics, { Count: 'Requests', '4xx': '4xx', '5xx': '5xx' }),
        unit: 'requests a minute',
      },
      {
        title: 'Answered by API Gateway itself',
        left: sums(counted, {
          Throttled: 'Above the throttle',
          Unavailable: 'No answer from the receiver',
          TooLarge: 'Too large',
          WrongAddress: 'Posted to a wrong address',
        }),
        unit: 'requests a minute',
      },
      {
        title: 'Queued, by event',
        left: pipelines.flatMap(({ event, queue }) => sums(queue, { NumberOfMessagesSent: event })),
        unit: 'events a minute',
        stacked: true,
      },
      {
        title: 'Rejected, failed or set aside',
        left: [
          ...rejectionReasons.flatMap((reason) =>
            sums(receiver.reported({ reason }), { Rejected: `401: ${reason.replace('-', ' ')}` }),
          ),
          ...sums(receiver.reported(), {
            Unusable: '400: signed but unusable, kept in quarantine',
            Parked: '200: unknown event, on the unrouted queue',
            Ignored: '200: a kind that the stage ignores, not stored',
            ServerError: '500: not stored, the partner repeats it',
            SecretUnreadable: 'Secret could not be read',
          }),
        ],
        unit: 'a minute',
      },
    ),
    row(
      {
        title: 'How long the partner waits for an answer',
        left: [...percentiles(metrics, 'Latency', 'API '), ...percentiles(own, 'Duration', 'Receiver ')],
        unit: 'milliseconds',
      },
      {
        title: 'Receiver: errors and throttles',
        left: sums(own, {
          Errors: 'Errors: crashed or timed out',
          Throttles: 'Throttles: rejected by Lambda',
        }),
        unit: 'invocations a minute',
      },
      {
        title: 'Receiver: concurrent executions',
        left: maxima(own, { ConcurrentExecutions: 'Executions' }),
        unit: 'executions',
      },
    ),
    row({
      title: "Delivery lag: from the partner's timestamp to the receipt",
      left: percentiles(counted, 'DeliveryLag'),
      unit: 'milliseconds (1 hour: 3,600,000)',
    }),
  ];
}

/** Graphs that answer "Are we keeping up?": processing times, then a row for each event, beginning with its queue. */
export function keepingUp({ api, pipelines }: DashboardSources): IWidget[][] {
  return [
    row({
      title: 'Effect latency: from the receipt to the effect',
      left: percentiles(countedMetrics(api), 'EffectLatency'),
      unit: 'milliseconds',
    }),
    ...pipelines.flatMap((pipeline) => [
      textRow(`### ${pipeline.event}: ${catalogue[pipeline.event].processing}`),
      eventRow(pipeline),
    ]),
  ];
}

function eventRow({ event, queue, consumer }: EventPipeline): IWidget[] {
  return row(
    {
      title: `${event}: waiting`,
      left: maxima(queue, { ApproximateNumberOfMessagesVisible: 'Messages waiting' }),
      unit: 'messages',
      right: {
        metrics: maxima(queue, { ApproximateAgeOfOldestMessage: 'Age of the oldest' }),
        unit: 'seconds',
      },
    },
    {
      title: `${event}: consumer`,
      left: percentiles(consumer.function, 'Duration', 'Duration '),
      unit: 'milliseconds',
      right: {
        metrics: sums(consumer.function, { Errors: 'Errors', Throttles: 'Throttles' }),
        unit: 'a minute',
      },
    },
    {
      title: `${event}: outcomes`,
      left: [
        ...sums(queue, { NumberOfMessagesDeleted: 'Settled, with any outcome' }),
        ...sums(consumer.reported({ event }), {
          Stale: 'Stale: newer data stored',
          Duplicate: 'Duplicate: already processed',
          Replayed: 'Replayed from the archive',
          Failed: 'Failed: tried again later',
        }),
      ],
      unit: 'events a minute',
    },
  );
}

/** Graphs that answer "What is stuck?": the queues that only a person empties, and why messages are not processed. */
export function stuck(sources: DashboardSources): IWidget[][] {
  const { pipelines, archive, quarantine, unrouted } = sources;
  /** The sum of all consumers' metrics. */
  const ofConsumers = (name: MetricName, label: string) => {
    const usingMetrics = Object.fromEntries(
      pipelines.flatMap(({ event, consumer }, index) =>
        // An id begins with a small letter.
        sums(consumer.reported({ event }), { [name]: label }).map((metric) => [`m${name}${index}`, metric]),
      ),
    );
    // A metric without a value in a period counts as 0.
    const expression = `SUM([${Object.keys(usingMetrics).join(',')}])`;
    return new MathExpression({ expression, usingMetrics, label, period });
  };
  return [
    row(
      {
        title: 'Dead letters, by event',
        left: pipelines.flatMap(({ event, deadLetterQueue }) =>
          maxima(deadLetterQueue, { ApproximateNumberOfMessagesVisible: event }),
        ),
        unit: 'messages',
        stacked: true,
      },
      {
        title: 'Set aside by the receiver',
        left: [
          ...maxima(quarantine, { ApproximateNumberOfMessagesVisible: 'Quarantine' }),
          ...maxima(unrouted, { ApproximateNumberOfMessagesVisible: 'Unrouted' }),
        ],
        unit: 'messages',
      },
      {
        title: 'Being processed, or waiting for the next attempt',
        left: pipelines.flatMap(({ event, queue }) =>
          maxima(queue, { ApproximateNumberOfMessagesNotVisible: event }),
        ),
        unit: 'messages',
        stacked: true,
      },
    ),
    row(
      {
        title: 'Dead-lettered by the consumer, by event',
        left: pipelines.flatMap(({ event, consumer }) =>
          sums(consumer.reported({ event }), { DeadLettered: event }),
        ),
        unit: 'events a minute',
        stacked: true,
      },
      {
        title: 'Consumers that could not complete a message',
        left: [
          ofConsumers('DeadLetterNotSent', 'Not moved to the dead-letter queue'),
          ofConsumers('RetryNotDelayed', 'Retry not delayed'),
          ofConsumers('NotArchived', 'Dead letter not archived'),
          ofConsumers('PossiblyRepeated', 'Possibly notified twice'),
          ofConsumers('FieldLeftOut', 'Too long field left out'),
          ofConsumers('ClockAhead', 'Timestamp too far ahead'),
        ],
        unit: 'events a minute',
      },
      ...(archive
        ? [
            {
              title: 'Age of the oldest record not yet in the archive',
              left: pipelines.flatMap(({ event }) =>
                maxima(archive.streamMetrics(event), { 'DeliveryToS3.DataFreshness': event }),
              ),
              unit: 'seconds',
            },
          ]
        : []),
    ),
  ];
}
