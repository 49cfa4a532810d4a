import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { CountName, DimensionName, DurationName, MetricName } from './metric-names.ts';

/** CloudWatch namespace where the stack names none. */
const DEFAULT_NAMESPACE = 'PartnerWebhooks';

export const logger = new Logger();

const metrics = new Metrics({ namespace: process.env.POWERTOOLS_METRICS_NAMESPACE || DEFAULT_NAMESPACE });

/** Few, and never the sender's own words: each distinct value is a metric that is paid for. */
type Dimensions = Readonly<Partial<Record<DimensionName, string>>>;

/** Counts one outcome. */
export function count(outcome: CountName, dimensions: Dimensions = {}): void {
  publish(outcome, 'Count', 1, dimensions);
}

/** Records how long something took. */
export function measure(name: DurationName, milliseconds: number, dimensions: Dimensions = {}): void {
  publish(name, 'Milliseconds', milliseconds, dimensions);
}

function publish(
  name: MetricName,
  unit: 'Count' | 'Milliseconds',
  value: number,
  dimensions: Dimensions,
): void {
  const metric = metrics.singleMetric();
  metric.addDimensions(dimensions);
  metric.addMetric(name, unit, value);
}
