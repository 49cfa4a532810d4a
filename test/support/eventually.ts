import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  /** Timeout in milliseconds. @default 120,000: far more than anything takes, for busy computers */
  readonly limit?: number;
  /** Milliseconds between two tries. @default an eighth of the time waited so far, at least 25 */
  readonly interval?: number;
}

const SHORTEST_INTERVAL = 25;

/**
 * Calls a function repeatedly until it returns a value.
 * @param ask returns undefined if there is no value yet
 * @param patience in milliseconds
 * @throws Error if it has not returned a value in time
 */
export async function eventually<Answer>(
  ask: () => Promise<Answer | undefined>,
  { limit = 120_000, interval }: Patience = {},
): Promise<Answer> {
  const start = Date.now();
  while (Date.now() < start + limit) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(interval ?? Math.max(SHORTEST_INTERVAL, (Date.now() - start) / 8));
  }
  throw new Error(`No answer within ${limit} ms`);
}
