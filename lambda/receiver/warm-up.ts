import { WARM_UP_LIMIT } from '../limits.ts';

/**
 * Does in parallel, while the function starts, what the first request would have to wait for. If a task fails, that
 * request does the work itself. The module must await the tasks: Lambda freezes a function when its module has loaded,
 * even in the middle of a handshake.
 */
export async function warmUp(...tasks: readonly ((signal: AbortSignal) => Promise<void>)[]): Promise<void> {
  const signal = AbortSignal.timeout(WARM_UP_LIMIT);
  await Promise.allSettled(tasks.map((task) => task(signal)));
}
