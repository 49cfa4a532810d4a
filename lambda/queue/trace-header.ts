import type { SendMessageCommandInput } from '@aws-sdk/client-sqs';

/**
 * The header as Lambda writes it. Source: X-Ray developer guide, "Tracing header"; `Lineage` is Lambda's
 * own, for the detection of loops.
 */
const TRACE_HEADER =
  /^Root=1-[0-9a-f]{8}-[0-9a-f]{24}(;Parent=[0-9a-f]{16})?(;Sampled=[01])?(;Lineage=[0-9a-f:|]{1,200})?$/;

/**
 * What a message carries so that the function at the other end continues the trace, for `SendMessage`: Lambda
 * reads it by itself, and links its batch to each message's trace (X-Ray developer guide, "Amazon SQS and
 * AWS X-Ray"). It counts towards neither the size nor the number of a message's attributes.
 *
 * SQS refuses a message of which the header is malformed. No event is worth less than its trace, so such
 * a one is left out.
 * @param header `X-Amzn-Trace-Id`; undefined where nothing is traced
 */
export function traceAttribute(
  header: string | undefined = '',
): Pick<SendMessageCommandInput, 'MessageSystemAttributes'> {
  if (!TRACE_HEADER.test(header)) return {};
  return { MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: header } } };
}

/** The trace of the invocation that is under way; Lambda sets the variable anew for each. */
export function invocationTrace() {
  return traceAttribute(process.env._X_AMZN_TRACE_ID);
}
