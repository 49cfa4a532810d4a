import type { Stack } from 'aws-cdk-lib';
import { type Alarm, CfnAlarm, type HorizontalAnnotation, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { UnhealthyMetricColor } from 'cdk-monitoring-constructs';

/** Statistics whose value depends on the period: an alarm on five minutes is no line in a graph of one. */
const DEPENDS_ON_PERIOD = new Set(['Sum', 'SampleCount']);

/** Finds the thresholds of alarms on the metrics of a graph, so that the graph shows where it rings. */
export class AlarmLines {
  readonly #stack: Stack;
  /** Of each metric, by the direction in which it rings. */
  readonly #thresholds = new Map<string, Map<'above' | 'below', number>>();

  constructor(stack: Stack, alarms: readonly Alarm[]) {
    this.#stack = stack;
    for (const alarm of alarms) {
      const key = this.#key(alarm.metric);
      if (key === undefined) continue;
      const thresholds = this.#thresholds.get(key) ?? new Map();
      this.#thresholds.set(key, thresholds);
      const { value } = alarm.toAnnotation();
      const direction = directionOf(alarm);
      const before = thresholds.get(direction) ?? value;
      // Of several the first that rings: a line of days would flatten a graph of minutes.
      thresholds.set(direction, direction === 'above' ? Math.min(before, value) : Math.max(before, value));
    }
  }

  /** One line for each threshold, however many alarms of the graph's metrics share it. */
  of(metrics: readonly IMetric[]): HorizontalAnnotation[] {
    const values = metrics.flatMap((metric) => [
      ...(this.#thresholds.get(this.#key(metric) ?? '')?.values() ?? []),
    ]);
    return [...new Set(values)].map((value) => ({ value, label: 'Alarm', color: UnhealthyMetricColor }));
  }

  /** What makes two metrics one; undefined for a formula. */
  #key(metric: IMetric): string | undefined {
    const { metricStat } = metric.toMetricConfig();
    if (metricStat === undefined) return undefined;
    const { namespace, metricName, dimensions = [], statistic, period } = metricStat;
    return JSON.stringify(
      this.#stack.resolve([
        namespace,
        metricName,
        dimensions.map(({ name, value }) => [name, value]),
        statistic,
        DEPENDS_ON_PERIOD.has(statistic) ? period.toSeconds() : undefined,
      ]),
    );
  }
}

function directionOf(alarm: Alarm): 'above' | 'below' {
  const { defaultChild } = alarm.node;
  const below = defaultChild instanceof CfnAlarm && defaultChild.comparisonOperator?.startsWith('LessThan');
  return below ? 'below' : 'above';
}
