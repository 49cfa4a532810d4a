import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';

/** CloudWatch namespace of every metric of this service. */
const METRIC_NAMESPACE = 'PartnerWebhooks';

export const logger = new Logger();

const metrics = new Metrics({ namespace: METRIC_NAMESPACE });

/**
 * Counts one outcome. Dimensions are few and never the sender's own words: each distinct value is a
 * metric that is paid for.
 */
export function count(outcome: string, dimensions: Record<string, string> = {}): void {
  const metric = metrics.singleMetric();
  metric.addDimensions(dimensions);
  metric.addMetric(outcome, MetricUnit.Count, 1);
}
