import { describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type InvocationResult, TooManyRequestsError } from '../../functions/invocation.ts';
import { type HttpApiOptions, httpApi } from '../../gateway/http-api.ts';
import { toEvent as eventOf, toResponse } from '../../gateway/payload-format-2.ts';
import type { Api } from '../../gateway/server.ts';
import { apiId, ask, FUNCTION_ERROR, MALFORMED, MEBIBYTE, received, withText } from './support.ts';

type Invoke = (event: APIGatewayProxyEventV2) => Promise<InvocationResult>;

const echo: Invoke = async (event) => ({ ok: true, payload: event });

const apiOf = (invoke = echo, options: Partial<HttpApiOptions> = {}): Api =>
  httpApi({ apiId, routes: [{ routeKey: 'POST /hook', invoke }], ...options });

describe('a route', () => {
  test('invokes its function with the event, and answers with its result', async () => {
    const events: APIGatewayProxyEventV2[] = [];
    const api = apiOf(async (event) => {
      events.push(event);
      return { ok: true, payload: { statusCode: 202, cookies: ['a=1', 'b=2'], body: 'queued' } };
    });
    const headers = ['content-type', 'application/json'];
    const answer = await ask(api, 'POST /hook', { headers, body: Buffer.from('{}') });
    const requestId = events[0]?.requestContext.requestId;
    expect(events).toMatchObject([{ routeKey: 'POST /hook', body: '{}' }]);
    expect(answer).toMatchObject({
      requestId,
      status: 202,
      headers: { 'set-cookie': ['a=1', 'b=2'], 'apigw-requestid': requestId },
      text: 'queued',
    });
  });

  test.each(['$default', 'ANY /hook', 'POST /{proxy+}', 'POST hook', 'POST', 'post /hook'])(
    '%s is refused at start',
    (routeKey) => {
      expect(() => apiOf(echo, { routes: [{ routeKey, invoke: echo }] })).toThrow(
        `The route key '${routeKey}' is not supported`,
      );
    },
  );

  const [ERROR, UNAVAILABLE] = ['Internal Server Error', 'Service Unavailable'];
  const failing = apiOf(async () => FUNCTION_ERROR);
  const malformed = apiOf(async () => ({ ok: true, payload: MALFORMED[0] }));
  const rejecting = apiOf(() => Promise.reject(new Error('none')));
  const busy = apiOf(() => Promise.reject(new TooManyRequestsError()));
  const slow = apiOf(() => new Promise(() => {}), { integrationLimitMilliseconds: 50 });
  const throttled = apiOf(echo, { throttle: { rate: 0.001, burst: 0 } });
  test.each<[given: string, api: Api, status: number, message: string, target?: string]>([
    ...['GET /hook', 'POST /hook/', 'POST /HOOK', 'POST //hook', 'HEAD /hook'].map(
      (target): [string, Api, number, string, string] => [target, apiOf(), 404, 'Not Found', target],
    ),
    ['a function error', failing, 500, ERROR],
    ['a malformed result', malformed, 500, ERROR],
    ['a rejected invocation', rejecting, 500, ERROR],
    ['a function without free concurrency', busy, 503, UNAVAILABLE],
    ['a function that takes longer than the integration limit', slow, 503, UNAVAILABLE],
    ['a request above the throttle', throttled, 429, 'Too Many Requests'],
    ['a body above 10 MiB', apiOf(), 413, 'Request Entity Too Large'],
  ])('answers %s with an error', async (_given, api, status, message, target = 'POST /hook') => {
    expect(await ask(api, target, {}, status === 413)).toMatchObject({
      status,
      headers: { 'content-type': 'application/json', 'apigw-requestid': expect.any(String) },
      text: JSON.stringify({ message }),
    });
  });

  test.each([
    { type: 'text/plain', character: 'a', step: 1, largest: (room: number) => room },
    // As JSON text, each quotation mark takes two bytes.
    { type: 'application/json', character: '"', step: 1, largest: (room: number) => Math.floor(room / 2) },
    // In base64.
    { type: 'image/png', character: 'a', step: 3, largest: (room: number) => Math.floor(room / 4) * 3 },
  ])('accepts $type if the event has up to 6 MiB', async ({ type, character, step, largest }) => {
    let room = 0;
    const api = apiOf(async (event) => {
      room = 6 * MEBIBYTE - Buffer.byteLength(JSON.stringify({ ...event, body: '' }));
      return { ok: true, payload: 'done' };
    });
    const answerTo = async (size: number) => {
      const { status, text } = await ask(api, 'POST /hook', {
        headers: ['content-type', type],
        body: Buffer.alloc(size, character),
      });
      return [status, text];
    };
    // Content-Length then has seven digits, as with the largest body.
    await answerTo(3_000_000);
    const bytes = largest(room);
    expect(await answerTo(bytes)).toEqual([200, '"done"']);
    expect(await answerTo(bytes + step)).toEqual([413, '{"message":"Request Too Large"}']);
  });
});

const toEvent = (rawHeaders: readonly string[] = [], body = Buffer.alloc(0), target = '/api/v1/hook') =>
  eventOf(received(target, rawHeaders), body, {
    apiId: 'localapi',
    accountId: '000000000000',
    domainName: 'localapi.execute-api.eu-central-1.amazonaws.com',
    requestId: 'JKJaXmPLvHcESHA=',
    traceId: 'Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e',
  });

describe('the event of payload format 2.0', () => {
  test('has the right shape', () => {
    const sent = { Host: 'localhost:3000', 'User-Agent': 'sender/2', 'Content-Type': 'application/json' };
    const rawHeaders = Object.entries(sent).flat();
    expect(toEvent(rawHeaders, Buffer.from('{"event":"shop.updated"}'), '/api/v1/hook?a=1')).toEqual({
      version: '2.0',
      routeKey: 'POST /api/v1/hook',
      rawPath: '/api/v1/hook',
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
          path: '/api/v1/hook',
          protocol: 'HTTP/1.1',
          sourceIp: '127.0.0.1',
          userAgent: 'sender/2',
        },
        requestId: 'JKJaXmPLvHcESHA=',
        routeKey: 'POST /api/v1/hook',
        stage: '$default',
        time: '02/Mar/2020:19:03:58 +0000',
        timeEpoch: 1583175838390,
      },
      body: '{"event":"shop.updated"}',
      isBase64Encoded: false,
    });
  });

  test('has no body, cookies or query parameters if the request has none', () => {
    const event = toEvent();
    for (const field of ['body', 'cookies', 'queryStringParameters']) expect(event).not.toHaveProperty(field);
    expect(event).toMatchObject({ rawQueryString: '', isBase64Encoded: false });
  });

  test.each([
    { name: 'x-a', given: ['X-A', '1', 'x-a', '2'], value: '1,2' },
    { name: 'x-forwarded-for', given: ['X-Forwarded-For', '192.0.2.1'], value: '192.0.2.1,127.0.0.1' },
    { name: '__proto__', given: ['__proto__', 'x'], value: 'x' },
  ])('has the header $name of $given', ({ name, given, value }) => {
    expect(Object.entries(toEvent(given).headers)).toContainEqual([name, value]);
  });

  test('has its cookies apart, and no headers of the connection', () => {
    const connection = { Connection: 'close', 'Transfer-Encoding': 'chunked' };
    const { headers, cookies } = toEvent([
      ...['Cookie', 'a=1; b=2', 'cookie', 'c=3'],
      ...Object.entries(connection).flat(),
    ]);
    expect(cookies).toEqual(['a=1', 'b=2', 'c=3']);
    expect(headers).toEqual(toEvent().headers);
  });

  test.each([
    { target: '/p?a=1&a=2&b=', rawPath: '/p', query: 'a=1&a=2&b=', parameters: { a: '1,2', b: '' } },
    { target: '/p?n=caf%C3%A9+b', rawPath: '/p', query: 'n=caf%C3%A9+b', parameters: { n: 'café b' } },
    { target: '//double/slash', rawPath: '//double/slash', query: '', parameters: undefined },
    { target: 'http://localhost:3000/p?a=1', rawPath: '/p', query: 'a=1', parameters: { a: '1' } },
  ])('reads the target $target', ({ target, rawPath, query, parameters }) => {
    const event = toEvent([], Buffer.alloc(0), target);
    expect(event).toMatchObject({ rawPath, rawQueryString: query });
    expect(event.queryStringParameters).toEqual(parameters);
  });

  const utf8 = [
    ...['Application/JSON; charset=utf-8', 'application/cloudevents+json', 'application/soap+xml'],
    ...['application/xml', 'application/javascript', 'text/plain'],
  ].map((type) => ({ type, encoding: 'utf8' as const }));
  const base64 = ['application/x-www-form-urlencoded', 'application/octet-stream', '', undefined].map(
    (type) => ({ type, encoding: 'base64' as const }),
  );
  test.each([...utf8, ...base64])('has a body of type $type as $encoding', ({ type, encoding }) => {
    const body = Buffer.from('{"name":"Café 日本"}');
    const event = toEvent(type === undefined ? [] : ['Content-Type', type], body);
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

  test.each<{ payload: Record<string, unknown>; headers?: Record<string, string | string[]>; body?: string }>(
    [
      { payload: { body: null } },
      { payload: { body: 'w6k=', isBase64Encoded: true }, body: 'é' },
      {
        payload: {
          headers: { 'Content-Type': 'application/problem+json', 'Retry-After': 30 },
          cookies: ['a=1; HttpOnly', 'b=2'],
        },
        headers: {
          'content-type': 'application/problem+json',
          'retry-after': '30',
          'set-cookie': ['a=1; HttpOnly', 'b=2'],
        },
      },
      {
        payload: { headers: { Connection: 'close', 'Content-Length': '3', 'Transfer-Encoding': 'chunked' } },
      },
    ],
  )('to $payload', ({ payload, headers, body = '' }) => {
    expect(text({ statusCode: 401, ...payload })).toEqual({
      status: 401,
      headers: { 'content-type': 'text/plain;charset=UTF-8', ...headers },
      body,
    });
  });

  test.each([...MALFORMED, { statusCode: 200, cookies: 'a=1' }, { statusCode: 200, headers: { a: ['1'] } }])(
    'is missing for %j',
    (payload) => {
      expect(text(payload)).toBeUndefined();
    },
  );
});
