import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { originOf } from '../../admitted-host.ts';
import type { InvocationResult } from '../../functions/invocation.ts';
import { httpApi } from '../../gateway/http-api.ts';
import { type GatewayOptions, type RunningGateway, startGateway } from '../../gateway/server.ts';
import type { Exchange } from '../../observation.ts';
import { apiId, MEBIBYTE } from './support.ts';

/** The loopback addresses of this machine. Not always both: a container may have no IPv6. */
const loopbackAddresses = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .map(({ address }) => address)
  .filter((address) => address === '127.0.0.1' || address === '::1');

const echo = async (event: unknown): Promise<InvocationResult> => ({ ok: true, payload: event });

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** Serves an API until the current test ends. */
async function start(invoke = echo, options: Partial<GatewayOptions> = {}): Promise<RunningGateway> {
  const api = httpApi({ apiId, routes: [{ routeKey: 'POST /hook', invoke }] });
  const gateway = await startGateway(api, { port: 0, ...options });
  cleanUps.push(() => gateway.close());
  return gateway;
}

const post = ({ url }: RunningGateway, body: string) => fetch(`${url}/hook`, { method: 'POST', body });

/**
 * Sends the lines of a request, with one byte per character.
 * @returns the lines of the answer
 */
async function exchangeRaw({ port }: RunningGateway, lines: string[]): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  socket.end(lines.join('\r\n'), 'latin1');
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1').split('\r\n');
}

describe('a request', () => {
  test('is reported to the observer as it was sent, with its answer', async () => {
    const exchanges: Exchange[] = [];
    const payload = { statusCode: 201, headers: { 'X-Of-Function': 'yes' }, body: 'taken' };
    const api = await start(async () => ({ ok: true, payload }), {
      onExchange: (exchange) => exchanges.push(exchange),
    });
    const [answer] = await exchangeRaw(api, [
      'POST /hook?a=1&a=%20 HTTP/1.1',
      'Host: localhost',
      'X-Twice: First',
      'x-twice: second',
      'Content-Length: 4',
      'Connection: close',
      '',
      '{ \xff}',
    ]);
    expect(answer).toBe('HTTP/1.1 201 Created');
    expect(exchanges).toMatchObject([
      {
        method: 'POST',
        path: '/hook',
        query: 'a=1&a=%20',
        headers: [
          ['Host', 'localhost'],
          ['X-Twice', 'First'],
          ['x-twice', 'second'],
          ['Content-Length', '4'],
          ['Connection', 'close'],
        ],
        sourceIp: '127.0.0.1',
        receivedAt: expect.any(Date),
        body: Buffer.from('{ \xff}', 'latin1'),
        status: 201,
        responseBody: Buffer.from('taken'),
        durationMilliseconds: expect.any(Number),
      },
    ]);
    const [{ responseHeaders, requestId }] = exchanges as [Exchange];
    expect(responseHeaders).toEqual(
      expect.arrayContaining([
        ['x-of-function', 'yes'],
        ['apigw-requestid', requestId],
        ['content-length', '5'],
      ]),
    );
  });

  test('that the API answers itself is reported without a body', async () => {
    const exchanges: Exchange[] = [];
    const api = await start(echo, { onExchange: (exchange) => exchanges.push(exchange) });
    const response = await fetch(`${api.url}/other`, { method: 'POST', body: '{}' });
    const requestId = response.headers.get('apigw-requestid');
    const answered = { method: 'POST', path: '/other', status: 404, body: undefined, requestId };
    expect(exchanges).toMatchObject([answered]);
    expect(exchanges[0]?.responseBody).toEqual(Buffer.from(await response.arrayBuffer()));
  });

  test('with a body of unknown length is cut off at 10 MiB', async () => {
    const api = await start();
    const request = httpRequest(`${api.url}/hook`, { method: 'POST' });
    for (let sent = 0; sent < 11; sent += 1) request.write(Buffer.alloc(MEBIBYTE, 'a'));
    request.end();
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(413);
    response.resume();
  });

  test('whose client disconnects does not affect the others', async () => {
    const api = await start();
    const socket = connect(api.port, '127.0.0.1');
    socket.write('POST /hook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{');
    await sleep(50);
    socket.destroy();
    expect((await post(api, '{}')).status).toBe(200);
  });
});

test.each(loopbackAddresses)('a port that is in use on %s is an error of Node.js', async (host) => {
  const other = createServer();
  other.listen(0, host);
  await once(other, 'listening');
  cleanUps.push(() => new Promise((resolve) => other.close(resolve)));
  const { port } = other.address() as AddressInfo;
  await expect(start(echo, { port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('closing waits only for the current response', async () => {
  const invoked = Promise.withResolvers<void>();
  const result = Promise.withResolvers<InvocationResult>();
  const api = await start(() => {
    invoked.resolve();
    return result.promise;
  });
  const silent = connect(api.port, '127.0.0.1');
  silent.on('error', () => {});
  const response = post(api, '{}');
  await invoked.promise;
  // It does not wait for the silent connection, nor later for the idle one of the response.
  const closed = api.close();
  result.resolve({ ok: true, payload: 'last' });
  expect(await (await response).text()).toBe('"last"');
  await closed;
  await expect(post(api, '{}')).rejects.toThrow();
});

const PUBLIC = 'abc.trycloudflare.com';

test.each([
  { host: 'localhost:3000', origin: 'here' },
  { host: '127.0.0.1:3000', origin: 'here' },
  { host: '[::1]:3000', origin: 'here' },
  { host: 'host.docker.internal:3000', origin: 'here' },
  { host: 'bucket.s3.localhost', origin: 'here' },
  { host: 'ABC.trycloudflare.com:443', origin: 'public' },
  { host: '203.0.113.5:8080', origin: 'public' },
  { host: '', origin: 'foreign' },
  { host: 'x.abc.trycloudflare.com', origin: 'foreign' },
  { host: 'abc.trycloudflare.com.', origin: 'foreign' },
  { host: 'localhost.evil.example', origin: 'foreign' },
  { host: '127.0.0.1.nip.io', origin: 'foreign' },
  { host: '192.168.1.7:3000', origin: 'foreign' },
  { host: '[::2]:3000', origin: 'foreign' },
  { host: '127.0.0.1@evil.example', origin: 'foreign' },
  { host: undefined, origin: 'foreign' },
])('a request to $host is $origin', ({ host, origin }) => {
  expect(originOf(host === undefined ? {} : { host }, [PUBLIC, '203.0.113.5'])).toBe(origin);
});

test.each([
  'x-forwarded-for',
  'forwarded',
  'via',
  'x-real-ip',
  'x-original-host',
  'true-client-ip',
  'cdn-loop',
  'cf-connecting-ip',
  'tailscale-user-login',
])('a request with %s is foreign, whatever host name it uses', (name) => {
  for (const host of ['localhost:3000', '127.0.0.1', '[::1]:3000', 'host.docker.internal']) {
    const headers = { host, [name]: '' };
    expect([originOf(headers, []), originOf(headers, [PUBLIC])]).toEqual(['foreign', 'public']);
  }
});

test.each(['x-webhook-signature', 'x-amzn-trace-id', 'x-forwarded', 'ngrok-skip-browser-warning', 'origin'])(
  'a request with %s is from here',
  (name) => {
    expect(originOf({ host: 'localhost', [name]: 'any' }, [])).toBe('here');
  },
);

test('an API with a tunnel answers its name, refuses others, and reports them once', async () => {
  const answered: number[] = [];
  let foreign = 0;
  const invoke = async () => ({ ok: true as const, payload: 'of the function' });
  const gateway = await start(invoke, {
    publicHosts: [PUBLIC],
    onExchange: ({ status }) => answered.push(status),
    onForeign: () => {
      foreign += 1;
    },
  });
  /** Sends a request as a tunnel passes it on. */
  async function ask(host: string) {
    const headers = { host, 'x-forwarded-proto': 'https' };
    const sent = httpRequest(`${gateway.url}/hook`, { method: 'POST', headers });
    const [answer] = (await once(sent.end('{}'), 'response')) as [IncomingMessage];
    return [answer.statusCode, await text(answer)];
  }
  expect(await ask(PUBLIC)).toEqual([200, '"of the function"']);
  for (const host of ['one.trycloudflare.com', 'two.trycloudflare.com']) {
    expect(await ask(host)).toEqual([421, expect.stringMatching(/^This API only answers its own machine/)]);
  }
  expect([answered, foreign]).toEqual([[200], 1]);
});
