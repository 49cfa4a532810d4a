import * as z from 'zod/mini';

/**
 * What a replay does to state. `fill`: as if the partner had delivered again, so what is up to date stays.
 * `repair`: what the newest event wrote is rewritten, so that a wrong row becomes right.
 */
export const replayModes = ['fill', 'repair'] as const;

export type ReplayMode = (typeof replayModes)[number];

/**
 * How far back a replay may reach, in days since a message was settled. Tombstones and records of notifications keep the
 * past from coming back, for 90 days from a receipt. Within these, an event waits 7 days on its queue and 14 on the
 * dead-letter queue at most until it is settled, then these 60, and the replay's message waits 7 on the queue: 88. Two
 * days are left for an event that we received after the deletion it came before. A redrive settles an event later, so
 * {@link REPLAYABLE_RECEIPT_DAYS} limits it, too.
 */
export const REPLAYABLE_DAYS = 60;

/**
 * How long ago the message of a replay may have been received, in days, whenever it was settled: each redrive adds up to
 * 21 days. It is the 90 of tombstones and notifications, less the 7 that the replay's message may wait on the queue.
 */
export const REPLAYABLE_RECEIPT_DAYS = 90 - 7;

/** The replay that a message comes from; its attribute `replay` is this as JSON. */
export interface Replay {
  readonly name: string;
  readonly mode: ReplayMode;
  /** Whether people are notified again, once for each name. */
  readonly notify: boolean;
}

/** Names of replays: they are part of keys in S3 and DynamoDB, of file names and command lines. */
export const REPLAY_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** A replay in an attribute, and in a record of the archive. */
export const replaySchema = z.object({
  name: z.string().check(z.regex(REPLAY_NAME)),
  mode: z.enum(replayModes),
  notify: z.boolean(),
});

/** Whether what an event wrote is rewritten. A delivery (undefined) never does. */
export const isRepair = (replay: Replay | undefined): boolean => replay?.mode === 'repair';

/** Reads the attribute. @returns undefined if it is not one that a replay writes */
export function parseReplay(text: string): Replay | undefined {
  try {
    return replaySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
