import * as z from 'zod/mini';

/**
 * How a replay treats stored state. `fill`: as if the partner had delivered again, so current items stay. `repair`: the
 * newest event is written again, which fixes wrong items.
 */
export const replayModes = ['fill', 'repair'] as const;

export type ReplayMode = (typeof replayModes)[number];

/**
 * How far back a replay may reach, in days since a message was settled. Tombstones and notification records last 90
 * days from the receipt. In that time, an event may be 7 days on its queue and 14 on the dead-letter queue until it is
 * settled. Then follow these 60 days, and 7 days of the replay's message on the queue: 88. Two days are left for an
 * event that we received after the deletion that it preceded. A redrive settles an event later, so {@link
 * REPLAYABLE_RECEIPT_DAYS} applies too.
 */
export const REPLAYABLE_DAYS = 60;

/**
 * How long ago the message of a replay may have been received, in days, regardless of when it was settled: each redrive
 * adds up to 21 days. It is the 90 days of tombstones and notification records, minus 7 for the replay's message on the
 * queue.
 */
export const REPLAYABLE_RECEIPT_DAYS = 90 - 7;

/** The replay that sent a message. The attribute `replay` has it as JSON. */
export interface Replay {
  readonly name: string;
  readonly mode: ReplayMode;
  /** Whether people are notified again, once for each name. */
  readonly notify: boolean;
}

/** Valid names of replays. They are part of keys in S3 and DynamoDB, of file names and of command lines. */
export const REPLAY_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** A replay in an attribute, and in a record of the archive. */
export const replaySchema = z.object({
  name: z.string().check(z.regex(REPLAY_NAME)),
  mode: z.enum(replayModes),
  notify: z.boolean(),
});

/** Whether an event overwrites its own earlier write. A delivery (undefined) never does. */
export const isRepair = (replay: Replay | undefined): boolean => replay?.mode === 'repair';

/** @returns undefined if the attribute was not written by a replay */
export function parseReplay(text: string): Replay | undefined {
  try {
    return replaySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
