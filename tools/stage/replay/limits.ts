/** Messages a second of a replay: default and maximum. The page of the console imports this file. */
export const DEFAULT_RATE = 100;
export const MAX_RATE = 10_000;

/** The pattern REPLAY_NAME in words. */
export const NAME_RULE =
  'It must be 1 to 63 lower-case letters, digits and hyphens, and not begin with a hyphen.';
