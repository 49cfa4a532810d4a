import type { IncomingMessage } from 'node:http';

/** @returns the address of the console, or undefined while there is no console */
export type ConsoleUrl = () => string | undefined;

/**
 * Redirects a browser that opens a port of the local stack to the console, because neither the webhook nor
 * AWS has a page.
 * @returns the console's address; undefined for any other request, and if there is no console
 */
export function consoleRedirect(request: IncomingMessage, consoleUrl: ConsoleUrl): string | undefined {
  const { method, url, headers } = request;
  const opensPage = method === 'GET' && url === '/' && headers.accept?.includes('text/html');
  // S3's ListBuckets has the same method and path, but it is signed.
  return opensPage && headers.authorization === undefined ? consoleUrl() : undefined;
}
