import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Maximum attempts to find a port that is free on both loopback addresses, for port 0. */
const MAX_PORT_ATTEMPTS = 5;

/**
 * Starts listening, by default on both loopback addresses: a client of `localhost` may try ::1 first, and
 * would reach any other server there.
 * @param port 0 for any free port
 * @param host to listen on this address only
 * @returns one server for each address, all on the same port
 * @throws Error of Node.js, such as EADDRINUSE if an address is in use
 */
export async function listen(
  serverOptions: ServerOptions,
  onRequest: RequestListener,
  { port, host }: { port: number; host?: string | undefined },
): Promise<{ servers: Server[]; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const first = await listenOn(createServer(serverOptions, onRequest), port, host ?? '127.0.0.1');
    const actualPort = (first.address() as AddressInfo).port;
    if (host !== undefined) return { servers: [first], port: actualPort };
    try {
      const second = await listenOn(createServer(serverOptions, onRequest), actualPort, '::1');
      return { servers: [first, second], port: actualPort };
    } catch (error) {
      if (isCode(error, 'EADDRNOTAVAIL', 'EAFNOSUPPORT')) return { servers: [first], port: actualPort };
      await new Promise((resolve) => first.close(resolve));
      if (port !== 0 || attempt === MAX_PORT_ATTEMPTS || !isCode(error, 'EADDRINUSE')) throw error;
    }
  }
}

function listenOn(server: Server, port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, () => {
      server.off('error', reject);
      resolve(server);
    });
  });
}

function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
