import { Duration, Stack } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup } from 'aws-cdk-lib/aws-logs';
import type { EventName } from '../../lambda/events/catalogue.ts';
import { DIED, saying } from './console-links.ts';

/** The lines of a log that are counted. */
interface Counted {
  /** Of the filter, unlike all others of the log. */
  readonly id: string;
  readonly pattern: string;
  /** A number, or the field of the line that has one. @default '1' */
  readonly value?: string;
  /** Fields of the line that are dimensions of the metric, by their names. @default none */
  readonly dimensions?: Readonly<Record<string, string>>;
}

/** Counts lines of a log into a metric of the stack; several logs may count into one, which is then paid for once. */
export function countLines(
  log: LogGroup,
  metricName: string,
  { id, pattern, value = '1', dimensions }: Counted,
) {
  log.addMetricFilter(id, {
    filterPattern: FilterPattern.literal(pattern),
    metricNamespace: Stack.of(log).stackName,
    metricName,
    metricValue: value,
    ...(dimensions && { dimensions }),
  });
}

/** A metric that {@link countLines} makes, without dimensions. */
const counted = (log: LogGroup, metricName: string, options: MetricOptions): Metric =>
  new Metric({ namespace: Stack.of(log).stackName, metricName, ...options });

/**
 * Milliseconds from the partner's `timestamp` to the receipt of what was accepted. A filter keeps each value, so that
 * percentiles can be had of it. Source: CloudWatch Logs user guide, "Creating metrics from log events using filters".
 */
export function deliveryLag(receiverLog: LogGroup): Metric {
  countLines(receiverLog, 'DeliveryLag', {
    id: 'DeliveryLag',
    pattern: '{ $.message = "Accepted" && $.lagMs >= 0 }',
    value: '$.lagMs',
  });
  return counted(receiverLog, 'DeliveryLag', { statistic: 'p50' });
}

/** The same of one event: a metric that is paid for by itself. */
export function deliveryLagOf(receiverLog: LogGroup, event: EventName): Metric {
  countLines(receiverLog, 'DeliveryLag', {
    id: `DeliveryLag-${event}`,
    pattern: `{ $.message = "Accepted" && $.event = "${event}" && $.lagMs >= 0 }`,
    value: '$.lagMs',
    dimensions: { event: '$.event' },
  });
  return counted(receiverLog, 'DeliveryLag', { dimensionsMap: { event }, statistic: 'p50' });
}

/** Milliseconds from the receipt of a delivery to its effect, of all events; none of a replay. */
export function effectLatency(consumerLogs: readonly [LogGroup, ...LogGroup[]]): Metric {
  for (const log of consumerLogs) {
    countLines(log, 'EffectLatency', {
      id: 'EffectLatency',
      pattern: '{ $.latencyMs >= 0 }',
      value: '$.latencyMs',
    });
  }
  return counted(consumerLogs[0], 'EffectLatency', { period: Duration.minutes(1), statistic: 'p50' });
}

/** Attempts of consumers, of whichever event, that failed, and consumers that died and could not say so. */
export function failures(consumerLogs: readonly [LogGroup, ...LogGroup[]]): Metric {
  for (const log of consumerLogs) {
    countLines(log, 'Failures', { id: 'Failed', pattern: saying('Failed') });
    countLines(log, 'Failures', { id: 'Died', pattern: DIED });
  }
  return counted(consumerLogs[0], 'Failures', { statistic: 'Sum' });
}

/** Messages that our functions put on a dead-letter, quarantine or unrouted queue. */
export function putAside(receiverLog: LogGroup, consumerLogs: readonly LogGroup[]): Metric {
  countLines(receiverLog, 'PutAside', { id: 'PutAside', pattern: saying('Unusable', 'Parked') });
  for (const log of consumerLogs) {
    countLines(log, 'PutAside', { id: 'PutAside', pattern: saying('DeadLettered') });
  }
  return counted(receiverLog, 'PutAside', { statistic: 'Sum' });
}
