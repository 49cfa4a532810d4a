import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  /** Timeout in milliseconds. @default 120,000: far more than anything takes, for busy computers */
  readonly limit?: number;
  /** Milliseconds between two tries. @default 25 */
  readonly interval?: number;
}

/**
 * Calls a function repeatedly until it returns a value.
 * @param ask returns undefined if there is no value yet
 * @param patience in milliseconds
 * @throws Error if it has not returned a value in time
 */
export async function eventually<Answer>(
  ask: () => Promise<Answer | undefined>,
  { limit = 120_000, interval = 25 }: Patience = {},
): Promise<Answer> {
  const deadline = Date.now() + limit;
  while (Date.now() < deadline) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(interval);
  }
  throw new Error(`No answer within ${limit} ms`);
}
