const DAY = 24 * 60 * 60;

/**
 * Seconds that a message may wait for its first tries. Those that back off do not count: after three receives SQS leaves a
 * message out of the age. Source: SQS developer guide, "Available CloudWatch metrics".
 */
export const OLD_SECONDS = 15 * 60;

/**
 * Seconds that an event may wait for its consumer, and so be paused. A message that SQS itself moves to the dead-letter
 * queue is deleted so long after it first came, not after it was moved: what it has not spent here, people have to react.
 * Source: SQS developer guide, "Setting-up dead-letter queue retention".
 */
export const RETENTION_SECONDS = 7 * DAY;

/** Seconds at which the age of what waits rings in a pause: a day before SQS deletes it. */
export const EXPIRING_SECONDS = RETENTION_SECONDS - DAY;
