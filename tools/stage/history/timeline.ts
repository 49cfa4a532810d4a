import type { SettledOutcome } from '../../../lambda/archive/record.ts';
import type { EffectOutcome } from '../../../lambda/effects/outcome.ts';
import type { RejectionReason } from '../../../lambda/metric-names.ts';
import type { ReplayMode } from '../../../lambda/queue/replay.ts';
import type { IdKind } from './trace-id.ts';

/** What `npm run trace -- <id> --json` prints. */
export interface Trace {
  /** For people: `the local stack`, `stage prod in eu-west-1`. */
  readonly stack: string;
  /** As it was asked for. */
  readonly id: string;
  readonly idIs: IdKind;
  readonly timeline: Timeline;
  readonly sources: Sources;
}

/** All that is known of one event: of each delivery of its bytes, of each message that it became. */
export interface Timeline {
  readonly eventId: string;
  /** Its kind; absent where only requests are known that came to no queue of an event. */
  readonly event?: string;
  /** By the archive. */
  readonly shopId?: string;
  /** The partner's, by the archive. */
  readonly timestamp?: string;
  /** In order of time. */
  readonly steps: readonly Step[];
  /** Where it is: whatever is not done, else the one that says that all is. */
  readonly now: readonly [Whereabouts, ...Whereabouts[]];
}

/**
 * How a message came to its queue. `repeated`: a second one of the same request, of which SQS' answer was lost to the
 * receiver. `by hand`: without the attributes that the receiver gives.
 */
export type Origin =
  | { readonly kind: 'delivery' | 'redriven' | 'repeated' | 'by hand' }
  | {
      readonly kind: 'replay';
      readonly name: string;
      /** By the archive, as `notify`. */
      readonly mode?: ReplayMode;
      readonly notify?: boolean;
    };

interface At {
  /** ISO 8601. */
  readonly at: string;
}

interface OfRequest extends At {
  /** API Gateway's. */
  readonly requestId: string;
}

interface OfAttempt extends At {
  readonly origin: Origin;
  /** 1 for the first receive of the message. */
  readonly attempt: number;
  /** Of the request that brought the event. */
  readonly requestId?: string;
  /** By the log: the archive does not keep it. */
  readonly messageId?: string;
}

/** An error as logs and archive tell of it: nothing of the payload. */
interface OfError {
  /** Name and message, and those of its cause. */
  readonly error: string;
}

/** API Gateway handed the request over, by its clock. */
export interface Received extends OfRequest {
  readonly what: 'received';
  /** False where it is not known to the millisecond: then it is when the receiver was done. */
  readonly exact: boolean;
  /** Since the partner's `timestamp`; 0 where their clock is ahead. */
  readonly lagMs?: number;
  /** Whether it is a smoke test of a deployment, and nobody's delivery. */
  readonly smokeTest?: true;
}

/** SQS has it. */
export interface Queued extends OfRequest {
  readonly what: 'queued';
  /** An event's, `unrouted` or `quarantine`. */
  readonly queue: string;
}

/** The receiver's answer. One of API Gateway itself is in the access log only. */
export interface Answered extends OfRequest {
  readonly what: 'answered';
  readonly status: 200 | 400 | 401 | 500;
  /** Of 400: the fields because of which the payload is unusable. */
  readonly fields?: readonly string[];
  /** Of 401. */
  readonly reason?: RejectionReason;
  /** Of 401: who sent it. */
  readonly sourceIp?: string;
  /** Of 500: what failed. */
  readonly error?: string;
}

/** An attempt failed, or what it came to was not archived, and will be repeated. */
export interface Failed extends OfAttempt, OfError {
  readonly what: 'failed';
  readonly retryInSeconds: number;
  readonly nextAttemptAt: string;
}

/** Attempts of which there is no line: the function died or ran out of time. */
export interface Unseen extends OfAttempt {
  readonly what: 'unseen';
  /** The first of them is `attempt`; `at` is when the next one was seen. */
  readonly attempts: number;
}

/** The event has had its effect. */
export interface Effect extends OfAttempt {
  readonly what: 'effect';
  readonly outcome: EffectOutcome;
  /** Since the receipt of the delivery; absent of a replay. */
  readonly latencyMs?: number;
}

/** The event was given up. */
export interface DeadLettered extends OfAttempt, OfError {
  readonly what: 'dead-lettered';
}

/** What an attempt came to is in the archive. */
export interface Archived extends OfAttempt {
  readonly what: 'archived';
  readonly outcome: SettledOutcome;
  /** Key in the archive's bucket. */
  readonly object: string;
  /** When a person's data was taken out of the record. */
  readonly forgottenAt?: string;
}

/** Any other line of a log about it. */
export interface Noted extends At {
  readonly what: 'noted';
  readonly level: string;
  /** Such as `PossiblyRepeated` or `BuryFailed`. */
  readonly message: string;
  readonly requestId?: string;
  readonly messageId?: string;
  readonly error?: string;
}

export type Step = Received | Queued | Answered | Failed | Unseen | Effect | DeadLettered | Archived | Noted;

/** Why nothing is taken from a queue. */
export interface PausedQueue {
  readonly by?: string;
  readonly reason?: string;
  /** ISO 8601. */
  readonly since?: string;
}

interface OnQueue {
  /** An event's, `unrouted` or `quarantine`. */
  readonly queue: string;
  /** ISO 8601. */
  readonly since: string;
}

/** On a queue that a consumer works on. `overdue`: its next attempt should have been seen since. */
export interface InWork extends OnQueue {
  readonly state: 'waiting' | 'backing off' | 'overdue';
  /** Of the next attempt, where one has failed. */
  readonly nextAttemptAt?: string;
  /** Where the event is paused. */
  readonly paused?: PausedQueue;
}

/** On a queue that waits for somebody to look. */
export interface Kept extends OnQueue {
  readonly state: 'dead letter' | 'quarantined' | 'parked';
  /** When SQS deletes it. */
  readonly until?: string;
  /** Messages on that queue, about: with none it was deleted, or a redrive of it is not in the logs yet. */
  readonly queueHolds?: number;
}

export type Whereabouts =
  | { readonly state: 'done'; readonly outcome: EffectOutcome; readonly since: string }
  /** The partner repeats it. */
  | { readonly state: 'not accepted'; readonly status: 401 | 500; readonly since: string }
  | InWork
  | Kept
  /** Too little is left of it in logs and archive. */
  | { readonly state: 'unknown' };

/** What was looked through. */
export interface Sources {
  readonly logs: LogsSearched;
  /** Absent where it was not needed: nothing was settled that could be in it. */
  readonly archive?: ArchiveSearched;
}

export interface LogsSearched {
  /** ISO 8601, as `until`. */
  readonly since: string;
  readonly until: string;
  readonly lines: number;
  readonly bytesScanned: number;
  /** More lines than were read: some of the timeline is missing. */
  readonly truncated: boolean;
}

/**
 * `none`: the stage keeps no archive. `early`: what was settled last is not readable yet. `refused`: whoever asks may
 * not read it.
 */
export interface ArchiveSearched {
  readonly state: 'searched' | 'early' | 'none' | 'refused';
  /** Of `refused`: the error's name. */
  readonly reason?: string;
  readonly objects: number;
  readonly records: number;
  /** Keys of objects that could not be read to their end, each with its fault. */
  readonly damaged: readonly string[];
}
