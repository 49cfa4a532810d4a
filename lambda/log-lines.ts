import { LogFormatter, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';

/**
 * Log lines without what Powertools adds to each and the log group knows: the function's name, ARN and memory, and a rate
 * of sampling. A log is paid by the byte, and these were a third of it. What finds Lambda's own lines stands where
 * something is wrong, what finds a trace where there is one.
 */
export class LogLines extends LogFormatter {
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
