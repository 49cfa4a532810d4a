import { Duration } from 'aws-cdk-lib';
import { type IWidget, Row } from 'aws-cdk-lib/aws-cloudwatch';
import { rejectionReasons } from '../../lambda/metric-names.ts';
import type { ReportedMetrics } from '../reported-metrics.ts';
import type { Graphs } from './graphs.ts';
import type { Monitored } from './monitored.ts';

const period = Duration.minutes(1);
const sumOfAMinute = { period, statistic: 'Sum' };

/** Are we accepting? From the partner's requests to what the receiver made of them. */
export function accepting(
  { api, throttled, receiver, events }: Monitored,
  reported: ReportedMetrics,
  graphs: Graphs,
): IWidget[] {
  const clientErrors = api.metricClientError({ ...sumOfAMinute, label: '4xx' });
  const serverErrors = api.metricServerError({ ...sumOfAMinute, label: '5xx' });
  const rejected = rejectionReasons.map((reason) =>
    reported.ofReceiver('Rejected', { reason }, { label: `401: ${reason.replace('-', ' ')}` }),
  );
  const unusable = reported.ofReceiver(
    'Unusable',
    {},
    { label: '400: signed but unusable, kept in quarantine' },
  );

  return [
    new Row(
      graphs.draw({
        title: 'Requests, and how many fail',
        width: 8,
        left: [
          api.metricCount({ ...sumOfAMinute, label: 'Requests' }),
          clientErrors,
          serverErrors,
          throttled.with({ label: '429: throttled' }),
        ],
        unit: 'requests a minute',
      }),
      graphs.draw({
        title: 'Accepted, by event',
        width: 8,
        left: events.map(({ event }) => reported.ofReceiver('Accepted', { event }, { label: event })),
        unit: 'events a minute',
        stacked: true,
      }),
      graphs.draw({
        title: 'Not accepted, or only put aside',
        width: 8,
        left: [
          ...rejected,
          unusable,
          reported.ofReceiver('Parked', {}, { label: '200: unknown event, on the unrouted queue' }),
          reported.ofReceiver('ServerError', {}, { label: '500: not safe, to be sent again' }),
          reported.ofReceiver('SecretUnreadable', {}, { label: 'Secret could not be read' }),
        ],
        unit: 'a minute',
      }),
    ),
    new Row(
      graphs.draw({
        title: 'How long the partner waits for an answer',
        width: 8,
        left: [
          api.metricLatency({ period, statistic: 'p50', label: 'API p50' }),
          api.metricLatency({ period, statistic: 'p99', label: 'API p99' }),
          receiver.metricDuration({ period, statistic: 'p50', label: 'Receiver p50' }),
          receiver.metricDuration({ period, statistic: 'p99', label: 'Receiver p99' }),
        ],
        unit: 'milliseconds',
      }),
      graphs.draw({
        title: 'Receiver: errors and throttles',
        width: 8,
        left: [
          receiver.metricErrors({ ...sumOfAMinute, label: 'Errors: crashed or timed out' }),
          receiver.metricThrottles({ ...sumOfAMinute, label: 'Throttles: 503 to the partner' }),
        ],
        unit: 'invocations a minute',
      }),
      graphs.draw({
        title: 'Receiver: executions at the same time',
        width: 8,
        left: [
          receiver.metric('ConcurrentExecutions', { period, statistic: 'Maximum', label: 'Executions' }),
        ],
        unit: 'executions',
      }),
    ),
    new Row(
      graphs.draw({
        title:
          'How late deliveries come, by event: from the partner’s timestamp to the receipt of half of them',
        width: 24,
        left: events.map(({ event }) =>
          reported.ofReceiver('DeliveryLag', { event }, { statistic: 'p50', label: event }),
        ),
        unit: 'milliseconds (an hour: 3,600,000)',
      }),
    ),
  ];
}
