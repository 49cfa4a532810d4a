import { TooLargeToArchiveError } from '../archive/archive.ts';
import {
  FIRST_QUOTA_WINDOW,
  MAX_QUOTA_WINDOW_SECONDS,
  MAX_RETRY_SECONDS,
  QUOTA_WINDOW_START,
  RETRY_JITTER,
} from '../limits.ts';
import { UnprocessableMessageError } from './received-event.ts';

/**
 * Delay before the next retry, in whole seconds: doubles up to a limit. With `FIRST_RETRY_SECONDS` and `MAX_RECEIVES`
 * (`limits.ts`), the attempts take about three hours, so a dependency may be down that long before messages become dead
 * letters.
 * @param attempt 1 for the first receive
 * @param firstDelay in seconds
 * @param random from 0 up to 1
 */
export function backOffSeconds(attempt: number, firstDelay: number, random = Math.random()): number {
  const delay = firstDelay * 2 ** (attempt - 1);
  return Math.min(MAX_RETRY_SECONDS, Math.round(delay * (1 - RETRY_JITTER + 2 * RETRY_JITTER * random)));
}

/** Name of CloudFront's error for too many paths under invalidation: 3,000, or 15 that end with `*`. */
const TOO_MANY_INVALIDATIONS = 'TooManyInvalidationsInProgress';

/**
 * Delay before the next retry while a quota is used up, in whole seconds. CloudFront takes up to five minutes for an
 * invalidation, so 2,000 shops with a `*` path, 15 at a time, take half a day. Retries are spread evenly over a window,
 * so that they do not all meet the same few free slots. The window quadruples up to 11 hours, and ten receives take up
 * to three days. Source of the time: CloudFront FAQs, "How long does it take for an invalidation to complete?".
 * @param random from 0 up to 1
 */
function quotaBackOffSeconds(attempt: number, firstDelay: number, random: number): number {
  const window = Math.min(MAX_QUOTA_WINDOW_SECONDS, FIRST_QUOTA_WINDOW * firstDelay * 4 ** (attempt - 1));
  return Math.round(window * (QUOTA_WINDOW_START + (1 - QUOTA_WINDOW_START) * random));
}

/**
 * Delay before the next retry of a message that failed, in whole seconds.
 * @param error why it failed
 * @param attempt 1 for the first receive
 * @param firstDelay in seconds
 * @param random from 0 up to 1
 */
export function retryDelaySeconds(
  error: unknown,
  attempt: number,
  firstDelay: number,
  random = Math.random(),
): number {
  const isQuota = error instanceof Error && error.name === TOO_MANY_INVALIDATIONS;
  return (isQuota ? quotaBackOffSeconds : backOffSeconds)(attempt, firstDelay, random);
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
