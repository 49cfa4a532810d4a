import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { InvocationResult } from '../../../local/functions/invocation.ts';
import { httpApi } from '../../../local/gateway/http-api.ts';
import {
  type Gateway,
  type GatewayOptions,
  type RequestSummary,
  startGateway,
} from '../../../local/gateway/server.ts';

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** A container may be without IPv6. */
const loopbackAddresses = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .map(({ address }) => address)
  .filter((address) => address === '127.0.0.1' || address === '::1');

const echo = async (event: unknown): Promise<InvocationResult> => ({ ok: true, payload: event });

async function start(invoke = echo, options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const api = httpApi({
    apiId: 'localapi',
    accountId: '000000000000',
    region: 'eu-central-1',
    routes: [{ routeKey: 'POST /hook', invoke }],
  });
  const gateway = await startGateway(api, { port: 0, ...options });
  cleanUps.push(() => gateway.close());
  return gateway;
}

const post = (gateway: Gateway, body?: string) =>
  fetch(`${gateway.url}/hook`, { method: 'POST', ...(body !== undefined && { body }) });

const MEBIBYTE = 1024 * 1024;

describe('of the requests', () => {
  test('each is reported with its status and request id', async () => {
    const summaries: RequestSummary[] = [];
    const api = await start(echo, { onRequest: (summary) => summaries.push(summary) });
    const ids = [
      (await post(api)).headers.get('apigw-requestid'),
      (await fetch(`${api.url}/other?q=1`)).headers.get('apigw-requestid'),
    ];
    expect(summaries).toEqual([
      {
        method: 'POST',
        path: '/hook',
        status: 200,
        durationMilliseconds: expect.any(Number),
        requestId: ids[0],
      },
      {
        method: 'GET',
        path: '/other',
        status: 404,
        durationMilliseconds: expect.any(Number),
        requestId: ids[1],
      },
    ]);
  });

  test('one with a body of unknown length is cut off at 10 MiB', async () => {
    const api = await start();
    const request = httpRequest(`${api.url}/hook`, { method: 'POST' });
    for (let sent = 0; sent < 11; sent += 1) request.write(Buffer.alloc(MEBIBYTE, 'a'));
    request.end();
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(413);
    response.resume();
  });

  test('one whose client breaks off does not disturb the others', async () => {
    const api = await start();
    const socket = connect(api.port, '127.0.0.1');
    socket.write('POST /hook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{');
    await sleep(50);
    socket.destroy();
    expect((await post(api, '{}')).status).toBe(200);
  });
});

describe('listening', () => {
  test.each(['127.0.0.1', 'localhost'])('is reachable as %s', async (host) => {
    const api = await start();
    expect((await fetch(`http://${host}:${api.port}/hook`, { method: 'POST' })).status).toBe(200);
  });

  test.each(loopbackAddresses)('a port that is in use on %s is the plain error', async (host) => {
    const other = createServer();
    other.listen(0, host);
    await once(other, 'listening');
    cleanUps.push(() => new Promise((resolve) => other.close(resolve)));
    const { port } = other.address() as AddressInfo;
    await expect(start(echo, { port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  test('a host that is given is the only one', async () => {
    const api = await start(echo, { host: '127.0.0.1' });
    expect(api.url).toBe(`http://127.0.0.1:${api.port}`);
    await expect(fetch(`http://[::1]:${api.port}/hook`)).rejects.toThrow();
  });
});

describe('closing', () => {
  test('waits for the response that is under way, and for nothing else', async () => {
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
    const closed = api.close();
    result.resolve({ ok: true, payload: 'last' });
    expect(await (await response).text()).toBe('"last"');
    await closed;
    await expect(post(api, '{}')).rejects.toThrow();
  });

  test('does not wait for idle connections that are kept alive', async () => {
    const api = await start();
    await (await post(api, '{}')).text();
    const began = performance.now();
    await api.close();
    expect(performance.now() - began).toBeLessThan(4_000);
  });
});
