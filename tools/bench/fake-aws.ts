import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Certificate } from 'local-aws/http-server';

/**
 * Starts a fake Secrets Manager and SQS, as fast as possible, because their callers are measured.
 * @param network the certificate for TLS, and a delay in milliseconds, each way. @default plain HTTP without a delay
 */
export async function startFakeAws(secret: string, network?: { certificate: Certificate; delay: number }) {
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
  const server = network ? createSecureServer(network.certificate, listener) : createServer(listener);
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const proxy = network && (await startProxy(port, network.delay));
  const url = proxy ? `https://localhost:${proxy.port}` : `http://127.0.0.1:${port}`;
  return {
    /** Variables that make a function's AWS clients use this fake. */
    environment: {
      AWS_ENDPOINT_URL: url,
      ...(network && { NODE_EXTRA_CA_CERTS: network.certificate.file }),
    },
    queueUrl: `${url}/000000000000/queue`,
    [Symbol.asyncDispose]: async () => {
      await proxy?.close();
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

/**
 * The body of the answer to a call.
 * @returns undefined for an error
 */
function answer(operation: string, input: Record<string, string>, secret: string) {
  const { MessageBody = '', VersionStage } = input;
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
    close: async () => {
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
