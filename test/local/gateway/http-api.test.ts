import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { InvocationResult } from '../../../local/functions/invocation.ts';
import {
  type HttpApi,
  type HttpApiOptions,
  type RequestSummary,
  startHttpApi,
} from '../../../local/gateway/http-api.ts';

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

type Invoke = (event: APIGatewayProxyEventV2) => Promise<InvocationResult>;

/** A container may be without IPv6. */
const loopbackAddresses = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .map(({ address }) => address)
  .filter((address) => address === '127.0.0.1' || address === '::1');

const echo: Invoke = async (event) => ({ ok: true, payload: event });

async function start(invoke: Invoke = echo, options: Partial<HttpApiOptions> = {}): Promise<HttpApi> {
  const api = await startHttpApi({
    port: 0,
    apiId: 'localapi',
    accountId: '000000000000',
    region: 'eu-central-1',
    routes: [{ routeKey: 'POST /hook', invoke }],
    ...options,
  });
  cleanUps.push(() => api.close());
  return api;
}

const post = (api: HttpApi, body?: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(`${api.url}/hook`, { method: 'POST', headers, ...(body !== undefined && { body }) });

describe('routing', () => {
  test('a request on a route invokes its function with the event and answers what it returns', async () => {
    const events: APIGatewayProxyEventV2[] = [];
    const api = await start(async (event) => {
      events.push(event);
      return {
        ok: true,
        payload: { statusCode: 202, headers: { 'x-a': '1' }, cookies: ['a=1', 'b=2'], body: 'queued' },
      };
    });
    const response = await post(api, '{"event":"shop.updated"}', { 'content-type': 'application/json' });
    expect([response.status, await response.text()]).toEqual([202, 'queued']);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(response.headers.get('x-a')).toBe('1');
    expect(events).toMatchObject([{ routeKey: 'POST /hook', body: '{"event":"shop.updated"}' }]);
    expect(response.headers.get('apigw-requestid')).toBe(events[0]?.requestContext.requestId);
  });

  test.each([
    ['GET', '/hook'],
    ['OPTIONS', '/hook'],
    ['POST', '/hook/'],
    ['POST', '/HOOK'],
    ['POST', '//hook'],
    ['POST', '/'],
  ])('%s %s is 404 as from API Gateway', async (method, path) => {
    const api = await start();
    const response = await fetch(`${api.url}${path}`, { method });
    expect([response.status, await response.text()]).toEqual([404, '{"message":"Not Found"}']);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('apigw-requestid')).toBeTruthy();
  });

  test('HEAD is 404 unless it is routed', async () => {
    const api = await start(echo, { routes: [{ routeKey: 'HEAD /hook', invoke: echo }] });
    expect((await fetch(`${api.url}/hook`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${api.url}/other`, { method: 'HEAD' })).status).toBe(404);
  });

  test.each(['$default', 'ANY /hook', 'POST /{proxy+}', 'POST hook', 'POST', 'post /hook'])(
    'the route key %s is refused at start',
    async (routeKey) => {
      await expect(start(echo, { routes: [{ routeKey, invoke: echo }] })).rejects.toThrow(
        `The route key '${routeKey}' is not supported`,
      );
    },
  );

  test('repeated headers that Node.js would drop reach the function', async () => {
    const api = await start();
    const request = httpRequest(`${api.url}/hook`, {
      method: 'POST',
      headers: ['User-Agent', 'one', 'User-Agent', 'two', 'Host', 'localhost'],
    }).end();
    const [response] = await once(request, 'response');
    const event = JSON.parse((await response.toArray()).join(''));
    expect(event.headers['user-agent']).toBe('one,two');
  });

  test('each request is reported with its status and request id', async () => {
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
});

describe('failures and limits', () => {
  test.each<[string, Invoke]>([
    ['a function error', async () => ({ ok: false, errorType: 'Error', errorMessage: 'no table' })],
    ['a rejected invocation', () => Promise.reject(new Error('no table'))],
  ])('%s is 500', async (_case, invoke) => {
    const response = await post(await start(invoke), '{}');
    expect([response.status, await response.text()]).toEqual([500, '{"message":"Internal Server Error"}']);
  });

  test('a function that takes longer than the integration limit is 503', async () => {
    const api = await start(() => new Promise(() => {}), { integrationLimitMilliseconds: 50 });
    const response = await post(api, '{}');
    expect([response.status, await response.text()]).toEqual([503, '{"message":"Service Unavailable"}']);
  });

  const MEBIBYTE = 1024 * 1024;

  /** Bytes of the event for a body of some megabytes, but for the body. */
  async function envelopeBytes(contentType: string): Promise<number> {
    let event: APIGatewayProxyEventV2 | undefined;
    const api = await start(async (received) => {
      event = received;
      return { ok: true, payload: 'done' };
    });
    await post(api, Buffer.alloc(3_000_000, 'a'), { 'content-type': contentType });
    return Buffer.byteLength(JSON.stringify({ ...event, body: '' }));
  }

  const answerTo = async (body: Buffer<ArrayBuffer>, contentType: string) => {
    const api = await start(async () => ({ ok: true, payload: 'done' }));
    const response = await post(api, body, { 'content-type': contentType });
    const answer = [response.status, await response.text()];
    expect((await post(api, 'small')).status).toBe(200);
    return answer;
  };

  const TAKEN = [200, '"done"'];
  const EVENT_TOO_LARGE = [413, '{"message":"Request Too Large"}'];
  const BODY_TOO_LARGE = [413, '{"message":"Request Entity Too Large"}'];

  test.each([
    ['JSON', 'application/json', 'a', (room: number) => room],
    ['JSON of quotation marks, which count twice', 'application/json', '"', (room: number) => room / 2],
    ['another type, which travels in base64', 'image/png', 'a', (room: number) => (room / 4) * 3],
  ])('%s is taken as long as the event has 6 MiB', async (_case, contentType, character, bytesFor) => {
    const room = 6 * MEBIBYTE - (await envelopeBytes(contentType));
    const largest = Math.floor(bytesFor(room - (room % 4)));
    expect(await answerTo(Buffer.alloc(largest, character), contentType)).toEqual(TAKEN);
    expect(await answerTo(Buffer.alloc(largest + 4, character), contentType)).toEqual(EVENT_TOO_LARGE);
  });

  test('an event of 6 MiB is taken to the byte', async () => {
    const room = 6 * MEBIBYTE - (await envelopeBytes('text/plain'));
    expect(await answerTo(Buffer.alloc(room, 'a'), 'text/plain')).toEqual(TAKEN);
    expect(await answerTo(Buffer.alloc(room + 1, 'a'), 'text/plain')).toEqual(EVENT_TOO_LARGE);
  });

  test.each(['application/json', 'image/png'])(
    'a body of %s above 10 MiB is refused for itself, not for its event',
    async (contentType) => {
      expect(await answerTo(Buffer.alloc(10 * MEBIBYTE, 'a'), contentType)).toEqual(EVENT_TOO_LARGE);
      expect(await answerTo(Buffer.alloc(10 * MEBIBYTE + 1, 'a'), contentType)).toEqual(BODY_TOO_LARGE);
    },
  );

  test('a body of unknown length is cut off at 10 MiB', async () => {
    const api = await start();
    const request = httpRequest(`${api.url}/hook`, { method: 'POST' });
    for (let sent = 0; sent < 11; sent += 1) request.write(Buffer.alloc(MEBIBYTE, 'a'));
    request.end();
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(413);
    response.resume();
  });

  test('a client that breaks off does not disturb the others', async () => {
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
