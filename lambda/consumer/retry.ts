import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import { TooLargeToArchiveError } from '../archive/archive.ts';
import { UnprocessableMessageError } from './received-event.ts';

/** Longest delay, in seconds. */
const MAX_DELAY = 60 * 60;

/** Share of a delay by which chance lengthens or shortens it, so that what failed together is not repeated together. */
const JITTER = 0.25;

/**
 * How long a message waits after a failure that may pass, in whole seconds: doubling to an hour. From
 * 30 s on, ten receives last some three hours: so long may a dependency be down with nobody awake.
 * @param attempt 1 for the first receive
 * @param firstDelay in seconds
 * @param random from 0 up to 1
 */
export function backOffSeconds(attempt: number, firstDelay: number, random = Math.random()): number {
  const delay = firstDelay * 2 ** (attempt - 1);
  return Math.min(MAX_DELAY, Math.round(delay * (1 - JITTER + 2 * JITTER * random)));
}

/**
 * Errors of AWS services that say that the request itself can never succeed. Any other may pass: also
 * a missing permission, table or distribution, which the next deployment brings.
 */
const HOPELESS = new Set([
  'InvalidMessageContents',
  'InvalidParameter',
  'InvalidParameterException',
  'InvalidParameterValue',
  'InvalidParameterValueException',
  'NoSuchKey',
  'SerializationException',
  'ValidationException',
]);

/** Whether no repetition can make the message succeed. */
export function isHopeless(error: unknown): boolean {
  if (error instanceof UnprocessableMessageError || error instanceof TooLargeToArchiveError) return true;
  return error instanceof Error && HOPELESS.has(error.name);
}

/**
 * Errors that a dependency causes, and that the SDK's classes leave out: another invocation sends the same notification,
 * Firehose refuses a record, a service throttles under a name of its own. Sources: API references of CloudFront, SNS and SQS.
 */
const CAUSED_BY_OTHERS = new Set([
  'IdempotencyAlreadyInProgressError',
  'KMSThrottlingException',
  'KmsThrottled',
  'NotArchivedError',
  'TooManyInvalidationsInProgress',
]);

/**
 * Whether a dependency was away or busy. Every version of the function then fails alike, so the failure does not count
 * against one of them. Others do: a bug, a message that is not understood, no time left, and what AWS refuses, such as a
 * missing permission or a table's wrong name.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The SDK's type is narrower than Error; the checks are not.
  const sdkError = error as Error & { cause?: Error };
  const isRetryable = [isThrottlingError, isTransientError, isServerError].some((is) => is(sdkError));
  return isRetryable || CAUSED_BY_OTHERS.has(error.name) || isOutage(error.cause);
}
