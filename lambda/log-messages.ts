/*
 * Log messages that something outside the functions matches: metric filters, links of alarms, histories
 * and documents. Most are also the names of metrics (`metric-names.ts`). This file imports nothing, and a bundle has
 * only those constants that its function uses.
 */

// Messages of the receiver about deliveries, one per delivery.
export const ACCEPTED = 'Accepted';
export const PARKED = 'Parked';
export const IGNORED = 'Ignored';
export const UNUSABLE = 'Unusable';
export const REJECTED = 'Rejected';
export const SERVER_ERROR = 'ServerError';

/**
 * Message of the receiver after a failed read of the secret. If no secret is cached, the receiver writes
 * {@link SERVER_ERROR}.
 */
export const CACHED_SECRET_USED = 'Cannot read the secret; using the cached one';

/** Message of `npx hookctl dlq discard`, which writes it to the log of the function that set the message aside. */
export const DISCARDED = 'Discarded';

/** Warnings of the receiver, once per instance. `doctor` prints them, too. */
export const SECRET_HAS_WHITE_SPACE =
  'The secret begins or ends with white space, which is used as part of it. Was it pasted?';
export const SECRET_LOOKS_LIKE_JSON =
  'The secret looks like quoted text or JSON, but is no valid JSON object, so all of it is used as the secret.';

/**
 * Message of the receiver about a probe of the smoke test, unless the probe fails with {@link SERVER_ERROR}. No alarm
 * matches it.
 */
export const SMOKE_TEST = 'SmokeTest';

/**
 * Message of a consumer when the second or a later attempt of a message starts. If an attempt ends without a line, the
 * next one's start shows it. First attempts log only how they end, because logs are paid by the byte.
 */
export const STARTED = 'Started';

// Messages of a consumer about attempts, one per attempt.
export const PROCESSED = 'Processed';
export const STALE = 'Stale';
export const DUPLICATE = 'Duplicate';
export const FAILED = 'Failed';
export const DEAD_LETTERED = 'DeadLettered';

// Further messages of a consumer, besides the line that each attempt logs.
export const NOT_ARCHIVED = 'NotArchived';
export const DEAD_LETTER_NOT_SENT = 'DeadLetterNotSent';
export const RETRY_NOT_DELAYED = 'RetryNotDelayed';
export const CLOCK_AHEAD = 'ClockAhead';
export const POSSIBLY_REPEATED = 'PossiblyRepeated';
