import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import type { AwsResponse } from './response.ts';

/** DynamoDB's limit in bytes, and more than any other service takes in one request but S3. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Longer than clients keep an idle connection, so that none finds its connection closed under it. */
const KEEP_ALIVE_MS = 120_000;

/**
 * Listens on the host, or on both loopback addresses: `localhost` is either one, as the machine has it, and
 * some clients try only one.
 */
export async function listen(
  onRequest: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
  port: number,
  host: string | undefined,
): Promise<Server[]> {
  const first = await listenOn(onRequest, port, host ?? '127.0.0.1');
  if (host !== undefined) return [first];
  try {
    return [first, await listenOn(onRequest, portOf(first), '::1')];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Any free port of IPv4 may be taken in IPv6, which then is none of ours; a chosen one is.
    if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' || port === 0) return [first];
    first.close();
    throw error;
  }
}

async function listenOn(
  onRequest: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
  port: number,
  host: string,
): Promise<Server> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, onRequest);
  server.listen({ port, host, ipv6Only: isIPv6(host) });
  await once(server, 'listening');
  return server;
}

export function portOf(server: Server | undefined): number {
  const address = server?.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** @returns undefined where the body is larger than any that is taken */
export async function bodyOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

export function write(outgoing: ServerResponse, { status, headers, body }: AwsResponse): void {
  outgoing.statusCode = status;
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
  if (!outgoing.hasHeader('x-amzn-RequestId')) outgoing.setHeader('x-amzn-RequestId', randomUUID());
  // The answer to HEAD has no body, but the length of the object that it would have had.
  if (!(outgoing.req.method === 'HEAD' && outgoing.hasHeader('content-length'))) {
    outgoing.setHeader('content-length', Buffer.byteLength(body));
  }
  outgoing.end(body);
}
