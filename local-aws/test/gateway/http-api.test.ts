import { describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type InvocationResult, TooManyRequestsError } from '../../functions/invocation.ts';
import { type HttpApiOptions, httpApi } from '../../gateway/http-api.ts';
import { type ApiContext, toEvent as eventOf, toResponse } from '../../gateway/payload-format-2.ts';
import type { RunningGateway } from '../../gateway/server.ts';
import { apiId, MEBIBYTE, postTo, received, serve, withText } from './support.ts';

type Invoke = (event: APIGatewayProxyEventV2) => Promise<InvocationResult>;

const echo: Invoke = async (event) => ({ ok: true, payload: event });

const start = async (invoke: Invoke = echo, options: Partial<HttpApiOptions> = {}) =>
  serve(httpApi({ apiId, routes: [{ routeKey: 'POST /hook', invoke }], ...options }));

const post = (
  api: RunningGateway,
  body?: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
) => postTo(`${api.url}/hook`, body, headers);

describe('routing', () => {
  test('a request to a route invokes its function with the event and gets its answer', async () => {
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

  test.each(['GET /hook', 'OPTIONS /hook', 'POST /hook/', 'POST /HOOK', 'POST //hook', 'POST /'])(
    '%s is 404 as from API Gateway',
    async (target) => {
      const [method, path] = target.split(' ');
      const api = await start();
      const response = await fetch(`${api.url}${path}`, { ...(method !== undefined && { method }) });
      expect([response.status, await response.text()]).toEqual([404, '{"message":"Not Found"}']);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.get('apigw-requestid')).toBeTruthy();
    },
  );

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
});

describe('failures and limits', () => {
  const failures: { given: string; invoke: Invoke; status: number; message: string }[] = [
    {
      given: 'a function error',
      invoke: async () => ({ ok: false, errorType: 'Error', errorMessage: 'no table' }),
      status: 500,
      message: 'Internal Server Error',
    },
    {
      given: 'a rejected invocation',
      invoke: () => Promise.reject(new Error('no table')),
      status: 500,
      message: 'Internal Server Error',
    },
    {
      given: 'a function without free concurrency',
      invoke: () => Promise.reject(new TooManyRequestsError()),
      status: 503,
      message: 'Service Unavailable',
    },
    {
      given: 'a function that takes longer than the integration limit',
      invoke: () => new Promise(() => {}),
      status: 503,
      message: 'Service Unavailable',
    },
  ];

  test.each(failures)('$given is $status', async ({ invoke, status, message }) => {
    const response = await post(await start(invoke, { integrationLimitMilliseconds: 50 }), '{}');
    expect([response.status, await response.text()]).toEqual([status, JSON.stringify({ message })]);
  });

  test('a request above the throttle gets 429, and does not affect other routes', async () => {
    const api = await start(echo, { throttle: { rate: 0.001, burst: 2 } });
    const statuses = [];
    for (let sent = 0; sent < 3; sent += 1) statuses.push((await post(api, '{}')).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect(await (await post(api, '{}')).text()).toBe('{"message":"Too Many Requests"}');
    expect((await fetch(`${api.url}/other`)).status).toBe(404);
  });

  /** Maximum bytes of a body in an event, besides the event's other fields. */
  async function roomFor(contentType: string): Promise<number> {
    let event: APIGatewayProxyEventV2 | undefined;
    const api = await start(async (received) => {
      event = received;
      return { ok: true, payload: 'done' };
    });
    // Content-Length then has seven digits, as in the tests.
    await post(api, Buffer.alloc(3_000_000, 'a'), { 'content-type': contentType });
    return 6 * MEBIBYTE - Buffer.byteLength(JSON.stringify({ ...event, body: '' }));
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
    {
      given: 'text',
      contentType: 'text/plain',
      character: 'a',
      step: 1,
      largest: (available: number) => available,
    },
    {
      given: 'JSON of quotation marks, which count twice',
      contentType: 'application/json',
      character: '"',
      step: 1,
      largest: (available: number) => Math.floor(available / 2),
    },
    {
      given: 'another type, which travels in base64',
      contentType: 'image/png',
      character: 'a',
      step: 3,
      largest: (available: number) => Math.floor(available / 4) * 3,
    },
  ])('$given is accepted if the event has up to 6 MiB', async ({ contentType, character, step, largest }) => {
    const bytes = largest(await roomFor(contentType));
    expect(await answerTo(Buffer.alloc(bytes, character), contentType)).toEqual(TAKEN);
    expect(await answerTo(Buffer.alloc(bytes + step, character), contentType)).toEqual(EVENT_TOO_LARGE);
  });

  test.each(['application/json', 'image/png'])(
    'a body of %s above 10 MiB is refused for itself, not for its event',
    async (contentType) => {
      expect(await answerTo(Buffer.alloc(10 * MEBIBYTE, 'a'), contentType)).toEqual(EVENT_TOO_LARGE);
      expect(await answerTo(Buffer.alloc(10 * MEBIBYTE + 1, 'a'), contentType)).toEqual(BODY_TOO_LARGE);
    },
  );
});

const api: ApiContext = {
  apiId: 'localapi',
  accountId: '000000000000',
  domainName: 'localapi.execute-api.eu-central-1.amazonaws.com',
  requestId: 'JKJaXmPLvHcESHA=',
  traceId: 'Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e',
};

interface Sent {
  readonly target?: string;
  readonly rawHeaders?: readonly string[];
  readonly body?: Buffer;
}

const toEvent = ({ target = '/api/v1/webhooks/partner', rawHeaders, body = Buffer.alloc(0) }: Sent) =>
  eventOf(received(target, rawHeaders), body, api);

describe('the event of payload format 2.0', () => {
  test('has the right shape', () => {
    const event = toEvent({
      target: '/api/v1/webhooks/partner?a=1',
      rawHeaders: ['Host', 'localhost:3000', 'User-Agent', 'sender/2', 'Content-Type', 'application/json'],
      body: Buffer.from('{"event":"shop.updated"}'),
    });
    expect(event).toEqual({
      version: '2.0',
      routeKey: 'POST /api/v1/webhooks/partner',
      rawPath: '/api/v1/webhooks/partner',
      rawQueryString: 'a=1',
      headers: {
        host: 'localhost:3000',
        'user-agent': 'sender/2',
        'content-type': 'application/json',
        'content-length': '24',
        'x-amzn-trace-id': 'Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-port': '3000',
        'x-forwarded-proto': 'http',
      },
      queryStringParameters: { a: '1' },
      requestContext: {
        accountId: '000000000000',
        apiId: 'localapi',
        domainName: 'localapi.execute-api.eu-central-1.amazonaws.com',
        domainPrefix: 'localapi',
        http: {
          method: 'POST',
          path: '/api/v1/webhooks/partner',
          protocol: 'HTTP/1.1',
          sourceIp: '127.0.0.1',
          userAgent: 'sender/2',
        },
        requestId: 'JKJaXmPLvHcESHA=',
        routeKey: 'POST /api/v1/webhooks/partner',
        stage: '$default',
        time: '02/Mar/2020:19:03:58 +0000',
        timeEpoch: 1583175838390,
      },
      body: '{"event":"shop.updated"}',
      isBase64Encoded: false,
    });
  });

  test('has no body, cookies or query parameters if the request has none', () => {
    const event = toEvent({});
    expect(event).not.toHaveProperty('body');
    expect(event).not.toHaveProperty('cookies');
    expect(event).not.toHaveProperty('queryStringParameters');
    expect(event).toMatchObject({ rawQueryString: '', isBase64Encoded: false });
  });

  test.each([
    { name: 'x-a', given: ['X-A', '1', 'x-a', '2'], value: '1,2' },
    { name: 'x-forwarded-for', given: ['X-Forwarded-For', '192.0.2.1'], value: '192.0.2.1,127.0.0.1' },
    { name: '__proto__', given: ['__proto__', 'x'], value: 'x' },
  ])('has the header $name of $given', ({ name, given, value }) => {
    expect(Object.entries(toEvent({ rawHeaders: given }).headers)).toContainEqual([name, value]);
  });

  test('moves cookies out of the headers', () => {
    const event = toEvent({ rawHeaders: ['Cookie', 'a=1; b=2', 'cookie', 'c=3'] });
    expect(event.cookies).toEqual(['a=1', 'b=2', 'c=3']);
    expect(event.headers).not.toHaveProperty('cookie');
  });

  test('leaves out the headers of the connection', () => {
    const { headers } = toEvent({
      rawHeaders: ['Connection', 'keep-alive', 'Transfer-Encoding', 'chunked', 'X-A', '1'],
    });
    expect(headers).not.toHaveProperty('connection');
    expect(headers).not.toHaveProperty('transfer-encoding');
    expect(headers).toHaveProperty('x-a', '1');
  });

  test.each([
    { target: '/p?a=1&a=2&b=', rawPath: '/p', query: 'a=1&a=2&b=', parameters: { a: '1,2', b: '' } },
    {
      target: '/p?name=caf%C3%A9+bar',
      rawPath: '/p',
      query: 'name=caf%C3%A9+bar',
      parameters: { name: 'café bar' },
    },
    { target: '/p?', rawPath: '/p', query: '', parameters: undefined },
    { target: '/p?a=?', rawPath: '/p', query: 'a=?', parameters: { a: '?' } },
    { target: '//double/slash', rawPath: '//double/slash', query: '', parameters: undefined },
    { target: 'http://localhost:3000/p?a=1', rawPath: '/p', query: 'a=1', parameters: { a: '1' } },
  ])('reads the target $target', ({ target, rawPath, query, parameters }) => {
    const event = toEvent({ target });
    expect(event).toMatchObject({ rawPath, rawQueryString: query });
    expect(event.queryStringParameters).toEqual(parameters);
  });

  test.each([
    { contentType: 'Application/JSON; charset=utf-8', encoding: 'utf8' },
    { contentType: 'application/cloudevents+json', encoding: 'utf8' },
    { contentType: 'application/soap+xml', encoding: 'utf8' },
    { contentType: 'application/xml', encoding: 'utf8' },
    { contentType: 'application/javascript', encoding: 'utf8' },
    { contentType: 'text/plain', encoding: 'utf8' },
    { contentType: 'application/x-www-form-urlencoded', encoding: 'base64' },
    { contentType: 'application/octet-stream', encoding: 'base64' },
    { contentType: '', encoding: 'base64' },
    { contentType: undefined, encoding: 'base64' },
  ] as const)('has a body of type $contentType as $encoding', ({ contentType, encoding }) => {
    const body = Buffer.from('{"name":"Café 日本"}');
    const rawHeaders = contentType === undefined ? [] : ['Content-Type', contentType];
    const event = toEvent({ rawHeaders, body });
    expect(event.isBase64Encoded).toBe(encoding === 'base64');
    expect(Buffer.from(event.body ?? '', encoding)).toEqual(body);
  });
});

describe('the response of payload format 2.0', () => {
  const text = (payload: unknown) => withText(toResponse({ ok: true, payload }));

  test.each([{ queued: true }, 'done', null])('to %j without a status code is 200 and JSON', (payload) => {
    expect(text(payload)).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payload),
    });
  });

  test('a structured result sets status, headers, cookies and body', () => {
    const payload = {
      statusCode: 401,
      headers: { 'Content-Type': 'application/problem+json', 'Retry-After': 30 },
      cookies: ['a=1; HttpOnly', 'b=2'],
      body: '{"title":"Unauthorized"}',
    };
    expect(text(payload)).toEqual({
      status: 401,
      headers: {
        'content-type': 'application/problem+json',
        'retry-after': '30',
        'set-cookie': ['a=1; HttpOnly', 'b=2'],
      },
      body: '{"title":"Unauthorized"}',
    });
  });

  test.each([
    { payload: { statusCode: 200, body: 'w6k=', isBase64Encoded: true }, body: 'é' },
    { payload: { statusCode: 204 }, body: '' },
    { payload: { statusCode: 200, body: null }, body: '' },
  ])('to $payload has the body $body', ({ payload, body }) => {
    expect(text(payload)).toMatchObject({ status: payload.statusCode, body });
  });

  test('the function cannot set the headers of the connection', () => {
    const headers = { Connection: 'close', 'Content-Length': '3', 'Transfer-Encoding': 'chunked' };
    expect(text({ statusCode: 200, headers, body: 'long' })?.headers).toEqual({
      'content-type': 'text/plain;charset=UTF-8',
    });
  });

  test.each([
    { statusCode: '200' },
    { statusCode: 99 },
    { statusCode: 100 },
    { statusCode: 200.5 },
    { statusCode: null },
    { statusCode: 200, body: { queued: true } },
    { statusCode: 200, headers: ['a'] },
    { statusCode: 200, headers: { a: ['1', '2'] } },
    { statusCode: 200, headers: { a: '1\r\nb: 2' } },
    { statusCode: 200, headers: { 'a b': '1' } },
    { statusCode: 200, cookies: 'a=1' },
  ])('is missing for %j', (payload) => {
    expect(text(payload)).toBeUndefined();
  });
});
