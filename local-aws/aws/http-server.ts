import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { AwsResponse } from './response.ts';

/** Maximum bytes of a request: DynamoDB's limit. Only S3 accepts more. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * Milliseconds for which idle connections stay open. Clients close their connections earlier, so no client sends a
 * request on a connection that the server is closing.
 */
export const KEEP_ALIVE_MS = 120_000;

/**
 * Reads a request's body.
 * @returns undefined as soon as the body exceeds `limitBytes`. The rest is read and dropped, so that the
 * client gets an answer instead of a reset connection
 * @throws Error if the client disconnects
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = () => {
      chunks.length = 0;
      request.off('data', collect);
      request.resume();
      resolve(undefined);
    };
    const collect = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) return refuse();
      chunks.push(chunk);
    };
    request.on('error', reject);
    request.on('end', () => resolve(Buffer.concat(chunks)));
    if (Number(request.headers['content-length'] ?? 0) > limitBytes) return refuse();
    request.on('data', collect);
  });
}

/** @param stalledUntil sends only the headers, and breaks the connection at this signal. @default sends the body */
export function write(
  outgoing: ServerResponse,
  { status, headers, body }: AwsResponse,
  stalledUntil?: AbortSignal,
): void {
  outgoing.statusCode = status;
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
  if (!outgoing.hasHeader('x-amzn-RequestId')) outgoing.setHeader('x-amzn-RequestId', randomUUID());
  if (stalledUntil !== undefined) {
    outgoing.removeHeader('content-length');
    outgoing.flushHeaders();
    if (stalledUntil.aborted) outgoing.destroy();
    else stalledUntil.addEventListener('abort', () => outgoing.destroy(), { once: true });
    return;
  }
  // The answer to HEAD has no body, but it has the length of the object.
  if (!(outgoing.req.method === 'HEAD' && outgoing.hasHeader('content-length'))) {
    outgoing.setHeader('content-length', Buffer.byteLength(body));
  }
  outgoing.end(body);
}

/** The path of a URL, with its percent-encoding. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '/';
}

export function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.slice(pathOf(url).length));
}

/** The name by which a Docker container reaches its host. Source: Docker documentation, "Networking". */
const HOST_OF_CONTAINERS = 'host.docker.internal';

/**
 * Whether a `Host` header names this machine in a way that only this machine or its containers use. A web page may
 * resolve its own name to 127.0.0.1 (DNS rebinding), and could then read answers, with the secret in them, as its own
 * origin. DNS rebinding is impossible with an IP address, and with names that no DNS resolves: `localhost` and its
 * subdomains (RFC 6761), which S3 uses for buckets, and `.internal` (reserved by ICANN).
 */
export function isOwnHost(host: string | undefined): boolean {
  const name = (host ?? '').toLowerCase().replace(/:\d+$/, '');
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === HOST_OF_CONTAINERS ||
    isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
  );
}
