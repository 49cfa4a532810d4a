import { Logger } from '@aws-lambda-powertools/logger';
import { LogLines } from './log-lines.ts';
import type { DimensionName, MetricName } from './metric-names.ts';

export const logger = new Logger({ logFormatter: new LogLines() });

/** The number that Lambda gave to the published version. */
export const functionVersion = process.env.AWS_LAMBDA_FUNCTION_VERSION ?? '';

/** Few, and never the sender's own words: each distinct value is a metric that is paid for. */
type Dimensions = Readonly<Partial<Record<DimensionName, string>>>;

/**
 * Counts an outcome, in a line of its own: not where all goes well, which is counted from the log (`metric-names.ts`). So
 * what writes the line is loaded with the first one. To be awaited: Lambda freezes a function that has answered.
 */
export async function count(outcome: MetricName, dimensions: Dimensions = {}): Promise<void> {
  const { metrics } = await import('./metrics.ts');
  metrics.addDimensions(dimensions);
  metrics.addMetric(outcome, 'Count', 1);
  // Before anything else of the batch can add to it.
  metrics.publishStoredMetrics();
}
