import * as z from 'zod/mini';

/**
 * What a replay does to state. `fill`: as if the partner had delivered again, so what is up to date stays.
 * `repair`: what the newest event wrote is written anew, so that a wrong row becomes right.
 */
export const replayModes = ['fill', 'repair'] as const;

export type ReplayMode = (typeof replayModes)[number];

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

/** Reads the attribute. @returns undefined where it is not one that a replay writes */
export function parseReplay(text: string): Replay | undefined {
  try {
    return replaySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
