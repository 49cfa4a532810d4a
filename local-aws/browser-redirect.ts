import type { IncomingMessage } from 'node:http';

/** @returns the address of a page about the stack; undefined without such a page */
export type BrowserUrl = () => string | undefined;

/**
 * Redirects a browser that opens a port of the local stack, because neither the API nor AWS has a page.
 * @returns the address of the page; undefined for any other request, and if there is no page
 */
export function browserRedirect(request: IncomingMessage, browserUrl: BrowserUrl): string | undefined {
  const { method, url, headers } = request;
  const opensPage = method === 'GET' && url === '/' && headers.accept?.includes('text/html');
  // S3's ListBuckets has the same method and path, but it is signed.
  return opensPage && headers.authorization === undefined ? browserUrl() : undefined;
}
