import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Certificate, makeCertificate } from 'local-aws/http-server';
import { clientSettings, connections as functionConnections } from '../../lambda/aws-clients.ts';
import { ConnectionHandler, Connections } from '../../lambda/connections.ts';
import { describeError, isOutage } from '../../lambda/errors.ts';

const folder = mkdtempSync(join(tmpdir(), 'connections-'));
const trusted = getCACertificates('default');
const never = new AbortController().signal;

let certificate: Certificate;
let server: Server;
let url: string;
let connections: number;
/** Number of requests whose connection is broken. */
let breaking: number;
/** Writes an answer that is not the usual one; undefined for the usual one. */
let answer: ((response: ServerResponse) => void) | undefined;
/** All connections so far, and those that a gateway has dropped: it resets them at the next request. */
let open: Set<Socket>;
let dropped: Set<Socket>;
let pool: Connections;
let sqs: SQSClient;
let secrets: SecretsManagerClient;
beforeAll(async () => {
  certificate = await makeCertificate(folder);
  setDefaultCACertificates([...trusted, certificate.cert]);
});
beforeEach(async () => {
  connections = 0;
  breaking = 0;
  answer = undefined;
  open = new Set();
  dropped = new Set();
  server = createServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
    if (dropped.has(request.socket)) request.socket.destroy();
    else if (breaking > 0) {
      breaking -= 1;
      request.socket.destroy();
    } else if (answer) answer(response);
    else response.end('{"MessageId":"1","MD5OfMessageBody":"0cc175b9c0f1b6a831c399e269772661"}');
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.on('secureConnection', (socket: TLSSocket) => open.add(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `https://localhost:${(server.address() as AddressInfo).port}`;
  pool = new Connections();
  sqs = new SQSClient(settings(10_000));
  secrets = new SecretsManagerClient(settings(10_000));
});
afterEach(async () => {
  pool.destroy();
  jest.restoreAllMocks();
  server.closeAllConnections();
  await once(server.close(), 'close');
});
afterAll(() => {
  setDefaultCACertificates(trusted);
  rmSync(folder, { recursive: true });
});

const settings = (requestTimeout: number) => ({
  ...clientSettings,
  endpoint: url,
  forcePathStyle: true,
  region: 'us-east-1',
  credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  requestHandler: new ConnectionHandler(pool, { connectionTimeout: 1_000, requestTimeout }),
});

/** Opens the connection, and waits until the server has accepted it. */
async function prepare(): Promise<TLSSocket> {
  const [[socket]] = await Promise.all([once(server, 'secureConnection'), pool.prepare(url, never)]);
  return socket;
}

const send = () => sqs.send(new SendMessageCommand({ QueueUrl: `${url}/0/queue`, MessageBody: 'a' }));
const readSecret = () => secrets.send(new GetSecretValueCommand({ SecretId: 'secret' }));

/** Sends requests of both clients in parallel, each on a connection of its own, which then is idle. */
const sendBatch = () => Promise.all([readSecret(), ...Array.from({ length: 10 }, send)]);

describe('after a freeze in which the peer dropped all connections', () => {
  let clock: jest.SpiedFunction<typeof Date.now>;
  beforeEach(() => {
    clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
  });

  function freeze(milliseconds: number): void {
    dropped = new Set(open);
    clock.mockReturnValue(Date.now() + milliseconds);
  }

  test('each call of each client succeeds at its first attempt', async () => {
    await sendBatch();
    freeze(60_000);
    for (const { $metadata } of await sendBatch()) expect($metadata.attempts).toBe(1);
    expect(connections).toBe(22);
  });

  test('the prepared connection is not used', async () => {
    await prepare();
    freeze(60_000);
    expect((await send()).$metadata.attempts).toBe(1);
    expect(connections).toBe(2);
  });

  test('that was too short to be noticed, a call fails once at most, and the others do not', async () => {
    await sendBatch();
    freeze(59_999);
    expect((await send()).$metadata.attempts).toBe(2);
    for (const { $metadata } of await sendBatch()) expect($metadata.attempts).toBe(1);
  });
});

test('the prepared connection serves the first request, and later ones', async () => {
  await prepare();
  expect(connections).toBe(1);
  for (let request = 0; request < 3; request += 1) await send();
  expect(connections).toBe(1);
});

test('a request whose connection is broken, prepared or kept alive, is sent once more', async () => {
  await prepare();
  for (const expected of [2, 3]) {
    breaking = 1;
    expect((await send()).$metadata.attempts).toBe(2);
    expect(connections).toBe(expected);
  }
});

describe('a response that stalls', () => {
  const SHORT = 200;
  const calls = {
    'SQS SendMessage': () =>
      new SQSClient(settings(SHORT)).send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'a' })),
    'S3 PutObject': () =>
      new S3Client(settings(SHORT)).send(new PutObjectCommand({ Bucket: 'b', Key: 'k', Body: 'a' })),
  };

  test.each([200, 503])(
    'after the headers with %i makes every call fail at its second attempt',
    async (status) => {
      answer = (response) => response.writeHead(status, { 'content-length': '9' }).write('{');
      await Promise.all(
        Object.entries(calls).map(async ([call, send]) => {
          const error = await send().then(fail, (reason: unknown) => reason);
          const expected = { call, error: 'no answer in time', sdkAttempts: 2 };
          expect(describeError(error)).toMatchObject(expected);
          expect(isOutage(error)).toBe(true);
        }),
      );
    },
  );

  test('makes reading an object fail', async () => {
    answer = (response) => response.writeHead(200, { 'content-length': '9' }).write('a');
    const object = new GetObjectCommand({ Bucket: 'b', Key: 'k' });
    const { Body } = await new S3Client(settings(SHORT)).send(object);
    const error = await Body?.transformToByteArray().then(fail, (reason: unknown) => reason);
    expect(describeError(error)).toMatchObject({ error: 'no answer in time' });
  });

  test('slowly, byte by byte, makes the call fail', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-length': '900' });
      const writing = setInterval(() => response.write(' '), SHORT / 20);
      response.on('close', () => clearInterval(writing));
    };
    const error = await calls['SQS SendMessage']().then(fail, (reason: unknown) => reason);
    expect(describeError(error)).toMatchObject({ error: 'no answer in time', sdkAttempts: 2 });
  });

  const fail = () => {
    throw new Error('The call succeeded');
  };
});

test('a service that asks for a later retry does not delay the call', async () => {
  answer = (response) =>
    response.writeHead(503, { 'retry-after': '3600', 'x-amz-retry-after': '3600000' }).end('{}');
  const error = await send().catch((reason: unknown) => reason);
  // The SDK's own delay before a second attempt is 50 ms at most, or a second after throttling.
  expect((error as { $metadata: object }).$metadata).toMatchObject({ attempts: 2 });
  expect((error as { $metadata: { totalRetryDelay: number } }).$metadata.totalRetryDelay).toBeLessThan(1_001);
});

test('the clients of a function use its pool', async () => {
  const client = new SQSClient({
    ...clientSettings,
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  await Promise.all([once(server, 'secureConnection'), functionConnections.prepare(url, never)]);
  await client.send(new SendMessageCommand({ QueueUrl: `${url}/0/queue`, MessageBody: 'a' }));
  expect(connections).toBe(1);
  functionConnections.destroy();
});

test.each<[string, before: object | undefined, other: object, state: string]>([
  ['the first to its host', undefined, {}, 'open'],
  ['to another host', undefined, { host: '127.0.0.1' }, 'opening'],
  ['the second', {}, {}, 'opening'],
])('the prepared connection is for one request: %s', async (_, before, other, state) => {
  await prepare();
  const options = { host: 'localhost', port: new URL(url).port };
  const first = before && pool.createConnection({ ...options, ...before });
  const socket = pool.createConnection({ ...options, ...other }) as Socket;
  expect(socket.readyState).toBe(state);
  for (const each of [first, socket]) each?.on('error', () => {}).destroy();
});

test('a failed connection is an error of the preparation, not of the request', async () => {
  const closed = createTcpServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  await once(closed.close(), 'close');
  await expect(pool.prepare(`https://localhost:${port}`, never)).rejects.toThrow('ECONNREFUSED');
  expect((await send()).$metadata.attempts).toBe(1);
});

test('a handshake without an answer is aborted on request', async () => {
  const silent = createTcpServer((socket) => socket.on('error', () => {}).resume());
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port } = silent.address() as AddressInfo;
  await expect(pool.prepare(`https://localhost:${port}`, AbortSignal.timeout(50))).rejects.toThrow(
    expect.objectContaining({ name: 'AbortError' }),
  );
  await once(silent.close(), 'close');
});
