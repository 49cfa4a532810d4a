interface MetricDefinition {
  readonly unit: 'Count' | 'Milliseconds';
  /** Besides `service`, which each metric has: the function that published it (POWERTOOLS_SERVICE_NAME). */
  readonly dimensions: readonly DimensionName[];
}

/** Why a signature is rejected: values of the dimension `reason`. */
export const rejectionReasons = ['malformed-signature', 'wrong-signature'] as const;

export type RejectionReason = (typeof rejectionReasons)[number];

export type DimensionName = 'event' | 'reason' | 'version';

/**
 * Every metric of this service, by its name in CloudWatch. Imports nothing, so that alarms and dashboards
 * can be built from it without the library that publishes.
 */
export const metrics = {
  /** Receiver: the event is on its own queue. */
  Accepted: { unit: 'Count', dimensions: ['event'] },
  /** Receiver: from the partner's `timestamp` to the receipt of what was accepted; 0 where their clock is ahead. */
  DeliveryLag: { unit: 'Milliseconds', dimensions: ['event'] },
  /** Receiver: the event is of a kind that we do not know, and on the unrouted queue (decision D5). */
  Parked: { unit: 'Count', dimensions: [] },
  /** Receiver: signed, but no usable event; on the quarantine queue and answered 400 (decision D4). */
  Unusable: { unit: 'Count', dimensions: [] },
  /** Receiver: answered 401. `reason` is one of {@link rejectionReasons}. */
  Rejected: { unit: 'Count', dimensions: ['reason'] },
  /** Receiver: answered 500, so that the partner sends again. */
  ServerError: { unit: 'Count', dimensions: [] },
  /** Receiver: a 500 once more, by the version that answered it: what takes a canary back. */
  VersionError: { unit: 'Count', dimensions: ['version'] },
  /** Receiver: a read of the secret failed, whether a cached one went on serving or the answer was a 500. */
  SecretUnreadable: { unit: 'Count', dimensions: [] },
  /** Consumer: the event has had its effect. */
  Processed: { unit: 'Count', dimensions: ['event'] },
  /** Consumer: the state already stood at this version or a later one. */
  Stale: { unit: 'Count', dimensions: ['event'] },
  /** Consumer: the notification had been sent before. */
  Duplicate: { unit: 'Count', dimensions: ['event'] },
  /** Consumer: an event of a replay is settled, instead of the three above: it is neither new nor late. */
  Replayed: { unit: 'Count', dimensions: ['event'] },
  /** Consumer: a dead letter could not be archived; it is on its queue. */
  NotArchived: { unit: 'Count', dimensions: [] },
  /** Consumer: an attempt failed and will be repeated. */
  Failed: { unit: 'Count', dimensions: ['event'] },
  /** Consumer: the event is given up, and goes to the dead-letter queue. */
  DeadLettered: { unit: 'Count', dimensions: ['event'] },
  /** Consumer: a message could not be put on the dead-letter queue; it comes back. */
  BuryFailed: { unit: 'Count', dimensions: [] },
  /** Consumer: a message could not be hidden until its next attempt; it comes back sooner. */
  HideFailed: { unit: 'Count', dimensions: [] },
  /** Consumer: SNS' answer was lost, so that a notification may have been sent twice. */
  PossiblyRepeated: { unit: 'Count', dimensions: ['event'] },
  /** Consumer: from the receipt of the delivery to Processed, Stale or Duplicate. */
  EffectLatency: { unit: 'Milliseconds', dimensions: ['event'] },
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof metrics;

type NameWithUnit<Unit> = {
  [Name in MetricName]: (typeof metrics)[Name]['unit'] extends Unit ? Name : never;
}[MetricName];

/** Metrics that count. */
export type CountName = NameWithUnit<'Count'>;

/** Metrics that take a number of milliseconds. */
export type DurationName = NameWithUnit<'Milliseconds'>;
