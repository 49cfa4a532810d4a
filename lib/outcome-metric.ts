import { type Duration, Stack } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';

export interface OutcomeMetricProps {
  /** Function that counts it: `receiver`, or an event in kebab case. */
  readonly service: string;
  /**
   * Further dimensions: exactly those that it is counted with.
   * @default none
   */
  readonly dimensions?: Readonly<Record<string, string>>;
  readonly period: Duration;
}

/** How often a function counted an outcome: the metric that it writes with its log, under the stack's name. */
export function outcomeMetric(
  scope: Construct,
  outcome: string,
  { service, dimensions, period }: OutcomeMetricProps,
): Metric {
  return new Metric({
    namespace: Stack.of(scope).stackName,
    metricName: outcome,
    dimensionsMap: { service, ...dimensions },
    statistic: 'Sum',
    period,
  });
}
