/**
 * How much longer a start takes at most for work ahead of the first request, in milliseconds. It is what a connection gets
 * (`clientSettings`), and leaves most of the 10 s that a start may take (Lambda developer guide, "Lambda execution
 * environment lifecycle").
 */
export const AHEAD_LIMIT = 1000;

/**
 * Does what a request would have to wait for while the function starts, side by side. Whatever fails is left to the first
 * request, which does it as if it had never been tried.
 *
 * To be awaited by the module: Lambda freezes a function once its module has loaded, in the middle of a handshake. Of a
 * start on demand the request is waiting already, and of one ahead of time nobody is.
 */
export async function ahead(...works: readonly ((signal: AbortSignal) => Promise<void>)[]): Promise<void> {
  const signal = AbortSignal.timeout(AHEAD_LIMIT);
  await Promise.allSettled(works.map((work) => work(signal)));
}
