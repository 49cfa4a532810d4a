const DAY = 24 * 60 * 60;

/**
 * Seconds that an event may wait for its consumer, and so be paused. SQS deletes a message that it moves to the dead-letter
 * queue itself by the time at which the message first came: people have the rest of the time there to react. Source: SQS
 * developer guide, "Setting-up dead-letter queue retention".
 */
export const EVENT_RETENTION_SECONDS = 7 * DAY;

/**
 * Seconds that dead letters are kept, as well as messages in quarantine and of unknown events: the longest that SQS keeps a
 * message. Source: SQS developer guide, "Message quotas".
 */
export const DEAD_LETTER_RETENTION_SECONDS = 14 * DAY;

/** Days from the receipt of an event until nothing of it is on a queue any more, unless somebody redrives it. */
export const LAST_DAY_ON_QUEUES = (EVENT_RETENTION_SECONDS + DEAD_LETTER_RETENTION_SECONDS) / DAY;

/** Seconds for which `npm run dlq` hides the messages of a queue at most, while it looks at them or after it was killed. */
export const MAX_LOOK_SECONDS = 15 * 60;

/**
 * Seconds for which SQS keeps a data key before it asks KMS for another one, 60 to 86,400: as long as a queue still works
 * under a key that was withdrawn, and as long as KMS may fail before a delivery does. It is SQS' own default; an hour
 * would save some cents (`docs/scale-and-cost.md`).
 */
export const DATA_KEY_REUSE_SECONDS = 300;
