import { Duration } from 'aws-cdk-lib';
import {
  Color,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { catalogue } from '../../lambda/events/catalogue.ts';
import { type MetricName, rejectionReasons } from '../../lambda/metric-names.ts';
import type { Alarms } from '../alarms/alarms.ts';
import { logMetrics } from '../alarms/log-metrics.ts';
import type { WebhookApi } from '../api/webhook-api.ts';
import type { EventArchive } from '../archive/event-archive.ts';
import type { Effects } from '../pipeline/effects.ts';
import type { EventPipeline } from '../pipeline/event-pipeline.ts';
import type { ProtectedQueue } from '../pipeline/protected-storage.ts';
import type { Receiver } from '../pipeline/receiver.ts';

export interface DashboardSources {
  readonly api: WebhookApi;
  readonly receiver: Receiver;
  readonly pipelines: readonly EventPipeline[];
  readonly archive: EventArchive | undefined;
  readonly effects: Effects;
  readonly quarantine: ProtectedQueue;
  readonly unrouted: ProtectedQueue;
  readonly alarms: Alarms;
}

const period = Duration.minutes(1);
const sumOfAMinute = { period, statistic: 'Sum' };
const maximum = { period, statistic: 'Maximum' };

interface Graph {
  readonly title: string;
  /** Width in columns; the dashboard has 24. @default an equal share of the row */
  readonly width?: number;
  readonly left: readonly IMetric[];
  /** Unit of the left axis. */
  readonly unit: string;
  /** Thresholds of alarms on the metrics of the left axis. Alarms on sums of another period must not be drawn. */
  readonly alarmsAt?: readonly number[];
  /** Whether the values of the left axis are stacked. @default false */
  readonly stacked?: boolean;
  /** @default no right axis */
  readonly right?: {
    readonly metrics: readonly IMetric[];
    readonly unit: string;
    readonly alarmsAt?: readonly number[];
  };
}

/** Grid rows of a graph: a title, a curve, and a legend of two lines. */
const GRAPH_HEIGHT = 6;

const axis = (label: string) => ({ min: 0, label, showUnits: false });
const alarmLines = (thresholds: readonly number[] = []) =>
  thresholds.map((value) => ({ value, label: 'Alarm', color: Color.RED }));

function row(...graphs: readonly Graph[]): IWidget[] {
  return graphs.map(
    ({ title, width = 24 / graphs.length, left, unit, alarmsAt, stacked = false, right }) =>
      new GraphWidget({
        title,
        width,
        height: GRAPH_HEIGHT,
        left: [...left],
        leftYAxis: axis(unit),
        leftAnnotations: alarmLines(alarmsAt),
        stacked,
        ...(right && {
          right: [...right.metrics],
          rightYAxis: axis(right.unit),
          rightAnnotations: alarmLines(right.alarmsAt),
        }),
      }),
  );
}

/**
 * A row with a heading and an optional line below it.
 * @param text in Markdown
 */
export function heading(text: string, hint?: string): IWidget[] {
  return hint === undefined
    ? [new TextWidget({ markdown: text, width: 24, height: 1 })]
    : [new TextWidget({ markdown: `${text}\n\n${hint}`, width: 24, height: 2 })];
}

/** Graphs that answer "Are we accepting?": from the partner's requests to the receiver's outcomes. */
export function accepting({ api, receiver, pipelines, alarms }: DashboardSources): IWidget[][] {
  const { metrics } = api.gateway;
  const { function: own } = receiver;
  const counted = (name: string, label: string) => logMetrics(api).metric(name, { ...sumOfAMinute, label });
  const ofReceiver = (name: MetricName, label: string, dimensions = {}) =>
    logMetrics(receiver, { service: receiver.service, ...dimensions }).metric(name, {
      ...sumOfAMinute,
      label,
    });

  return [
    row(
      {
        title: 'Requests and failures',
        left: [
          metrics.metric('Count', { ...sumOfAMinute, label: 'Requests' }),
          metrics.metric('4xx', { ...sumOfAMinute, label: '4xx' }),
          metrics.metric('5xx', { ...sumOfAMinute, label: '5xx' }),
        ],
        unit: 'requests a minute',
        alarmsAt: alarms.thresholdsOf('Api/NearThrottle'),
      },
      {
        title: 'Answered by API Gateway itself',
        left: [
          counted('Throttled', 'Above the throttle'),
          counted('Unavailable', 'No answer from the receiver'),
          counted('TooLarge', 'Too large'),
          counted('WrongAddress', 'Posted to a wrong address'),
        ],
        unit: 'requests a minute',
        alarmsAt: alarms.thresholdsOf('Api/Throttled', 'Api/Unavailable', 'Api/TooLarge'),
      },
      {
        title: 'Queued, by event',
        left: pipelines.map(({ event, queue }) =>
          queue.metricNumberOfMessagesSent({ ...sumOfAMinute, label: event }),
        ),
        unit: 'events a minute',
        stacked: true,
      },
      {
        title: 'Rejected, failed or set aside',
        left: [
          ...rejectionReasons.map((reason) =>
            ofReceiver('Rejected', `401: ${reason.replace('-', ' ')}`, { reason }),
          ),
          ofReceiver('Unusable', '400: signed but unusable, kept in quarantine'),
          ofReceiver('Parked', '200: unknown event, on the unrouted queue'),
          ofReceiver('Ignored', '200: a kind that the stage ignores, not stored'),
          ofReceiver('ServerError', '500: not stored, the partner repeats it'),
          ofReceiver('SecretUnreadable', 'Secret could not be read'),
        ],
        unit: 'a minute',
        alarmsAt: alarms.thresholdsOf('Receiver/SecretUnreadable'),
      },
    ),
    row(
      {
        title: 'How long the partner waits for an answer',
        left: [
          metrics.metric('Latency', { period, statistic: 'p50', label: 'API p50' }),
          metrics.metric('Latency', { period, statistic: 'p99', label: 'API p99' }),
          own.metricDuration({ period, statistic: 'p50', label: 'Receiver p50' }),
          own.metricDuration({ period, statistic: 'p99', label: 'Receiver p99' }),
        ],
        unit: 'milliseconds',
        alarmsAt: alarms.thresholdsOf('Api/Slow'),
      },
      {
        title: 'Receiver: errors and throttles',
        left: [
          own.metricErrors({ ...sumOfAMinute, label: 'Errors: crashed or timed out' }),
          own.metricThrottles({ ...sumOfAMinute, label: 'Throttles: rejected by Lambda' }),
        ],
        unit: 'invocations a minute',
        alarmsAt: alarms.thresholdsOf('Receiver/Errors', 'Receiver/Throttles'),
      },
      {
        title: 'Receiver: concurrent executions',
        left: [own.metric('ConcurrentExecutions', { ...maximum, label: 'Executions' })],
        unit: 'executions',
      },
    ),
    row({
      title: "Delivery lag: from the partner's timestamp to the receipt",
      left: ['p50', 'p99'].map((statistic) =>
        logMetrics(api).metric('DeliveryLag', { period, statistic, label: statistic }),
      ),
      unit: 'milliseconds (1 hour: 3,600,000)',
      alarmsAt: alarms.thresholdsOf('Lag'),
    }),
  ];
}

/** Graphs that answer "Are we keeping up?": processing times, then a row for each event, beginning with its queue. */
export function keepingUp({ api, pipelines, alarms }: DashboardSources): IWidget[][] {
  return [
    row({
      title: 'Effect latency: from the receipt to the effect',
      left: ['p50', 'p99'].map((statistic) =>
        logMetrics(api).metric('EffectLatency', { period, statistic, label: statistic }),
      ),
      unit: 'milliseconds',
    }),
    ...pipelines.flatMap((pipeline) => [
      heading(`### ${pipeline.event}: ${catalogue[pipeline.event].processing}`),
      eventRow(pipeline, alarms.thresholdsOf('<Event>/Waiting')),
    ]),
  ];
}

/** Failures and outcomes that an event's consumer reports. */
const reported = ({ event, consumer }: EventPipeline) =>
  logMetrics(consumer, { service: consumer.service, event });

function eventRow(pipeline: EventPipeline, alarmsAt: number[]): IWidget[] {
  const { event, queue, consumer } = pipeline;
  const outcome = (name: MetricName, label: string) =>
    reported(pipeline).metric(name, { ...sumOfAMinute, label });
  return row(
    {
      title: `${event}: waiting`,
      left: [queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'Messages waiting' })],
      unit: 'messages',
      right: {
        metrics: [queue.metricApproximateAgeOfOldestMessage({ ...maximum, label: 'Age of the oldest' })],
        unit: 'seconds',
        alarmsAt,
      },
    },
    {
      title: `${event}: consumer`,
      left: [
        consumer.function.metricDuration({ period, statistic: 'p50', label: 'Duration p50' }),
        consumer.function.metricDuration({ period, statistic: 'p99', label: 'Duration p99' }),
      ],
      unit: 'milliseconds',
      right: {
        metrics: [
          consumer.function.metricErrors({ ...sumOfAMinute, label: 'Errors' }),
          consumer.function.metricThrottles({ ...sumOfAMinute, label: 'Throttles' }),
        ],
        unit: 'a minute',
      },
    },
    {
      title: `${event}: outcomes`,
      left: [
        queue.metricNumberOfMessagesDeleted({ ...sumOfAMinute, label: 'Settled, with any outcome' }),
        outcome('Stale', 'Stale: newer data stored'),
        outcome('Duplicate', 'Duplicate: already processed'),
        outcome('Replayed', 'Replayed from the archive'),
        outcome('Failed', 'Failed: tried again later'),
      ],
      unit: 'events a minute',
    },
  );
}

/** Graphs that answer "What is stuck?": the queues that only a person empties, and why messages are not processed. */
export function stuck(sources: DashboardSources): IWidget[][] {
  const { pipelines, archive, effects, quarantine, unrouted, alarms } = sources;
  /**
   * The sum of all consumers' metrics.
   * @param id prefix of the metrics' ids, unique in the graph
   */
  const ofConsumers = (id: string, name: MetricName, label: string) => {
    const usingMetrics = Object.fromEntries(
      pipelines.map((pipeline, index) => [`${id}${index}`, reported(pipeline).metric(name, sumOfAMinute)]),
    );
    // A metric without a value in a period counts as 0.
    const expression = `SUM([${Object.keys(usingMetrics).join(',')}])`;
    return new MathExpression({ expression, usingMetrics, label, period });
  };
  return [
    row(
      {
        title: 'Dead letters, by event',
        left: pipelines.map(({ event, deadLetterQueue }) =>
          deadLetterQueue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: event }),
        ),
        unit: 'messages',
        alarmsAt: alarms.thresholdsOf('<Event>/DeadLetterQueue/NotEmpty'),
        stacked: true,
      },
      {
        title: 'Set aside by the receiver',
        left: [
          quarantine.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'Quarantine' }),
          unrouted.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'Unrouted' }),
        ],
        unit: 'messages',
        alarmsAt: alarms.thresholdsOf('Quarantine/NotEmpty', 'Unrouted/NotEmpty'),
      },
      {
        title: 'Being processed, or waiting for the next attempt',
        left: pipelines.map(({ event, queue }) =>
          queue.metricApproximateNumberOfMessagesNotVisible({ ...maximum, label: event }),
        ),
        unit: 'messages',
        stacked: true,
      },
    ),
    row(
      {
        title: 'Dead-lettered by the consumer, by event',
        left: pipelines.map((pipeline) =>
          reported(pipeline).metric('DeadLettered', { ...sumOfAMinute, label: pipeline.event }),
        ),
        unit: 'events a minute',
        stacked: true,
      },
      {
        title: 'Consumers that could not complete a message',
        left: [
          ofConsumers('unsent', 'DeadLetterNotSent', 'Not moved to the dead-letter queue'),
          ofConsumers('undelayed', 'RetryNotDelayed', 'Retry not delayed'),
          ofConsumers('unarchived', 'NotArchived', 'Dead letter not archived'),
          ofConsumers('repeated', 'PossiblyRepeated', 'Possibly notified twice'),
          ofConsumers('left', 'FieldLeftOut', 'Too long field left out'),
          ofConsumers('ahead', 'ClockAhead', 'Timestamp too far ahead'),
        ],
        unit: 'events a minute',
      },
      {
        title: 'Throttled by DynamoDB',
        left: effects.tables.flatMap(throttles),
        unit: 'requests a minute',
      },
    ),
    ...(archive === undefined
      ? []
      : [
          row({
            title: 'Age of the oldest record not yet in the archive',
            width: 8,
            left: pipelines.map(({ event }) =>
              archive.streamMetrics(event).metric('DeliveryToS3.DataFreshness', { ...maximum, label: event }),
            ),
            unit: 'seconds',
          }),
        ]),
  ];
}

/** Throttle metrics of a table and its indexes, which are throttled separately. */
function throttles({ table, indexes = [] }: Effects['tables'][number]): IMetric[] {
  const throttled = [
    { label: table.node.id, dimensionsMap: { TableName: table.tableName } },
    ...indexes.map((index) => ({
      label: `${table.node.id} by ${index}`,
      dimensionsMap: { TableName: table.tableName, GlobalSecondaryIndexName: index },
    })),
  ];
  return throttled.flatMap(({ label, dimensionsMap }) =>
    ['Read', 'Write'].map((kind) =>
      table.metric(`${kind}ThrottleEvents`, {
        ...sumOfAMinute,
        dimensionsMap,
        label: `${label}: ${kind.toLowerCase()}s`,
      }),
    ),
  );
}
