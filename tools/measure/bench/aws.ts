import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { SECRET } from './delivery.ts';

/** A connection to a service, or a request. */
export interface Seen {
  readonly what: 'connected' | 'asked';
  readonly service: 'Secrets Manager' | 'SQS';
  readonly operation?: string;
  /** The version of the secret that was requested. */
  readonly stage?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Fake Secrets Manager and SQS, as fast as possible, because their callers are measured. */
export interface Aws extends AsyncDisposable {
  /** For a function's environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly queueUrl: string;
  /** Connections and requests since the last call. */
  seen(): Seen[];
}

interface AwsOptions {
  /** @default plain HTTP */
  readonly certificate?: Certificate;
  /** Network delay in milliseconds, each way. @default none */
  readonly delay?: number;
  /** When the current secret was created, in milliseconds since the epoch. @default 0 */
  readonly rotatedAt?: number;
}

export async function startAws({ certificate, delay, rotatedAt = 0 }: AwsOptions = {}): Promise<Aws> {
  const closing = new AsyncDisposableStack();
  let events: Seen[] = [];
  const start = async (service: Seen['service']) => {
    const see = (seen: Omit<Seen, 'service' | 'at'>) => {
      events.push({ ...seen, service, at: performance.timeOrigin + performance.now() });
    };
    const listener: RequestListener = async (request, response) => {
      const operation = operationOf(request);
      const input = JSON.parse(await text(request));
      see({ what: 'asked', operation, stage: input.VersionStage });
      const { status, body } = answer(operation, input, rotatedAt);
      response.writeHead(status, {
        'content-type': 'application/x-amz-json-1.1',
        'content-length': Buffer.byteLength(body),
        'x-amzn-requestid': randomUUID(),
        // AWS closes the connection after an error.
        ...(status !== 200 && { connection: 'close' }),
      });
      response.end(body);
    };
    const server: Server = certificate
      ? createSecureServer({ cert: certificate.cert, key: certificate.key }, listener)
      : createServer(listener);
    server.keepAliveTimeout = 0;
    server.on('secureConnection', () => see({ what: 'connected' }));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closing.defer(async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    });
    let { port } = server.address() as AddressInfo;
    if (delay !== undefined) {
      port = closing.use(await distant({ delay, port })).port;
    }
    const url = certificate ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
    return url;
  };
  const [secrets, queues] = [await start('Secrets Manager'), await start('SQS')];
  return {
    environment: {
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets,
      AWS_ENDPOINT_URL_SQS: queues,
      ...(certificate && { NODE_EXTRA_CA_CERTS: certificate.file }),
    },
    queueUrl: `${queues}/000000000000/queue`,
    seen: () => {
      const seen = events;
      events = [];
      return seen;
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** The operation in `X-Amz-Target`: `SendMessage` for `AmazonSQS.SendMessage`. */
const operationOf = ({ headers }: IncomingMessage) => String(headers['x-amz-target']).split('.').at(-1) ?? '';

function answer(
  operation: string,
  input: { readonly MessageBody?: string; readonly VersionStage?: string },
  rotatedAt: number,
): { status: number; body: string } {
  if (operation === 'SendMessage') {
    const md5 = createHash('md5')
      .update(input.MessageBody ?? '')
      .digest('hex');
    return { status: 200, body: JSON.stringify({ MessageId: randomUUID(), MD5OfMessageBody: md5 }) };
  }
  if (operation === 'GetSecretValue' && input.VersionStage === 'AWSCURRENT') {
    return {
      status: 200,
      body: JSON.stringify({ SecretString: SECRET, CreatedDate: rotatedAt / 1000, Name: 'secret' }),
    };
  }
  return { status: 400, body: JSON.stringify({ __type: 'ResourceNotFoundException', Message: operation }) };
}

export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** The certificate's file, for `NODE_EXTRA_CA_CERTS`. */
  readonly file: string;
}

/**
 * Makes a certificate for `localhost`: RSA with 2,048 bits, like those of AWS endpoints.
 * @param folder where to write it
 * @throws Error if openssl is missing
 */
export async function makeCertificate(folder: string): Promise<Certificate> {
  const [file, keyFile] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  await promisify(execFile)('openssl', [
    ...'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost'.split(' '),
    ...['-addext', 'basicConstraints=critical,CA:FALSE', '-addext', 'subjectAltName=DNS:localhost'],
    ...['-keyout', keyFile, '-out', file],
  ]);
  return { cert: await readFile(file, 'utf8'), key: await readFile(keyFile, 'utf8'), file };
}

interface Distant extends AsyncDisposable {
  readonly port: number;
}

/**
 * A proxy that delays all bytes to and from a local server, and the opening of connections.
 * @param delay each way, in milliseconds
 */
async function distant({ delay, port }: { readonly delay: number; readonly port: number }): Promise<Distant> {
  const sockets = new Set<Socket>();
  const server = createTcpServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', noDelay: true });
    // One delay for SYN and one for SYN-ACK, before the client can send anything.
    const opened = performance.now() + 2 * delay;
    late(near, far, delay, opened);
    late(far, near, delay, opened);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    },
  };
}

/** Forwards bytes from one socket to another after a delay. Timers of equal length fire in order. */
function late(from: Socket, to: Socket, delay: number, opened: number): void {
  const later = (hand: () => void) => setTimeout(hand, Math.max(0, opened - performance.now()) + delay);
  from.on('data', (bytes) => later(() => to.write(bytes)));
  from.on('close', () => later(() => to.destroy()));
}
