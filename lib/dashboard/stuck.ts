import { Duration } from 'aws-cdk-lib';
import { type IWidget, type Metric, Row } from 'aws-cdk-lib/aws-cloudwatch';
import type { ReportedMetrics } from '../alarms/reported-metrics.ts';
import { oldestHeldBack } from '../archive/archive.ts';
import type { Graphs } from './graphs.ts';
import type { Monitored, MonitoredTable } from './monitored.ts';
import { sum } from './sum.ts';

const period = Duration.minutes(1);
const maximum = { period, statistic: 'Maximum' };

/** What is stuck? The queues that only a person empties, and what keeps messages from moving. */
export function stuck(
  { events, quarantine, unrouted, tables }: Monitored,
  reported: ReportedMetrics,
  graphs: Graphs,
): IWidget[] {
  const heldBack = events.flatMap(({ event, archiveStream }) =>
    archiveStream === undefined ? [] : oldestHeldBack(archiveStream, { period, label: event }),
  );
  return [
    new Row(
      graphs.draw({
        title: 'Dead letters, by event',
        width: 8,
        left: events.map(({ event, deadLetterQueue }) =>
          deadLetterQueue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: event }),
        ),
        unit: 'messages',
        stacked: true,
      }),
      graphs.draw({
        title: 'Put aside by the receiver',
        width: 8,
        left: [
          quarantine.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'Quarantine' }),
          unrouted.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'Unrouted' }),
        ],
        unit: 'messages',
      }),
      graphs.draw({
        title: 'In processing, or hidden until the next attempt',
        width: 8,
        left: events.map(({ event, queue }) =>
          queue.metricApproximateNumberOfMessagesNotVisible({ ...maximum, label: event }),
        ),
        unit: 'messages',
        stacked: true,
      }),
    ),
    new Row(
      graphs.draw({
        title: 'Given up, by event',
        width: 8,
        left: events.map(({ event }) => reported.ofConsumer('DeadLettered', event, { label: event })),
        unit: 'events a minute',
        stacked: true,
      }),
      graphs.draw({
        title: 'Consumers that could not settle a message',
        width: 8,
        left: [
          sum({
            id: 'bury',
            label: 'Not put on the dead-letter queue',
            metrics: events.map(({ event }) => reported.ofConsumer('BuryFailed', event)),
            period,
          }),
          sum({
            id: 'hide',
            label: 'Not hidden until the next attempt',
            metrics: events.map(({ event }) => reported.ofConsumer('HideFailed', event)),
            period,
          }),
          sum({
            id: 'unarchived',
            label: 'Dead letter not archived',
            metrics: events.map(({ event }) => reported.ofConsumer('NotArchived', event)),
            period,
          }),
          sum({
            id: 'repeated',
            label: 'Possibly notified twice',
            metrics: events.map(({ event }) => reported.ofConsumer('PossiblyRepeated', event)),
            period,
          }),
        ],
        unit: 'events a minute',
      }),
      graphs.draw({
        title: 'Throttled by DynamoDB',
        width: 8,
        left: tables.flatMap(throttles),
        unit: 'requests a minute',
      }),
    ),
    ...(heldBack.length > 0
      ? [
          graphs.draw({
            title: 'Not in the archive yet: age of the oldest record',
            width: 8,
            left: heldBack,
            unit: 'seconds',
          }),
        ]
      : []),
  ];
}

function throttles({ table, indexes = [] }: MonitoredTable): Metric[] {
  const places = [
    { label: table.node.id, dimensionsMap: { TableName: table.tableName } },
    ...indexes.map((index) => ({
      label: `${table.node.id} by ${index}`,
      dimensionsMap: { TableName: table.tableName, GlobalSecondaryIndexName: index },
    })),
  ];
  return places.flatMap(({ label, dimensionsMap }) =>
    ['Read', 'Write'].map((kind) =>
      table.metric(`${kind}ThrottleEvents`, {
        dimensionsMap,
        period,
        statistic: 'Sum',
        label: `${label}: ${kind.toLowerCase()}s`,
      }),
    ),
  );
}
