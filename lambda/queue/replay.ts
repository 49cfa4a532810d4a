import * as z from 'zod/mini';

/**
 * What a replay does to state. `fill`: as if the partner had delivered again, so what is up to date stays.
 * `repair`: what the newest event wrote is written anew, so that a wrong row becomes right.
 */
export const replayModes = ['fill', 'repair'] as const;

export type ReplayMode = (typeof replayModes)[number];

/**
 * How far back a replay may reach, in days since a message was settled. What keeps the past from coming back lives
 * 90 days from a receipt: a tombstone, without which an older girl.created would add a deleted member again, and the
 * note of a notification, without which people would be told again. Within that must fall, from an event's receipt on,
 * its 7 days on its queue and 14 on the dead-letter queue at most until it was settled, these 60, and the 7 that the
 * message of the replay may wait on the queue: 88. The other two are for an event that we received after the deletion
 * it came before. What was redriven may have been settled later: {@link REPLAYABLE_RECEIPT_DAYS} holds for it, too.
 */
export const REPLAYABLE_DAYS = 60;

/**
 * How long ago the message of a replay may have been received, in days, whenever it was settled: each redrive of a dead
 * letter adds up to 7 days on the queue and 14 on the dead-letter queue. It is the 90 of tombstones and notes, less the 7
 * that the message of the replay may wait on the queue.
 */
export const REPLAYABLE_RECEIPT_DAYS = 90 - 7;

/** The replay that a message comes from; its attribute `replay` is this as JSON. */
export interface Replay {
  readonly name: string;
  readonly mode: ReplayMode;
  /** Whether people are told again of what they were told before: once for each name. */
  readonly notify: boolean;
}

/** Names of replays: they stand in keys of S3 and DynamoDB, in file names and on command lines. */
export const REPLAY_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** A replay in an attribute, and in a record of the archive. */
export const replaySchema = z.object({
  name: z.string().check(z.regex(REPLAY_NAME)),
  mode: z.enum(replayModes),
  notify: z.boolean(),
});

/** Whether what an event wrote is to be written anew. A delivery (undefined) never does. */
export const isRepair = (replay: Replay | undefined): boolean => replay?.mode === 'repair';

/** Reads the attribute. @returns undefined where it is not one that a replay writes */
export function parseReplay(text: string): Replay | undefined {
  try {
    return replaySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
