import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type InvocationResult, TooManyRequestsError } from '../../../local/functions/invocation.ts';
import { type HttpApiOptions, httpApi } from '../../../local/gateway/http-api.ts';
import { type Gateway, startGateway } from '../../../local/gateway/server.ts';

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

type Invoke = (event: APIGatewayProxyEventV2) => Promise<InvocationResult>;

const echo: Invoke = async (event) => ({ ok: true, payload: event });

async function start(invoke: Invoke = echo, options: Partial<HttpApiOptions> = {}): Promise<Gateway> {
  const api = await startGateway(
    httpApi({
      apiId: 'localapi',
      accountId: '000000000000',
      region: 'eu-central-1',
      routes: [{ routeKey: 'POST /hook', invoke }],
      ...options,
    }),
    { port: 0 },
  );
  cleanUps.push(() => api.close());
  return api;
}

const post = (api: Gateway, body?: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
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
});

describe('failures and limits', () => {
  test.each<[string, Invoke]>([
    ['a function error', async () => ({ ok: false, errorType: 'Error', errorMessage: 'no table' })],
    ['a rejected invocation', () => Promise.reject(new Error('no table'))],
  ])('%s is 500', async (_case, invoke) => {
    const response = await post(await start(invoke), '{}');
    expect([response.status, await response.text()]).toEqual([500, '{"message":"Internal Server Error"}']);
  });

  test('a function without free concurrency is 503', async () => {
    const response = await post(await start(() => Promise.reject(new TooManyRequestsError())), '{}');
    expect([response.status, await response.text()]).toEqual([503, '{"message":"Service Unavailable"}']);
  });

  test('a request above the throttle is 429, and other routes are none of its business', async () => {
    const api = await start(echo, { throttle: { rate: 0.001, burst: 2 } });
    const statuses = [];
    for (let sent = 0; sent < 3; sent += 1) statuses.push((await post(api, '{}')).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect(await (await post(api, '{}')).text()).toBe('{"message":"Too Many Requests"}');
    expect((await fetch(`${api.url}/other`)).status).toBe(404);
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
});
