import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { LogLines } from './log-lines.ts';
import type { DimensionName, MetricName } from './metric-names.ts';

/** CloudWatch namespace where the stack names none. */
const DEFAULT_NAMESPACE = 'PartnerWebhooks';

export const logger = new Logger({ logFormatter: new LogLines() });

const metrics = new Metrics({ namespace: process.env.POWERTOOLS_METRICS_NAMESPACE || DEFAULT_NAMESPACE });

/** Few, and never the sender's own words: each distinct value is a metric that is paid for. */
type Dimensions = Readonly<Partial<Record<DimensionName, string>>>;

/** Counts an outcome, in a line of its own: not where all goes well, which is counted from the log (`metric-names.ts`). */
export function count(outcome: MetricName, dimensions: Dimensions = {}): void {
  metrics.addDimensions(dimensions);
  metrics.addMetric(outcome, 'Count', 1);
  // Before anything else of the batch can add to it.
  metrics.publishStoredMetrics();
}
