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

/**
 * Errors of our own and of Powertools that a dependency causes: another invocation sends the same notification, Firehose
 * refuses a record, the function runs out of time.
 */
const CAUSED_BY_OTHERS = new Set(['IdempotencyAlreadyInProgressError', 'NotArchivedError', 'OutOfTimeError']);

/**
 * Names of throttling errors. Many have the status 400. Sources: `THROTTLING_ERROR_CODES` of the AWS SDK for
 * JavaScript; API references of SQS (`OverLimit`) and CloudFront (`TooManyInvalidationsInProgress`).
 */
const THROTTLING = /throttl|slow ?down|limit ?exceeded|over ?limit|throughput|too ?many/i;

/** Codes of the operating system, such as `ECONNRESET`; those of a misuse of Node.js begin with `ERR_`. */
const CONNECTION = /^E[A-Z]+$/;

/**
 * Whether a dependency was away, busy or too slow. Every version of the function then fails alike, so the failure does not
 * count against one of them. Others do: a bug, a message that is not understood, and what AWS refuses, such as a missing
 * permission or a table's wrong name.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (CAUSED_BY_OTHERS.has(error.name) || THROTTLING.test(error.name)) return true;
  if ('code' in error && CONNECTION.test(String(error.code))) return true;
  return isUnanswered(error) || isOutage(error.cause);
}

/** Whether a call of the SDK, which notes `$metadata` with every one that fails, got no answer or one of 5xx. */
function isUnanswered(error: Error): boolean {
  if (!('$metadata' in error)) return false;
  const { httpStatusCode: status } = error.$metadata as { readonly httpStatusCode?: number };
  return status === undefined || status >= 500 || status === 429;
}
