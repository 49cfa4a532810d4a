import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds. Far more than anything takes, for busy computers. */
const LIMIT_MS = 120_000;

/** Calls a function until it returns a value. @throws Error if it has not returned one in time */
export async function eventually<Answer>(ask: () => Promise<Answer | undefined>): Promise<Answer> {
  const start = Date.now();
  while (Date.now() < start + LIMIT_MS) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(25);
  }
  throw new Error(`No answer within ${LIMIT_MS} ms`);
}
