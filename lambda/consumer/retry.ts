import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import { TooLargeToArchiveError } from '../archive/archive.ts';
import { UnprocessableMessageError } from './received-event.ts';

/** Maximum delay, in seconds. */
const MAX_DELAY = 60 * 60;

/**
 * Random share by which a delay is longer or shorter, so that messages that failed together are not retried together.
 */
const JITTER = 0.25;

/**
 * Delay before the next retry, in whole seconds: doubles up to an hour. With a first delay of 30 s, ten receives take
 * about three hours, so a dependency may be down that long before messages become dead letters.
 * @param attempt 1 for the first receive
 * @param firstDelay in seconds
 * @param random from 0 up to 1
 */
export function backOffSeconds(attempt: number, firstDelay: number, random = Math.random()): number {
  const delay = firstDelay * 2 ** (attempt - 1);
  return Math.min(MAX_DELAY, Math.round(delay * (1 - JITTER + 2 * JITTER * random)));
}

/**
 * Errors of AWS services that mean that the request can never succeed. All others may be temporary, including a missing
 * permission, table or distribution, which the next deployment may add.
 */
const PERMANENT_ERRORS = new Set([
  'InvalidMessageContents',
  'InvalidParameter',
  'InvalidParameterException',
  'InvalidParameterValue',
  'InvalidParameterValueException',
  'NoSuchKey',
  'SerializationException',
  'ValidationException',
]);

/** Whether no retry can make the message succeed. */
export function isPermanent(error: unknown): boolean {
  if (error instanceof UnprocessableMessageError || error instanceof TooLargeToArchiveError) return true;
  return error instanceof Error && PERMANENT_ERRORS.has(error.name);
}

/**
 * Temporary errors that the SDK does not classify as such: another invocation sends the same notification, Firehose
 * rejects a record, or a service throttles under its own error name. Sources: API references of CloudFront, SNS and
 * SQS.
 */
const OUTAGE_ERRORS = new Set([
  'IdempotencyAlreadyInProgressError',
  'KMSThrottlingException',
  'KmsThrottled',
  'NotArchivedError',
  'TooManyInvalidationsInProgress',
]);

/**
 * Whether a dependency was unavailable or busy. Every version of the function fails then, so the failure does not count
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
