import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Certificate } from 'local-aws/gateway';

/** Fake Secrets Manager and SQS, as fast as possible, because their callers are measured. */
interface FakeAws extends AsyncDisposable {
  /** Variables that make a function's AWS clients use this fake. */
  readonly environment: Readonly<Record<string, string>>;
  readonly queueUrl: string;
}

interface FakeAwsOptions {
  /** The current version of each secret. There is no previous one. */
  readonly secret: string;
  /** @default plain HTTP */
  readonly certificate?: Certificate;
  /** Network delay in milliseconds, each way. @default none */
  readonly delay?: number;
}

export async function startFakeAws({ secret, certificate, delay }: FakeAwsOptions): Promise<FakeAws> {
  const closing = new AsyncDisposableStack();
  const listener: RequestListener = async (request, response) => {
    // `AmazonSQS.SendMessage`
    const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const body = answer(operation, JSON.parse(await text(request)), secret);
    response.writeHead(body === undefined ? 400 : 200, {
      'content-type': 'application/x-amz-json-1.1',
      'x-amzn-requestid': randomUUID(),
      // Closes the connection after an error, as AWS does.
      ...(body === undefined && { connection: 'close' }),
    });
    response.end(JSON.stringify(body ?? { __type: 'ResourceNotFoundException', Message: operation }));
  };
  const start = async () => {
    const server = certificate ? createSecureServer(certificate, listener) : createServer(listener);
    server.keepAliveTimeout = 0;
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closing.defer(async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    });
    const { port } = server.address() as AddressInfo;
    const reached = delay === undefined ? port : closing.use(await startProxy(port, delay)).port;
    return certificate ? `https://localhost:${reached}` : `http://127.0.0.1:${reached}`;
  };
  const [secrets, queues] = [await start(), await start()];
  return {
    environment: {
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets,
      AWS_ENDPOINT_URL_SQS: queues,
      ...(certificate && { NODE_EXTRA_CA_CERTS: certificate.file }),
    },
    queueUrl: `${queues}/000000000000/queue`,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

interface AwsInput {
  readonly MessageBody?: string;
  readonly VersionStage?: string;
}

/**
 * The body of the answer to a call.
 * @returns undefined for an error
 */
function answer(operation: string, { MessageBody = '', VersionStage }: AwsInput, secret: string) {
  if (operation === 'SendMessage') {
    const MD5OfMessageBody = createHash('md5').update(MessageBody).digest('hex');
    return { MessageId: randomUUID(), MD5OfMessageBody };
  }
  if (operation !== 'GetSecretValue' || VersionStage === 'AWSPREVIOUS') return undefined;
  return { SecretString: secret, CreatedDate: 0, Name: 'secret' };
}

/**
 * A proxy that delays all bytes to and from a local server, and the opening of connections.
 * @param delay each way, in milliseconds
 */
async function startProxy(port: number, delay: number) {
  const sockets = new Set<Socket>();
  const server = createTcpServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', noDelay: true });
    // Two delays, for the packets SYN and SYN-ACK, before the client can send anything.
    const opened = performance.now() + 2 * delay;
    forwardLate(near, far, delay, opened);
    forwardLate(far, near, delay, opened);
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
function forwardLate(from: Socket, to: Socket, delay: number, opened: number): void {
  const later = (hand: () => void) => setTimeout(hand, Math.max(0, opened - performance.now()) + delay);
  from.on('data', (bytes) => later(() => to.write(bytes)));
  from.on('close', () => later(() => to.destroy()));
}
