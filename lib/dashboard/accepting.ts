import { Duration } from 'aws-cdk-lib';
import { type IWidget, Row } from 'aws-cdk-lib/aws-cloudwatch';
import { rejectionReasons } from '../../lambda/metric-names.ts';
import type { ReportedMetrics } from '../alarms/reported-metrics.ts';
import type { Graphs } from './graphs.ts';
import type { Monitored } from './monitored.ts';

const period = Duration.minutes(1);
const sumOfAMinute = { period, statistic: 'Sum' };

/** Are we accepting? From the partner's requests to what the receiver made of them. */
export function accepting(
  { api: { gateway, ownAnswers }, receiver, events, lag }: Monitored,
  reported: ReportedMetrics,
  graphs: Graphs,
): IWidget[] {
  const { metrics } = gateway;
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
        width: 6,
        left: [
          metrics.metricCount({ ...sumOfAMinute, label: 'Requests' }),
          metrics.metricClientError({ ...sumOfAMinute, label: '4xx' }),
          metrics.metricServerError({ ...sumOfAMinute, label: '5xx' }),
        ],
        unit: 'requests a minute',
      }),
      graphs.draw({
        title: 'Answered by API Gateway itself',
        width: 6,
        left: [
          ownAnswers.throttled.with({ label: 'Above the throttle' }),
          ownAnswers.unavailable.with({ label: 'No answer of the receiver' }),
          ownAnswers.tooLarge.with({ label: 'Too large' }),
          ownAnswers.wrongAddress.with({ label: 'Posted to another address' }),
        ],
        unit: 'requests a minute',
      }),
      graphs.draw({
        title: 'Put on its queue, by event',
        width: 6,
        left: events.map(({ event, queue }) =>
          queue.metricNumberOfMessagesSent({ ...sumOfAMinute, label: event }),
        ),
        unit: 'events a minute',
        stacked: true,
      }),
      graphs.draw({
        title: 'Not accepted, or only put aside',
        width: 6,
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
          metrics.metricLatency({ period, statistic: 'p50', label: 'API p50' }),
          metrics.metricLatency({ period, statistic: 'p99', label: 'API p99' }),
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
          receiver.metricThrottles({ ...sumOfAMinute, label: 'Throttles: turned away' }),
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
        title: 'How late deliveries come: from the partner’s timestamp to the receipt',
        width: 24,
        left: ['p50', 'p99'].map((statistic) => lag.with({ period, statistic, label: statistic })),
        unit: 'milliseconds (an hour: 3,600,000)',
      }),
    ),
  ];
}
