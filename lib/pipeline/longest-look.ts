/** Seconds for which `npm run dlq` hides the messages of a queue at most, while it looks at them or after it was killed. */
export const LONGEST_LOOK_SECONDS = 15 * 60;
