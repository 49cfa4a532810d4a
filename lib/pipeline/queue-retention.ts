/**
 * Seconds that an event may wait for its consumer, and so be paused. A message that SQS itself moves to the dead-letter
 * queue is deleted so long after it first came, not after it was moved: what it has not spent here, people have to react.
 * Source: SQS developer guide, "Setting-up dead-letter queue retention".
 */
export const RETENTION_SECONDS = 7 * 24 * 60 * 60;
