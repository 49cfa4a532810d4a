import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { clientSettings } from '../../../lambda/aws-clients.ts';
import { PreparedAgent } from '../../../lambda/receiver/warm-up.ts';
import { type Certificate, makeCertificate } from '../../../tools/measure/bench/aws.ts';

const folder = mkdtempSync(join(tmpdir(), 'prepared-agent-'));
const trusted = getCACertificates('default');
const never = new AbortController().signal;

let certificate: Certificate;
let server: Server;
let url: string;
let connections: number;
/** Requests that find their connection broken. */
let breaking: number;
let agent: PreparedAgent;
let client: SQSClient;
beforeAll(async () => {
  certificate = await makeCertificate(folder);
  setDefaultCACertificates([...trusted, certificate.cert]);
});
beforeEach(async () => {
  connections = 0;
  breaking = 0;
  server = createServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
    if (breaking > 0) {
      breaking -= 1;
      request.socket.destroy();
    } else response.end('{"MessageId":"1","MD5OfMessageBody":"0cc175b9c0f1b6a831c399e269772661"}');
  });
  server.on('connection', () => {
    connections += 1;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `https://localhost:${(server.address() as AddressInfo).port}`;
  agent = new PreparedAgent();
  client = new SQSClient({
    ...clientSettings,
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    requestHandler: { ...clientSettings.requestHandler, httpsAgent: agent },
  });
});
afterEach(async () => {
  client.destroy();
  server.closeAllConnections();
  await once(server.close(), 'close');
});
afterAll(() => {
  setDefaultCACertificates(trusted);
  rmSync(folder, { recursive: true });
});

/** Has the connection opened, and waits for the server to know it. */
async function prepare(): Promise<void> {
  await Promise.all([once(server, 'secureConnection'), agent.prepare(url, never)]);
}

const send = () => client.send(new SendMessageCommand({ QueueUrl: `${url}/0/queue`, MessageBody: 'a' }));

test('the connection that was opened ahead serves the first request, and those after it', async () => {
  await prepare();
  expect(connections).toBe(1);
  for (let request = 0; request < 3; request += 1) await send();
  expect(connections).toBe(1);
});

test('a connection that the peer has closed meanwhile is replaced', async () => {
  await prepare();
  server.closeAllConnections();
  await send();
  expect((await send()).$metadata.attempts).toBe(1);
  expect(connections).toBe(2);
});

test('a request that finds its connection broken, prepared or kept alive, is sent once more', async () => {
  await prepare();
  for (const expected of [2, 3]) {
    breaking = 1;
    expect((await send()).$metadata.attempts).toBe(2);
    expect(connections).toBe(expected);
  }
});

test('a connection to one place serves no other', async () => {
  const other = createServer({ cert: certificate.cert, key: certificate.key }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await Promise.all([once(other, 'secureConnection'), agent.prepare(`https://localhost:${port}`, never)]);
  await send();
  expect(connections).toBe(1);
  other.closeAllConnections();
  await once(other.close(), 'close');
});

test('what cannot be opened is an error of the preparation, and not of the request', async () => {
  const closed = createTcpServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  await once(closed.close(), 'close');
  await expect(agent.prepare(`https://localhost:${port}`, never)).rejects.toThrow('ECONNREFUSED');
  expect((await send()).$metadata.attempts).toBe(1);
});

test('whoever does not answer the handshake is given up when told', async () => {
  const silent = createTcpServer((socket) => socket.on('error', () => {}).resume());
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port } = silent.address() as AddressInfo;
  await expect(agent.prepare(`https://localhost:${port}`, AbortSignal.timeout(50))).rejects.toThrow(
    expect.objectContaining({ name: 'AbortError' }),
  );
  await once(silent.close(), 'close');
});

test('nothing is opened where there is no TLS', async () => {
  await agent.prepare(url.replace('https', 'http'), never);
  expect(connections).toBe(0);
});
