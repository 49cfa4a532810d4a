const DAY = 24 * 60 * 60;

/**
 * Seconds that an event may wait for its consumer, and therefore be paused. If SQS itself moves a message to the
 * dead-letter queue, its retention there counts from the first receipt. The rest of the 14 days is left to react.
 * Source: SQS developer guide, "Setting-up dead-letter queue retention".
 */
export const EVENT_RETENTION_SECONDS = 7 * DAY;

/**
 * Seconds that dead letters, quarantined and parked messages are kept: the maximum of SQS. Source: SQS developer guide,
 * "Message quotas".
 */
export const DEAD_LETTER_RETENTION_SECONDS = 14 * DAY;

/** Name in the stack of the queue for probes of the smoke test (decision 28). Nothing receives from it. */
export const SMOKE_TEST_QUEUE = 'SmokeTestQueue';

/** Seconds that it keeps a probe: the minimum of SQS. Source: SQS developer guide, "Message quotas". */
export const PROBE_RETENTION_SECONDS = 60;

/** Days from the receipt of an event until it is on no queue any more, unless somebody redrives it. */
export const LAST_DAY_ON_QUEUES = (EVENT_RETENTION_SECONDS + DEAD_LETTER_RETENTION_SECONDS) / DAY;

/**
 * Maximum seconds for which `npm run dlq` hides the messages of a queue, while it inspects them or after it was killed.
 */
export const MAX_LOOK_SECONDS = 15 * 60;

/**
 * Seconds for which SQS reuses a data key before it calls KMS again, 60 to 86,400. So long a queue still works with a
 * withdrawn key, and so long KMS may be down before a delivery fails. This is the default of SQS; an hour would save a
 * few cents (`docs/scale-and-cost.md`).
 */
export const DATA_KEY_REUSE_SECONDS = 300;
