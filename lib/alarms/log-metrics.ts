import { Stack } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/** Something that has CloudWatch metrics of these names: a queue, a function, an API, a log. */
export interface MetricSource<Name extends string = string> {
  metric(metricName: Name, options?: MetricOptions): Metric;
}

/** A source of metrics: all are in one namespace and have the same dimensions. */
export const metricsUnder = <Name extends string>(
  namespace: string,
  dimensionsMap: Readonly<Record<string, string>>,
): MetricSource<Name> => ({
  metric: (metricName, options) => new Metric({ namespace, metricName, dimensionsMap, ...options }),
});

/** Metrics that `countLines` counts: in the logs of receiver and consumers, of the API, and of the archive. */
type CountedMetric =
  | 'DeliveryLag'
  | 'EffectLatency'
  | 'Failures'
  | 'PutAside'
  | 'Verified'
  | 'Throttled'
  | 'TooLarge'
  | 'Unauthorized'
  | 'Unavailable'
  | 'WrongAddress'
  | 'ArchiveFailures';

/** Metrics from the stack's logs, in a namespace with the stack's name. */
export const countedMetrics = (scope: Construct) =>
  metricsUnder<CountedMetric>(Stack.of(scope).stackName, {});

/** Log lines that become values of a metric. */
interface CountedLines {
  readonly metric: CountedMetric;
  readonly pattern: string;
  /** A number, or the field of the line with the number. @default '1' */
  readonly value?: string;
}

/**
 * Counts log lines as metrics of the stack, by filter id. If several logs count the same metric, it is paid for once. A
 * filter keeps every value, so percentiles work. Source: CloudWatch Logs user guide, "Creating metrics from log events
 * using filters".
 */
export function countLines(log: LogGroup, lines: Readonly<Record<string, CountedLines>>): void {
  for (const [id, { metric, pattern, value = '1' }] of Object.entries(lines)) {
    log.addMetricFilter(id, {
      filterPattern: FilterPattern.literal(pattern),
      metricNamespace: Stack.of(log).stackName,
      metricName: metric,
      metricValue: value,
    });
  }
}
