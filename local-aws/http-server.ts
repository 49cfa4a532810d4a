import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Milliseconds for which idle connections stay open. Clients close their connections earlier, so no client sends a
 * request on a connection that the server is closing.
 */
export const KEEP_ALIVE_MS = 120_000;

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

async function listenOn(server: Server, port: number, host: string): Promise<Server> {
  await once(server.listen({ port, host }), 'listening');
  return server;
}

function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/**
 * Reads a request's body.
 * @returns undefined as soon as the body exceeds `limitBytes`. The rest is read and dropped, so that the
 * client gets an answer instead of a reset connection
 * @throws Error if the client disconnects
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const declared = Number(request.headers['content-length'] ?? 0);
    let size = declared > limitBytes ? declared : 0;
    if (declared > limitBytes) resolve(undefined);
    request.on('error', reject);
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limitBytes) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      resolve(undefined);
    });
  });
}

export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** Path of the certificate's file, for `NODE_EXTRA_CA_CERTS`. */
  readonly file: string;
}

/**
 * Makes a certificate for `localhost`: RSA with 2,048 bits, as AWS endpoints have.
 * @param folder to write the certificate to
 * @param names of the servers, in the form of openssl
 * @throws Error if openssl is missing
 */
export async function makeCertificate(folder: string, names = 'DNS:localhost'): Promise<Certificate> {
  const [file, keyFile] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  await promisify(execFile)('openssl', [
    ...'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost'.split(' '),
    ...['-addext', 'basicConstraints=critical,CA:FALSE', '-addext', `subjectAltName=${names}`],
    ...['-keyout', keyFile, '-out', file],
  ]);
  return { cert: await readFile(file, 'utf8'), key: await readFile(keyFile, 'utf8'), file };
}
