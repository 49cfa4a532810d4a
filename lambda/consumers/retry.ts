import { TooLargeToArchiveError } from '../archive/archive.ts';
import { UnprocessableMessageError } from './received-event.ts';

/** Longest delay, in seconds. */
const MAXIMUM_DELAY = 60 * 60;

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
  return Math.min(MAXIMUM_DELAY, Math.round(delay * (1 - JITTER + 2 * JITTER * random)));
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
