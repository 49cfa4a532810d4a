import type { IncomingMessage } from 'node:http';

/** @returns the console's address, or undefined while it has none */
export type ConsoleUrl = () => string | undefined;

/**
 * Where a browser that opens a port of the local stack is redirected: neither an API nor AWS has a page there.
 * @returns undefined for every other request, and if there is no console
 */
export function consoleRedirect(request: IncomingMessage, consoleUrl: ConsoleUrl): string | undefined {
  const { method, url, headers } = request;
  const opensPage = method === 'GET' && url === '/' && headers.accept?.includes('text/html');
  // S3's ListBuckets has the same address, and a signature.
  return opensPage && headers.authorization === undefined ? consoleUrl() : undefined;
}
