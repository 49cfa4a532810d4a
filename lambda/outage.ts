import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';

/**
 * Temporary errors that the SDK does not classify as such: another invocation sends the same notification, Firehose
 * rejects a record, or a service throttles under its own error name. Sources: API references of CloudFront, SNS and
 * SQS.
 */
const OUTAGE_ERRORS = new Set([
  'EffectInProgressError',
  'KMSThrottlingException',
  'KmsThrottled',
  'NotArchivedError',
  'TooManyInvalidationsInProgress',
]);

/**
 * Whether a dependency was unavailable or busy. Every version of a function fails then, so the failure does not count
 * against the new version. Other failures do: a bug, a message that cannot be parsed, a timeout, or an AWS error such
 * as a missing permission.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The SDK declares a narrower type than it accepts.
  const sdkError = error as Error & { cause?: Error };
  const isRetryable = [isThrottlingError, isTransientError, isServerError].some((is) => is(sdkError));
  return isRetryable || OUTAGE_ERRORS.has(error.name) || isOutage(error.cause);
}
