import { Stack } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { ACCEPTED, DEAD_LETTERED, FAILED, PARKED, UNUSABLE } from '../../lambda/log-messages.ts';
import { metrics as reportedMetrics } from '../../lambda/metric-names.ts';
import {
  INVOCATION_FAILED,
  messageIs,
  messagePattern,
  SIGNATURE_RIGHT,
  SIGNATURE_WRONG,
} from './log-patterns.ts';

/** Something that has CloudWatch metrics: a queue, a function, an API, a log. */
export interface MetricSource {
  metric(metricName: string, options?: MetricOptions): Metric;
}

type MetricDimensions = Readonly<Record<string, string>>;

/** A source of metrics: all are in one namespace and have the same dimensions. */
export const metricsUnder = (namespace: string, dimensionsMap: MetricDimensions): MetricSource => ({
  metric: (metricName, options) => new Metric({ namespace, metricName, dimensionsMap, ...options }),
});

/**
 * Metrics from the stack's logs, in a namespace with the stack's name: those that functions publish in the embedded
 * metric format (with the dimension `service`), and those of {@link countLines}.
 * @param dimensions values by name. A metric of `metric-names.ts` gets `service` and its own dimensions. Any other
 * metric gets all of these
 */
export function logMetrics(scope: Construct, dimensions: MetricDimensions = {}): MetricSource {
  const namespace = Stack.of(scope).stackName;
  return {
    /**
     * @throws Error if a dimension of a published metric is missing. CloudWatch finds the metric only with all of them
     */
    metric(metricName, options) {
      const reported: { dimensions: readonly string[] } | undefined =
        reportedMetrics[metricName as keyof typeof reportedMetrics];
      const names = reported === undefined ? Object.keys(dimensions) : ['service', ...reported.dimensions];
      const dimensionsMap = Object.fromEntries(
        names.map((name) => {
          const value = dimensions[name];
          if (value === undefined) throw new Error(`${metricName} needs the dimension ${name}`);
          return [name, value];
        }),
      );
      return new Metric({ namespace, metricName, dimensionsMap, ...options });
    },
  };
}

/** Log lines that become values of a metric. */
interface CountedLines {
  readonly metric: string;
  readonly pattern: string;
  /** A number, or the field of the line with the number. @default '1' */
  readonly value?: string;
}

/**
 * Metrics from the receiver's log, by filter id. `Verified` is 1 for a correct signature and 0 for a wrong one. So its
 * maximum shows whether all signatures were wrong, and a missing value means no deliveries. `DeliveryLag` is the
 * milliseconds from the partner's `timestamp` to the receipt. Its filter keeps every value, so percentiles work.
 * Source: CloudWatch Logs user guide, "Creating metrics from log events using filters".
 */
export const receiverLines: Readonly<Record<string, CountedLines>> = {
  WronglySigned: { metric: 'Verified', pattern: SIGNATURE_WRONG, value: '0' },
  Verified: { metric: 'Verified', pattern: SIGNATURE_RIGHT },
  PutAside: { metric: 'PutAside', pattern: messagePattern(UNUSABLE, PARKED) },
  DeliveryLag: {
    metric: 'DeliveryLag',
    pattern: `{ ${messageIs(ACCEPTED)} && $.lagMs >= 0 }`,
    value: '$.lagMs',
  },
};

/**
 * Metrics from each consumer's log. They include crashes, which a consumer cannot report itself. `EffectLatency` is the
 * milliseconds from the receipt of a delivery to its effect. Replays have none.
 */
export const consumerLines: Readonly<Record<string, CountedLines>> = {
  Failed: { metric: 'Failures', pattern: messagePattern(FAILED) },
  Died: { metric: 'Failures', pattern: INVOCATION_FAILED },
  PutAside: { metric: 'PutAside', pattern: messagePattern(DEAD_LETTERED) },
  EffectLatency: { metric: 'EffectLatency', pattern: '{ $.latencyMs >= 0 }', value: '$.latencyMs' },
};

/** Counts log lines as metrics of the stack. If several logs count the same metric, it is paid for once. */
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
