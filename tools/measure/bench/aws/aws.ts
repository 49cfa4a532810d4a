import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SECRET } from '../delivery.ts';
import type { Certificate } from './certificate.ts';
import { at, type Distant } from './distance.ts';

/** Something that a service saw, in milliseconds since the epoch. */
export interface Seen {
  readonly what: 'connected' | 'asked';
  readonly service: 'Secrets Manager' | 'SQS';
  /** Of what was asked. */
  readonly operation?: string;
  /** The version of the secret that was asked for. */
  readonly stage?: string | undefined;
  readonly at: number;
}

/** Secrets Manager and SQS, no slower than they have to be: what is measured is who calls them. */
export interface Aws extends AsyncDisposable {
  /** For a function's environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly queueUrl: string;
  /** What was seen since the last time that somebody asked. */
  seen(): Seen[];
}

export interface AwsOptions {
  /** @default plain HTTP */
  readonly certificate?: Certificate;
  /** Milliseconds that everything takes, each way. @default none */
  readonly delay?: number;
  /** Milliseconds since the epoch of the current secret's making. @default long ago */
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
        // As AWS does with its errors.
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
      const distant: Distant = closing.use(await at({ delay, port }));
      port = distant.port;
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

/** `SendMessage` of `AmazonSQS.SendMessage`. */
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
