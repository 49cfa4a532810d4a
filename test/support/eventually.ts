import { setTimeout as sleep } from 'node:timers/promises';

/** How long an effect may take to be seen, in milliseconds: far beyond what it takes, as machines are noisy. */
const LIMIT = 15_000;

/**
 * Asks again and again until there is an answer.
 * @param ask returns undefined as long as there is none
 * @param limit in milliseconds
 * @throws Error where there is none in time
 */
export async function eventually<Answer>(
  ask: () => Promise<Answer | undefined>,
  limit = LIMIT,
): Promise<Answer> {
  const deadline = Date.now() + limit;
  while (Date.now() < deadline) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(25);
  }
  throw new Error(`No answer within ${limit} ms`);
}
