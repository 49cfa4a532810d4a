import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import type { DimensionName, MetricName } from './metric-names.ts';

/**
 * Leaves out fields of Powertools that the log group already shows: the function's name, ARN and memory, and the
 * sampling rate. CloudWatch charges logs by the byte, and these fields were a third of them. Lambda's request id is in
 * warnings and errors only, and the trace id only if there is a trace.
 */
class LeanLogFormatter extends LogFormatter {
  override formatAttributes(
    { logLevel, message, timestamp, serviceName, lambdaContext, xRayTraceId }: UnformattedAttributes,
    attributes: LogAttributes,
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
    }).addAttributes(attributes);
  }
}

/** Whether X-Ray samples the invocation. Source: X-Ray developer guide, "Tracing header". */
const isTraced = () => process.env._X_AMZN_TRACE_ID?.includes('Sampled=1') === true;

export const logger = new Logger({ logFormatter: new LeanLogFormatter() });

/**
 * Counts a failure in a log line of its own. Successes are counted from the log (`metric-names.ts`), so the metrics
 * library is loaded with the first failure only. Must be awaited, because Lambda freezes a function that has answered.
 * @param dimensions few, and never text of the sender: each distinct value is a metric that costs money
 */
export async function count(
  outcome: MetricName,
  dimensions: Readonly<Partial<Record<DimensionName, string>>> = {},
): Promise<void> {
  const { metrics } = await import('./metrics.ts');
  metrics.addDimensions(dimensions);
  metrics.addMetric(outcome, 'Count', 1);
  // The metric is published now, because another message of the batch could add to the stored metrics.
  metrics.publishStoredMetrics();
}
