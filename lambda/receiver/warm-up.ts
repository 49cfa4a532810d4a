/**
 * Maximum milliseconds that the warm-up adds to a start. It equals the timeout of a connection (`clientSettings`), and
 * leaves most of the 10 s that a start may take (Lambda developer guide, "Lambda execution environment lifecycle").
 */
export const WARM_UP_LIMIT = 1000;

/**
 * Does in parallel, while the function starts, what the first request would have to wait for. If a task fails, that
 * request does it itself. The module must await this: Lambda freezes a function when its module has loaded, even in the
 * middle of a handshake.
 */
export async function warmUp(...tasks: readonly ((signal: AbortSignal) => Promise<void>)[]): Promise<void> {
  const signal = AbortSignal.timeout(WARM_UP_LIMIT);
  await Promise.allSettled(tasks.map((task) => task(signal)));
}
