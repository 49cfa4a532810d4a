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
