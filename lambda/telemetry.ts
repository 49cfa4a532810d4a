import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { CountName, DimensionName, DurationName } from './metric-names.ts';

/** CloudWatch namespace where the stack names none. */
const DEFAULT_NAMESPACE = 'PartnerWebhooks';

export const logger = new Logger();

const metrics = new Metrics({ namespace: process.env.POWERTOOLS_METRICS_NAMESPACE || DEFAULT_NAMESPACE });

/** Few, and never the sender's own words: each distinct value is a metric that is paid for. */
type Dimensions = Readonly<Partial<Record<DimensionName, string>>>;

/**
 * Counts one outcome, in one line with the durations that belong to it: a log is paid by the byte.
 * @param durations in milliseconds; they have the dimensions of the outcome
 */
export function count(
  outcome: CountName,
  dimensions: Dimensions = {},
  durations: Readonly<Partial<Record<DurationName, number>>> = {},
): void {
  metrics.addDimensions(dimensions);
  metrics.addMetric(outcome, 'Count', 1);
  for (const [name, milliseconds] of Object.entries(durations)) {
    metrics.addMetric(name, 'Milliseconds', milliseconds);
  }
  // Before anything else of the batch can add to it.
  metrics.publishStoredMetrics();
}
