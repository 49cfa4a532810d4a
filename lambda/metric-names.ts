interface MetricDefinition {
  /** Besides `service`, which each metric has: the function that published it (POWERTOOLS_SERVICE_NAME). */
  readonly dimensions: readonly DimensionName[];
}

/** Why a signature is rejected: values of the dimension `reason`. */
export const rejectionReasons = ['malformed-signature', 'wrong-signature'] as const;

export type RejectionReason = (typeof rejectionReasons)[number];

export type DimensionName = 'event' | 'reason' | 'version';

/**
 * What the functions count themselves, by its name in CloudWatch: what does not go well, as a metric is paid for while it
 * is published. The rest is in metrics of SQS, or counted from the log (`lib/alarms/log-metrics.ts`). Imports nothing, so
 * that alarms and dashboards can be built from it without the library that publishes.
 */
export const metrics = {
  /** Receiver: the event is of a kind that we do not know, and on the unrouted queue (decision D5). */
  Parked: { dimensions: [] },
  /** Receiver: signed, but no usable event; on the quarantine queue and answered 400 (decision D4). */
  Unusable: { dimensions: [] },
  /** Receiver: answered 401. `reason` is one of {@link rejectionReasons}. */
  Rejected: { dimensions: ['reason'] },
  /** Receiver: answered 500, so that the partner sends again. */
  ServerError: { dimensions: [] },
  /**
   * What takes a canary back, by the version that failed. Receiver: a 500. Consumer: a failed first attempt,
   * unless a dependency's outage is the reason.
   */
  VersionError: { dimensions: ['version'] },
  /** Receiver: a read of the secret failed, whether a cached one went on serving or the answer was a 500. */
  SecretUnreadable: { dimensions: [] },
  /** Consumer: a newer version is stored. */
  Stale: { dimensions: ['event'] },
  /** Consumer: the event had its effect before: its version is stored, or its notification was sent. */
  Duplicate: { dimensions: ['event'] },
  /** Consumer: an event of a replay is settled, whatever came of it: it is neither new nor late. */
  Replayed: { dimensions: ['event'] },
  /** Consumer: a dead letter could not be archived; it is on its queue. */
  NotArchived: { dimensions: [] },
  /** Consumer: an attempt failed and will be repeated. */
  Failed: { dimensions: ['event'] },
  /** Consumer: the event is given up, and goes to the dead-letter queue. */
  DeadLettered: { dimensions: ['event'] },
  /** Consumer: a message could not be put on the dead-letter queue; it comes back. */
  BuryFailed: { dimensions: [] },
  /** Consumer: a message could not be hidden until its next attempt; it comes back sooner. */
  HideFailed: { dimensions: [] },
  /** Consumer: SNS' answer was lost, so that a notification may have been sent twice. */
  PossiblyRepeated: { dimensions: ['event'] },
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof metrics;
