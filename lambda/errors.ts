import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import { sourcePositions } from './source-positions.ts';
import type { LogFields } from './telemetry.ts';

/**
 * Property of an error that names the failed call, because most errors do not. A global symbol, because modules
 * imported on demand are bundled with their own copy of this file.
 */
export const FAILED_CALL = Symbol.for('partner-webhooks.failed-call');

/** An error, with what the SDK and our settings of its clients (`aws-clients.ts`) may add. */
interface SdkError extends Error {
  readonly [FAILED_CALL]?: string;
  readonly $metadata?: { httpStatusCode?: number; requestId?: string; attempts?: number };
}

/** An error in at most three texts, which {@link errorText} joins. */
interface ErrorSummary extends LogFields {
  /** The AWS call that failed: `DynamoDB UpdateItem`. */
  readonly call?: string | undefined;
  /** The name of the error, or the failure of the connection. */
  readonly error: string;
  readonly errorMessage?: string | undefined;
}

interface DescribedError extends ErrorSummary {
  readonly cause?: ErrorSummary | undefined;
}

/** An error as one line of text: `DynamoDB UpdateItem: connection closed`. */
export function errorText({ cause, ...error }: DescribedError): string {
  return cause === undefined ? summaryText(error) : `${summaryText(error)}; caused by ${summaryText(cause)}`;
}

const summaryText = ({ call, error, errorMessage }: ErrorSummary) =>
  [call, error, errorMessage].filter((text) => text !== undefined).join(': ');

/** Names of errors whose message may quote the payload. Those about a KMS key quote only its ARN. */
const QUOTES_ITS_INPUT = /^(?!.*KMS).*(?:invalid|serialization|syntax|validation)/i;

/** Parameters of our calls, as AWS' messages write them. */
const PARAMETERS = [
  'Subject',
  'Message Structure',
  'Message too long',
  'Message',
  'TopicArn',
  'QueueUrl',
  'MessageBody',
  'MessageGroupId',
  'ReceiptHandle',
  'VisibilityTimeout',
  'tableName',
  'key',
  'item',
  'expressionAttributeValues',
  'deliveryStreamName',
  'records',
].join('|');

/**
 * The part of AWS' message that is shown of an error that may quote the payload: the parameter, or which limit was
 * exceeded. It has only words of this pattern.
 */
const SHOWN_OF_QUOTING = new RegExp(
  [
    `Invalid parameter: (?:${PARAMETERS})\\b`,
    `parameter (?:${PARAMETERS}) is invalid`,
    `(?<=at ')(?:${PARAMETERS})\\b`,
    'message (?:user )?attribute\\b',
    'Message must be shorter',
    'Item size (?:to update )?has exceeded the maximum allowed size',
    'Size of hashkey has exceeded the maximum size limit',
  ].join('|'),
);

/** The log fields of an error: enough for an operator, and nothing of the payload. */
export function describeError(error: unknown): DescribedError {
  if (!(error instanceof Error)) return { error: typeof error };
  const { $metadata: metadata }: SdkError = error;
  return {
    ...summary(error),
    ...stackOf(error),
    ...(error.cause instanceof Error && { cause: { ...summary(error.cause), ...stackOf(error.cause) } }),
    httpStatus: metadata?.httpStatusCode,
    awsRequestId: metadata?.requestId,
    sdkAttempts: metadata?.attempts,
  };
}

function summary(error: SdkError): ErrorSummary {
  const call = error[FAILED_CALL];
  const { name, message } = error;
  const failure = connectionFailure(error);
  return {
    call,
    error: failure ?? name,
    ...(failure === undefined && { errorMessage: shownMessage(name, message) }),
  };
}

const shownMessage = (name: string, message: string): string | undefined =>
  QUOTES_ITS_INPUT.test(name) ? SHOWN_OF_QUOTING.exec(message)?.[0] : message;

/** The source positions of an error. If its stack cannot be read, the error must still be logged. */
function stackOf(error: Error): { stack?: string[] } {
  try {
    const stack = sourcePositions(error);
    return stack.length > 0 ? { stack } : {};
  } catch {
    return {};
  }
}

/**
 * Texts for failures of a connection, by Node.js's code. Error names say less: the SDK names the first four
 * TimeoutError. Source: Node.js, "Common system errors".
 */
const CONNECTION_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  EPIPE: 'connection closed',
  ETIMEDOUT: 'no answer in time',
  EAI_AGAIN: 'host not found',
  EHOSTUNREACH: 'host not reachable',
  ENETUNREACH: 'host not reachable',
  ENOTFOUND: 'host not found',
};

/** The failure of the connection; undefined for another error. */
export const connectionFailure = (error: Error): string | undefined =>
  'code' in error ? CONNECTION_FAILURES[String(error.code)] : undefined;

/** Throttling that the SDK does not recognise as such. Source: SQS API reference, `SendMessage`. */
const KEY_THROTTLED = 'KmsThrottled';

/**
 * Whether a dependency was unavailable or busy. Every version of the receiver fails then, so the failure does not count
 * against the new version. Other failures do: a bug, or an AWS error such as a missing permission.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The SDK declares a narrower type than it accepts.
  const sdkError = error as Error & { cause?: Error };
  const isRetryable = [isThrottlingError, isTransientError, isServerError].some((is) => is(sdkError));
  return isRetryable || error.name === KEY_THROTTLED || isOutage(error.cause);
}
