import * as v from 'valibot';

/**
 * How a replay treats stored state. `fill`: as if the partner had delivered again, so current items stay. `repair`: the
 * newest event is written again, which fixes wrong items.
 */
export const replayModes = ['fill', 'repair'] as const;

export type ReplayMode = (typeof replayModes)[number];

/** The replay that sent a message. The attribute `replay` has it as JSON. */
export interface Replay {
  readonly name: string;
  readonly mode: ReplayMode;
  /** Whether people are notified again: once for each name of a replay. */
  readonly notify: boolean;
}

/** Valid names of replays. They are part of keys in S3 and DynamoDB, of file names and of command lines. */
export const REPLAY_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** A replay in an attribute, and in a record of the archive. */
export const replaySchema = v.object({
  name: v.pipe(v.string(), v.regex(REPLAY_NAME)),
  mode: v.picklist(replayModes),
  notify: v.boolean(),
});

/** Whether an event overwrites its own earlier write. A delivery (undefined) never does. */
export const isRepair = (replay: Replay | undefined): boolean => replay?.mode === 'repair';

/** @returns undefined if the attribute was not written by a replay */
export function parseReplay(text: string): Replay | undefined {
  try {
    return v.parse(replaySchema, JSON.parse(text));
  } catch {
    return undefined;
  }
}
