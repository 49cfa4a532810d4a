import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  /** How long to go on asking. @default 60,000: far beyond what it takes here, as machines are noisy */
  readonly limit?: number;
  /** Wait between two questions. @default 25 */
  readonly interval?: number;
}

/**
 * Asks again and again until there is an answer.
 * @param ask returns undefined as long as there is none
 * @param patience in milliseconds
 * @throws Error where there is none in time
 */
export async function eventually<Answer>(
  ask: () => Promise<Answer | undefined>,
  { limit = 60_000, interval = 25 }: Patience = {},
): Promise<Answer> {
  const deadline = Date.now() + limit;
  while (Date.now() < deadline) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(interval);
  }
  throw new Error(`No answer within ${limit} ms`);
}
