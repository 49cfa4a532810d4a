import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context } from 'aws-lambda';
import type { DimensionName, MetricName } from './metric-names.ts';

/**
 * Values that are JSON. A bigint would make the delivery fail, and an `Error` would be written as `{}`: see
 * `describeError`.
 */
type LogValue = string | number | boolean | undefined | readonly LogValue[] | LogFields;

export interface LogFields {
  readonly [name: string]: LogValue;
}

/** The function's name. Its variable is that of Powertools for AWS Lambda, because tools show that name. */
const service = process.env.POWERTOOLS_SERVICE_NAME;

/** Lambda gives an instance one invocation at a time. */
let invocation = { number: 0, id: '' };

/** Must be called first in each invocation. */
export function startInvocation({ awsRequestId }: Context): void {
  invocation = { number: invocation.number + 1, id: awsRequestId };
}

const keysOfWork = new AsyncLocalStorage<LogFields>();

/** Adds keys to all lines of the work on one record. The records of a batch are processed in parallel. */
export function withLogKeys<Result>(keys: LogFields, work: () => Result): Result {
  return keysOfWork.run(keys, work);
}

/** Fields of an invocation. CloudWatch charges logs by the byte, so lines have only what the log group does not show. */
const ofInvocation = (level: string): LogFields => ({
  ...(invocation.number === 1 && { cold_start: true }),
  ...(level !== 'INFO' && { function_request_id: invocation.id }),
  xray_trace_id: sampledTrace(process.env._X_AMZN_TRACE_ID),
});

/** The trace of the invocation, if X-Ray samples it. Source: X-Ray developer guide, "Tracing header". */
const sampledTrace = (header = '') =>
  header.includes('Sampled=1') ? /Root=([\w-]+)/.exec(header)?.[1] : undefined;

const line =
  (level: 'INFO' | 'WARN' | 'ERROR') =>
  (message: string, fields?: LogFields): void =>
    write({
      level,
      message,
      timestamp: new Date().toISOString(),
      service,
      ...ofInvocation(level),
      ...keysOfWork.getStore(),
      ...fields,
    });

export const log = { info: line('INFO'), warn: line('WARN'), error: line('ERROR') };

/**
 * Publishes a metric of value 1, as a line in CloudWatch's embedded metric format. Source: CloudWatch user guide,
 * "Specification: Embedded metric format".
 * @param dimensions few, and never text of the sender: each distinct value is a metric that costs money
 */
export function count(
  outcome: MetricName,
  dimensions: Readonly<Partial<Record<DimensionName, string>>> = {},
): void {
  const all = { service, ...dimensions };
  const metric = {
    Namespace: process.env.POWERTOOLS_METRICS_NAMESPACE,
    Dimensions: [Object.keys(all)],
    Metrics: [{ Name: outcome, Unit: 'Count' }],
  };
  write({ _aws: { Timestamp: Date.now(), CloudWatchMetrics: [metric] }, ...all, [outcome]: 1 });
}

/**
 * Not by the console: Lambda would put the line into an object of its own. Node.js writes it before this returns, so
 * it is not lost if Lambda freezes the function, unless the pipe is full (64 KB on Linux).
 */
function write(fields: LogFields): void {
  process.stdout.write(`${JSON.stringify(fields)}\n`);
}
