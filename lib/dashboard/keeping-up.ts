import { Duration } from 'aws-cdk-lib';
import { type IWidget, Row } from 'aws-cdk-lib/aws-cloudwatch';
import { HeaderLevel, HeaderWidget } from 'cdk-monitoring-constructs';
import { catalogue } from '../../lambda/events/catalogue.ts';
import type { ReportedMetrics } from '../alarms/reported-metrics.ts';
import type { Graphs } from './graphs.ts';
import type { Monitored, MonitoredEvent } from './monitored.ts';

const period = Duration.minutes(1);
const sumOfAMinute = { period, statistic: 'Sum' };
const maximum = { period, statistic: 'Maximum' };

/** Are we keeping up? How soon effects are had, then one row for each event, from its queue on. */
export function keepingUp(
  { events, effectLatency }: Monitored,
  reported: ReportedMetrics,
  graphs: Graphs,
): IWidget[] {
  return [
    new Row(
      graphs.draw({
        title: 'How soon effects are had: from the receipt to the effect',
        width: 24,
        left: ['p50', 'p99'].map((statistic) => effectLatency.with({ period, statistic, label: statistic })),
        unit: 'milliseconds',
      }),
    ),
    ...events.flatMap((event) => eventRow(event, reported, graphs)),
  ];
}

function eventRow(
  { event, queue, consumer }: MonitoredEvent,
  reported: ReportedMetrics,
  graphs: Graphs,
): IWidget[] {
  return [
    new HeaderWidget(`${event}: ${catalogue[event].processing}`, HeaderLevel.SMALL),
    new Row(
      graphs.draw({
        title: `${event}: waiting`,
        width: 8,
        left: [queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'Messages waiting' })],
        unit: 'messages',
        right: [queue.metricApproximateAgeOfOldestMessage({ ...maximum, label: 'Age of the oldest' })],
        rightUnit: 'seconds',
      }),
      graphs.draw({
        title: `${event}: consumer`,
        width: 8,
        left: [
          consumer.metricDuration({ period, statistic: 'p50', label: 'Duration p50' }),
          consumer.metricDuration({ period, statistic: 'p99', label: 'Duration p99' }),
        ],
        unit: 'milliseconds',
        right: [
          consumer.metricErrors({ ...sumOfAMinute, label: 'Errors' }),
          consumer.metricThrottles({ ...sumOfAMinute, label: 'Throttles' }),
        ],
        rightUnit: 'a minute',
      }),
      graphs.draw({
        title: `${event}: outcomes`,
        width: 8,
        left: [
          queue.metricNumberOfMessagesDeleted({ ...sumOfAMinute, label: 'Done with, whatever came of it' }),
          reported.ofConsumer('Stale', event, { label: 'Stale: newer data stored' }),
          reported.ofConsumer('Duplicate', event, { label: 'Duplicate: already processed' }),
          reported.ofConsumer('Replayed', event, { label: 'Replayed from the archive' }),
          reported.ofConsumer('Failed', event, { label: 'Failed: tried again later' }),
        ],
        unit: 'events a minute',
      }),
    ),
  ];
}
