/** Of the first attempt to connect again. */
const FIRST_WAIT_MS = 250;

/** A server that starts again is seen within this time, and one that is away is asked seldom enough. */
const LONGEST_WAIT_MS = 5_000;

/** How long to wait before the nth attempt in a row to connect again, from 1. */
export function waitBefore(attempt: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
}
