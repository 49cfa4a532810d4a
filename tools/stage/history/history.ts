import type { ReplayMode } from '../../../lambda/queue/replay.ts';

/**
 * What is known of one delivery, or of all deliveries of the same bytes and the messages that they became. It is what
 * `npm run trace -- <id> --json` prints.
 */
export interface History {
  /** SHA-256 of the bytes (decision D7). Absent if no function saw the request. */
  readonly eventId?: string | undefined;
  /** Event kind. Absent if it is unknown. */
  readonly event?: string | undefined;
  readonly shopId?: string | undefined;
  /** The partner's, as the archive has it. */
  readonly timestamp?: string | undefined;
  /** In order of time. */
  readonly steps: readonly Step[];
  /** The state of the delivery first, then where other messages of it are. */
  readonly now: readonly [Place, ...Place[]];
}

const stepKinds = [
  'received',
  'queued',
  'answered',
  'failed',
  'crashed',
  'processed',
  'skipped',
  'dead-lettered',
  'archived',
  'noted',
] as const;

/**
 * - `received`: API Gateway got the request. - `queued`: SQS has the message. - `answered`: the answer to the partner.
 * - `failed`: an attempt failed and will be repeated. - `crashed`: the function ended without a result.
 * - `processed`, `skipped`: the event had its effect, or needed none. - `dead-lettered`: given up.
 * - `archived`: the outcome is in the archive.
 * - `noted`: any other log line about it.
 */
export type StepKind = (typeof stepKinds)[number];

/** One thing that happened. Which fields there are depends on the kind. */
export interface Step {
  readonly kind: StepKind;
  /** ISO 8601. */
  readonly at: string;
  /** API Gateway's id of the request. */
  readonly requestId?: string | undefined;
  /** As the log has it; the archive does not keep it. */
  readonly messageId?: string | undefined;
  /** How the message came to its queue. */
  readonly origin?: Origin | undefined;
  /** 1 for the first receive of the message. Of several equal attempts, the first. */
  readonly attempt?: number | undefined;
  /** Number of equal attempts in a row. @default 1 */
  readonly attempts?: number | undefined;
  /** Of several attempts: when the last one was. ISO 8601. */
  readonly until?: string | undefined;
  /** What failed, in one line: nothing of the payload. */
  readonly error?: string | undefined;

  /** Of `received`: the time is the end of the request, as its beginning is unknown. */
  readonly atTheLatest?: true | undefined;
  /** Of `received`: milliseconds since the partner's `timestamp`; 0 if their clock is ahead. */
  readonly lagMs?: number | undefined;
  /** Of `received`: it is the smoke test of a deployment. */
  readonly smokeTest?: true | undefined;
  /** Of `queued`: an event's, `unrouted` or `quarantine`. */
  readonly queue?: string | undefined;
  /** Of `answered`: HTTP status. */
  readonly status?: number | undefined;
  /** Of `answered` with 400: the fields that make the payload unusable. */
  readonly fields?: readonly string[] | undefined;
  /** Of `answered` with 401: why, and who sent it. */
  readonly rejection?: string | undefined;
  readonly sourceIp?: string | undefined;
  /** Of `failed`. */
  readonly nextAttemptAt?: string | undefined;
  /** Of `skipped`. */
  readonly reason?: SkipReason | undefined;
  /** Of `processed` and `skipped`: milliseconds since the receipt; absent of a replay. */
  readonly latencyMs?: number | undefined;
  /** Of `archived`: key in the archive's bucket, and when a person's data was removed from the record. */
  readonly object?: string | undefined;
  readonly forgottenAt?: string | undefined;
  /** Of `noted`. */
  readonly level?: string | undefined;
  readonly message?: string | undefined;
}

/**
 * How a message came to its queue. `repeated`: a second one of the same request, because SQS' answer to the receiver was
 * lost. `by hand`: without the attributes that the receiver gives.
 */
export type Origin =
  | { readonly kind: 'delivery' | 'redriven' | 'repeated' | 'by hand' }
  | {
      readonly kind: 'replay';
      readonly name: string;
      /** As the archive has them. */
      readonly mode?: ReplayMode | undefined;
      readonly notify?: boolean | undefined;
    };

const skipReasons = ['already-processed', 'newer-data', 'up-to-date'] as const;

/** Why an event needed no effect. `up-to-date`: a replay found what this event had stored before. */
export type SkipReason = (typeof skipReasons)[number];

export const states = [
  'received',
  'refused',
  'rejected',
  'failed',
  'invalid',
  'parked',
  'queued',
  'retrying',
  'dead-letter',
  'processed',
  'skipped',
  'unknown',
] as const;

/**
 * - `received`: not answered yet. - `refused`: by API Gateway itself, such as 404 and 413. - `rejected` 401, `failed` 500:
 * the partner repeats it. - `invalid` 400: in quarantine. - `parked`: nobody knows its kind.
 * - `queued`, `retrying`: on its way. - `dead-letter`: given up. - `processed`, `skipped`: done.
 * - `unknown`: too little is left of it in logs and archive.
 */
export type State = (typeof states)[number];

/** States in which nothing more happens by itself. */
export const isSettled = (state: State): boolean =>
  !['received', 'queued', 'retrying', 'unknown'].includes(state);

/** Where a delivery, or a message of it, is. */
export interface Place {
  readonly state: State;
  /** ISO 8601. */
  readonly since: string;
  /** An event's, `unrouted` or `quarantine`; of what is on a queue, or on its dead-letter queue. */
  readonly queue?: string | undefined;
  /** Of what was not accepted. */
  readonly status?: number | undefined;
  /** Of `skipped`. */
  readonly reason?: SkipReason | undefined;
  /** Attempts so far, of `retrying`, and how many of them crashed. Of `queued`: crashes of the consumer meanwhile. */
  readonly attempts?: number | undefined;
  readonly crashes?: number | undefined;
  /** Of `retrying`, if it is known. */
  readonly nextAttemptAt?: string | undefined;
  /** What failed last. */
  readonly error?: string | undefined;
  /** Of a message of a replay: its name. */
  readonly replay?: string | undefined;

  /** What the queues say: see `locate`. When SQS deletes it; messages on that queue, about; why nothing is taken from it. */
  readonly until?: string | undefined;
  readonly queueHolds?: number | undefined;
  readonly paused?: PausedQueue | undefined;
}

/** Why nothing is taken from a queue. */
export interface PausedQueue {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
  /** ISO 8601. */
  readonly since?: string | undefined;
}

/** One row of a list: one request, and what became of the message that it brought. */
export interface Delivery {
  /** API Gateway's id of the request. */
  readonly id: string;
  readonly eventId?: string | undefined;
  readonly event?: string | undefined;
  readonly shopId?: string | undefined;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly state: State;
  /** Of `skipped`. */
  readonly reason?: SkipReason | undefined;
  /** HTTP status of the answer. */
  readonly status?: number | undefined;
  /** That consumers have made. */
  readonly attempts: number;
  /** Of what has not succeeded: nothing of the payload. */
  readonly error?: string | undefined;
  /** From the receipt to the effect. */
  readonly latencyMs?: number | undefined;
  /** Of the body, if it is known. */
  readonly bytes?: number | undefined;
  readonly smokeTest?: true | undefined;
}

/** Why an attempt with this outcome needed no effect; undefined if it had one. @param replay name of its replay */
export function skipReason(outcome: string, replay: string | undefined): SkipReason | undefined {
  if (outcome === 'Stale') return 'newer-data';
  if (outcome !== 'Duplicate') return undefined;
  return replay === undefined ? 'already-processed' : 'up-to-date';
}
