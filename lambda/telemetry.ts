import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import type { DimensionName, MetricName } from './metric-names.ts';

/**
 * Log lines without what Powertools adds to each and the log group knows: the function's name, ARN and memory, and a rate
 * of sampling. A log is paid by the byte, and these were a third of it. What finds Lambda's own lines stands where
 * something is wrong, what finds a trace where there is one.
 */
class LogLines extends LogFormatter {
  override formatAttributes(
    { logLevel, message, timestamp, serviceName, lambdaContext, xRayTraceId }: UnformattedAttributes,
    facts: LogAttributes,
  ): LogItem {
    return new LogItem({
      attributes: {
        level: logLevel,
        message,
        timestamp: this.formatTimestamp(timestamp),
        service: serviceName,
        ...(lambdaContext?.coldStart && { cold_start: true }),
        ...(logLevel !== 'INFO' && { function_request_id: lambdaContext?.awsRequestId }),
        ...(isTraced() && { xray_trace_id: xRayTraceId }),
      },
    }).addAttributes(facts);
  }
}

/** Whether X-Ray follows the invocation. Source: X-Ray developer guide, "Tracing header". */
const isTraced = () => process.env._X_AMZN_TRACE_ID?.includes('Sampled=1') === true;

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
