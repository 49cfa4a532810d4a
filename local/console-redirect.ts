import type { IncomingMessage } from 'node:http';

/** @returns the console's address, or undefined while there is none */
export type ConsoleUrl = () => string | undefined;

/**
 * Where a browser is to be led that opens a port of the local stack: neither an API nor AWS has a page there.
 * @returns undefined for every other request, and while there is no console
 */
export function consoleRedirect(request: IncomingMessage, consoleUrl: ConsoleUrl): string | undefined {
  const { method, url, headers } = request;
  const opensPage = method === 'GET' && url === '/' && headers.accept?.includes('text/html');
  // S3's list of buckets is asked for at the same address, with a signature.
  return opensPage && headers.authorization === undefined ? consoleUrl() : undefined;
}
