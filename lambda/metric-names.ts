/** Why a signature is rejected: values of the dimension `reason`. */
export const rejectionReasons = ['malformed-signature', 'wrong-signature'] as const;

export type RejectionReason = (typeof rejectionReasons)[number];

export type DimensionName = 'event' | 'reason' | 'version';

/**
 * The metrics that the functions publish, by name, each with its dimensions besides `service`. They count failures only,
 * because each published metric costs money. Successes are counted from SQS metrics or from the log
 * (`lib/alarms/log-metrics.ts`). This file imports nothing, so the CDK app can use it without the functions' code.
 */
export const metrics = {
  /** Receiver: the event is of a kind that we do not know, and on the unrouted queue (decision D5). */
  Parked: [],
  /** Receiver: the stage ignores the kind of the event, so nothing was stored (decision D5). */
  Ignored: [],
  /**
   * Receiver: the delivery is signed, but no usable event. It is on the quarantine queue, and was answered 400
   * (decision D4).
   */
  Unusable: [],
  /** Receiver: answered 401. `reason` is one of {@link rejectionReasons}. */
  Rejected: ['reason'],
  /** Receiver: answered 500, so that the partner sends again. */
  ServerError: [],
  /** Receiver: answered 500 although no dependency was down. During a canary deployment, it rolls the version back. */
  VersionError: ['version'],
  /** Receiver: the secret could not be read. Either a cached secret was used, or the answer was 500. */
  SecretUnreadable: [],
  /** Consumer: the event was skipped, because newer data is stored. */
  Stale: ['event'],
  /** Consumer: the event was processed before: its version is stored, or its notification was sent. */
  Duplicate: ['event'],
  /**
   * Consumer: the timestamp of an event is more than 5 minutes after its receipt, and counts as 5 minutes after its first
   * receipt (decision D8). The partner's clock is ahead.
   */
  ClockAhead: [],
  /** Consumer: a field of an event is longer than an item holds. The other fields are stored. */
  FieldLeftOut: [],
  /** Consumer: an event of a replay is settled, with any outcome. */
  Replayed: ['event'],
  /** Consumer: a dead letter could not be archived. It is safe on its queue. */
  NotArchived: [],
  /** Consumer: an attempt failed and will be repeated. */
  Failed: ['event'],
  /** Consumer: the event is given up, and goes to the dead-letter queue. */
  DeadLettered: ['event'],
  /** Consumer: a message could not be moved to the dead-letter queue. It returns to its own queue. */
  DeadLetterNotSent: [],
  /** Consumer: a retry could not be delayed. The message returns when the queue's visibility timeout ends. */
  RetryNotDelayed: [],
  /** Consumer: the answer of SNS was lost, so a notification may have been sent twice. */
  PossiblyRepeated: ['event'],
} as const satisfies Record<string, readonly DimensionName[]>;

export type MetricName = keyof typeof metrics;
