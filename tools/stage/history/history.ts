/**
 * Everything known about one delivery, or about all deliveries of the same bytes and their messages. `npx hookctl trace
 * <id> --json` prints it.
 */
export interface History {
  /** SHA-256 of the bytes (decision D7). Absent if no function received the request. */
  readonly eventId?: string | undefined;
  readonly event?: string | undefined;
  readonly shopId?: string | undefined;
  /** The partner's `timestamp`, from the archive. */
  readonly timestamp?: string | undefined;
  readonly steps: readonly HistoryStep[];
  /** First the state of the delivery, then where its other messages are. */
  readonly now: readonly [HistoryLocation, ...HistoryLocation[]];
}

export type StepKind =
  | 'received'
  | 'queued'
  | 'answered'
  | 'failed'
  /** The attempt ended without a line: a crash, a timeout or throttling. `at` is when that became known. */
  | 'crashed'
  | 'processed'
  /** The event needed no effect. */
  | 'skipped'
  | 'dead-lettered'
  | 'archived'
  /** Somebody deleted the message from the queue that nothing consumes. */
  | 'discarded'
  | 'noted';

/** One step in the history of a delivery. The kind decides which fields are present. */
export interface HistoryStep {
  readonly kind: StepKind;
  /** ISO 8601. For `received`, the time of the answer if neither the archive nor the gateway says more. */
  readonly at: string;
  // Fields of a log line, which `lambda/` writes.
  readonly requestId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly attempt?: number | undefined;
  readonly error?: string | undefined;
  readonly lagMs?: number | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly sourceIp?: string | undefined;
  readonly latencyMs?: number | undefined;
  readonly level?: string | undefined;
  readonly message?: string | undefined;

  readonly origin?: MessageOrigin | undefined;
  /** Number of equal attempts in a row; `attempt` is the first of them. @default 1 */
  readonly attempts?: number | undefined;
  /** When the last of several equal attempts was. ISO 8601. */
  readonly until?: string | undefined;
  /** For `queued`: name of the queue: an event, `unrouted` or `quarantine`. */
  readonly queue?: string | undefined;
  readonly status?: number | undefined;
  /** For `answered` with 401. */
  readonly rejection?: string | undefined;
  /** For `failed`: when the next attempt is due. ISO 8601. */
  readonly nextAttemptAt?: string | undefined;
  readonly reason?: SkipReason | undefined;
  /** For `archived`: the object's key, and when a person's data was removed from the record. */
  readonly object?: string | undefined;
  readonly forgottenAt?: string | undefined;
  readonly discarded?: Discarded | undefined;
}

/**
 * How a message reached its queue. `repeated`: a second message of the same request, because SQS's answer to the
 * receiver was lost. `by hand`: without the receiver's attributes.
 */
export interface MessageOrigin {
  readonly kind: 'delivery' | 'redriven' | 'repeated' | 'by hand' | 'replay';
  /** Name of the replay. */
  readonly name?: string;
}

/**
 * Why an event needed no effect. `up-to-date`: a replay found that the event was already stored. `answer-lost`: an earlier
 * attempt of the same message had the effect, and did not get its answer, so the event counts as processed.
 */
export type SkipReason = 'already-processed' | 'newer-data' | 'up-to-date' | 'answer-lost' | 'ignored-kind';

export const states = [
  'received',
  /** API Gateway rejected it, for example with 404 or 413. */
  'refused',
  /** The answer was 401, and the partner retries. */
  'rejected',
  /** The answer was 500, and the partner retries. */
  'failed',
  /** The answer was 400, and it is in quarantine. */
  'invalid',
  'parked',
  'queued',
  'retrying',
  /** Queued or retrying, and its event is paused. Known only from the queues, so no log or archive has it. */
  'paused',
  'dead-letter',
  'processed',
  'skipped',
  /** Its message was set aside, and is no longer on that queue. Nobody needs to do anything. */
  'removed',
  /** Logs and archive have too little left of it. */
  'unknown',
] as const;

export type DeliveryState = (typeof states)[number];

export const isWaiting = (state: DeliveryState): boolean => ['queued', 'retrying', 'paused'].includes(state);

/** Whether a request was refused, and nothing of it was stored. */
export const isRefused = (state: DeliveryState): boolean => ['refused', 'rejected', 'failed'].includes(state);

/** Whether nothing more happens automatically in this state. */
export const isSettled = (state: DeliveryState): boolean =>
  !isWaiting(state) && state !== 'received' && state !== 'unknown';

export interface HistoryLocation
  extends Pick<
    HistoryStep,
    'requestId' | 'status' | 'error' | 'reason' | 'discarded' | 'nextAttemptAt' | 'queue'
  > {
  readonly state: DeliveryState;
  /** ISO 8601. */
  readonly since: string;
  /** For `removed`: id of the request that brought the same bytes again. */
  readonly again?: string | undefined;
  /** For `retrying` and `paused`: attempts that have ended. */
  readonly attempts?: number | undefined;
  /** For `retrying`: when the next attempt started, if its end is not known. ISO 8601. */
  readonly startedAt?: string | undefined;
  /** Name of the replay that sent the message. */
  readonly replay?: string | undefined;
  /** When SQS deletes the message. ISO 8601. */
  readonly until?: string | undefined;
  /** Set by `locate` for `paused`. */
  readonly paused?: PausedQueue | undefined;
}

export interface Discarded {
  readonly by: string;
  readonly reason: string;
}

export interface PausedQueue {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
  /** ISO 8601. */
  readonly since?: string | undefined;
}

/** A row in a list of deliveries: one request, and the state of its message. */
export interface Delivery
  extends Pick<History, 'eventId' | 'event' | 'shopId'>,
    Pick<HistoryLocation, 'state' | 'reason' | 'status' | 'error'>,
    Pick<HistoryStep, 'latencyMs'> {
  /** API Gateway's id of the request. */
  readonly id: string;
  /** Whether event and shop are only claimed: the signature was not verified. */
  readonly claimed?: true | undefined;
  /** ISO 8601. */
  readonly receivedAt: string;
  /** Number of attempts to process the message, without those of replays. */
  readonly attempts: number;
  /** Size of the body. */
  readonly bytes?: number | undefined;
  /** The beginning of its data, in one line. Absent if the payload is unknown or was forgotten. */
  readonly preview?: string | undefined;
}

/**
 * Name, as in `npx hookctl dlq`, of the queue that has a message in this state, which needs a person. Undefined for other
 * states.
 */
export function queueOf({ state, event = '' }: Pick<Delivery, 'state' | 'event'>): string | undefined {
  if (state === 'dead-letter') return event;
  if (state === 'invalid') return 'quarantine';
  return state === 'parked' ? 'unrouted' : undefined;
}

/** The state of a message that is on a queue which nothing consumes. */
export function stateOn(queue: string): DeliveryState {
  if (queue === 'quarantine') return 'invalid';
  return queue === 'unrouted' ? 'parked' : 'dead-letter';
}
