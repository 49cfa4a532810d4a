import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';

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
