import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type InvocationResult, TooManyRequestsError } from '../../../local/functions/invocation.ts';
import type { GatewayResponse } from '../../../local/gateway/gateway-responses.ts';
import { type RestApiOptions, restApi } from '../../../local/gateway/rest-api.ts';
import { type Gateway, startGateway } from '../../../local/gateway/server.ts';
import type { Exchange } from '../../../local/observation.ts';

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

type Invoke = (event: APIGatewayProxyEvent) => Promise<InvocationResult>;

const answer =
  (body: string): Invoke =>
  async () => ({ ok: true, payload: { statusCode: 200, body } });

/** Answers with the event. */
const echo: Invoke = async (event) => answer(JSON.stringify(event))(event);

interface Settings extends Partial<RestApiOptions> {
  onExchange?: (exchange: Exchange) => void;
  integrationLimitMilliseconds?: number;
}

async function start(invoke: Invoke = echo, settings: Settings = {}): Promise<Gateway> {
  const { onExchange, integrationLimitMilliseconds, ...options } = settings;
  const api = restApi({
    apiId: 'a1b2c3d4e5',
    accountId: '000000000000',
    region: 'eu-central-1',
    stage: 'api',
    methods: [
      {
        httpMethod: 'POST',
        resourceId: 'nva6hs',
        resourcePath: '/v1/hook',
        invoke,
        ...(integrationLimitMilliseconds !== undefined && { integrationLimitMilliseconds }),
      },
    ],
    gatewayResponses: [],
    ...options,
  });
  const gateway = await startGateway(api, { port: 0, ...(onExchange && { onExchange }) });
  cleanUps.push(() => gateway.close());
  return gateway;
}

const post = (gateway: Gateway, body?: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/api/v1/hook`, { method: 'POST', headers, ...(body !== undefined && { body }) });

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('a request to a method', () => {
  test('invokes its function with the event and answers what it returns', async () => {
    const events: APIGatewayProxyEvent[] = [];
    const gateway = await start(async (event) => {
      events.push(event);
      const headers = { 'X-A': '1', 'WWW-Authenticate': 'Basic' };
      const multiValueHeaders = { 'Set-Cookie': ['a=1', 'b=2'] };
      return { ok: true, payload: { statusCode: 202, headers, multiValueHeaders, body: 'queued' } };
    });
    const response = await post(gateway, '{"event":"shop.updated"}');
    expect([response.status, await response.text()]).toEqual([202, 'queued']);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(response.headers.get('x-a')).toBe('1');
    expect(response.headers.get('x-amzn-remapped-www-authenticate')).toBe('Basic');
    expect(response.headers.get('www-authenticate')).toBeNull();
    expect(events).toMatchObject([
      {
        path: '/v1/hook',
        body: Buffer.from('{"event":"shop.updated"}').toString('base64'),
        requestContext: { path: '/api/v1/hook', stage: 'api', resourceId: 'nva6hs' },
      },
    ]);
    const { requestId, extendedRequestId } = events[0]?.requestContext ?? {};
    expect(requestId).toMatch(UUID);
    expect(response.headers.get('x-amzn-requestid')).toBe(requestId);
    expect(response.headers.get('x-amz-apigw-id')).toBe(extendedRequestId);
    expect(response.headers.get('x-amzn-trace-id')).toBe(events[0]?.headers['X-Amzn-Trace-Id']);
  });

  test('has the names of its headers as the client wrote them', async () => {
    const gateway = await start();
    const request = httpRequest(`${gateway.url}/api/v1/hook`, {
      method: 'POST',
      headers: ['X-Webhook-SIGNATURE', 'one', 'X-Webhook-SIGNATURE', 'two', 'Host', 'localhost'],
    }).end();
    const [response] = await once(request, 'response');
    const event = JSON.parse((await response.toArray()).join(''));
    expect(event.headers).toMatchObject({ 'X-Webhook-SIGNATURE': 'two' });
    expect(event.multiValueHeaders).toMatchObject({ 'X-Webhook-SIGNATURE': ['one', 'two'] });
  });

  test('reaches it also with a slash at the end', async () => {
    const gateway = await start();
    const response = await fetch(`${gateway.url}/api/v1/hook/?q=1`, { method: 'POST' });
    expect(await response.json()).toMatchObject({
      resource: '/v1/hook',
      path: '/v1/hook/',
      queryStringParameters: { q: '1' },
    });
  });

  test('may choose its request id, but not the extended one', async () => {
    const ids = { 'x-amzn-requestid': 'mine', 'x-amz-apigw-id': 'mine' };
    const response = await post(await start(), '{}', ids);
    const { requestId, extendedRequestId } = JSON.parse(await response.text()).requestContext;
    expect({ requestId, extendedRequestId }).toEqual({
      requestId: 'mine',
      extendedRequestId: expect.not.stringMatching('mine'),
    });
    expect(response.headers.get('x-amzn-requestid')).toBe('mine');
  });

  test('is reported with its status and the id that no client can choose', async () => {
    const exchanges: Exchange[] = [];
    const gateway = await start(echo, { onExchange: (exchange) => exchanges.push(exchange) });
    const requestId = (await post(gateway)).headers.get('x-amz-apigw-id');
    expect(exchanges).toMatchObject([
      {
        method: 'POST',
        path: '/api/v1/hook',
        status: 200,
        durationMilliseconds: expect.any(Number),
        requestId,
      },
    ]);
  });
});

/** What a REST API says by itself: status, body, and the headers that a gateway response may change. */
async function said(response: Response) {
  return {
    status: response.status,
    body: await response.text(),
    contentType: response.headers.get('content-type'),
    retryAfter: response.headers.get('retry-after'),
  };
}

const message = (status: number, text: string) => ({
  status,
  body: JSON.stringify({ message: text }),
  contentType: 'application/json',
  retryAfter: null,
});

const MEBIBYTE = 1024 * 1024;

/** Makes an API answer by itself. */
const situations = {
  'another path': async (settings: Settings) =>
    fetch(`${(await start(echo, settings)).url}/api/v1/other`, { method: 'POST' }),
  'another method': async (settings: Settings) =>
    fetch(`${(await start(echo, settings)).url}/api/v1/hook`, { method: 'PUT' }),
  'the stage itself': async (settings: Settings) => fetch(`${(await start(echo, settings)).url}/api`),
  'a function error': async (settings: Settings) =>
    post(await start(async () => ({ ok: false, errorType: 'Error', errorMessage: 'x' }), settings)),
  'a malformed response': async (settings: Settings) =>
    post(await start(async () => ({ ok: true, payload: 'text' }), settings)),
  'no free concurrency': async (settings: Settings) =>
    post(await start(() => Promise.reject(new TooManyRequestsError()), settings)),
  'a rejected invocation': async (settings: Settings) =>
    post(await start(() => Promise.reject(new Error('no function')), settings)),
  'a function that takes too long': async (settings: Settings) =>
    post(await start(() => new Promise(() => {}), { ...settings, integrationLimitMilliseconds: 50 })),
  'a request above the throttle': async (settings: Settings) =>
    post(await start(echo, { ...settings, throttle: { rate: 1, burst: 0 } })),
  'a body above 10 MiB': async (settings: Settings) =>
    post(await start(echo, settings), Buffer.alloc(10 * MEBIBYTE + 1)),
  'an event above 6 MiB': async (settings: Settings) =>
    post(await start(echo, settings), Buffer.alloc(5 * MEBIBYTE)),
  'another stage': async (settings: Settings) =>
    fetch(`${(await start(echo, settings)).url}/apis/v1/hook`, { method: 'POST' }),
} as const;

type Situation = keyof typeof situations;

const NO_METHOD = [403, 'Missing Authentication Token', 'MISSING_AUTHENTICATION_TOKEN'] as const;
const FAILED = 'Internal server error';

/** What AWS says of itself, and the type by which a gateway response may change it. */
const changeable: [Situation, status: number, text: string, type: string][] = [
  ['another path', ...NO_METHOD],
  ['another method', ...NO_METHOD],
  ['the stage itself', ...NO_METHOD],
  ['a function error', 502, FAILED, 'DEFAULT_5XX'],
  ['a malformed response', 502, FAILED, 'DEFAULT_5XX'],
  ['no free concurrency', 500, FAILED, 'INTEGRATION_FAILURE'],
  ['a rejected invocation', 500, FAILED, 'INTEGRATION_FAILURE'],
  ['a function that takes too long', 504, 'Endpoint request timed out', 'INTEGRATION_TIMEOUT'],
  ['a request above the throttle', 429, 'Too Many Requests', 'THROTTLED'],
];

const unchangeable: [Situation, status: number, text: string, type: string][] = [
  ['a body above 10 MiB', 413, 'HTTP content length exceeded 10485760 bytes.', 'REQUEST_TOO_LARGE'],
  ['an event above 6 MiB', 413, 'Request Too Long', 'REQUEST_TOO_LARGE'],
  ['another stage', 403, 'Forbidden', 'ACCESS_DENIED'],
];

const problem = (type: string): GatewayResponse => ({
  type,
  status: 500,
  parameters: {
    'gatewayresponse.header.Content-Type': "'application/problem+json'",
    'gatewayresponse.header.Retry-After': "'5'",
  },
  template:
    '{"id":"$context.requestId","type":"$context.error.responseType","said":"$context.error.message","again":$context.error.messageString}',
});

describe('without a gateway response', () => {
  test.each([...changeable, ...unchangeable])('%s is %d: %s', async (situation, status, text) => {
    const response = await situations[situation]({});
    expect(response.headers.get('x-amzn-requestid')).toMatch(UUID);
    expect(response.headers.get('x-amz-apigw-id')).toBeTruthy();
    expect(await said(response)).toEqual(message(status, text));
  });
});

describe('a gateway response', () => {
  test.each(changeable)('of its type changes what is said of %s', async (situation, _status, text, type) => {
    const response = await situations[situation]({ gatewayResponses: [problem(type)] });
    const id = response.headers.get('x-amzn-requestid');
    expect(await said(response)).toEqual({
      status: 500,
      body: JSON.stringify({ id, type, said: text, again: text }),
      contentType: 'application/problem+json',
      retryAfter: '5',
    });
  });

  test.each(changeable)('of its class does, too: %s', async (situation, status) => {
    const gatewayResponses = [problem(status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX')];
    expect(await said(await situations[situation]({ gatewayResponses }))).toMatchObject({
      status: 500,
      retryAfter: '5',
    });
  });

  test.each(changeable)('of another type does not: %s', async (situation, status, text) => {
    const gatewayResponses = [problem('UNAUTHORIZED'), problem(status < 500 ? 'DEFAULT_5XX' : 'DEFAULT_4XX')];
    expect(await said(await situations[situation]({ gatewayResponses }))).toEqual(message(status, text));
  });

  test('of a type stands before that of its class', async () => {
    const gatewayResponses: GatewayResponse[] = [
      { type: 'THROTTLED', status: 503, parameters: {} },
      problem('DEFAULT_4XX'),
    ];
    const response = await situations['a request above the throttle']({ gatewayResponses });
    expect(await said(response)).toEqual(message(503, 'Too Many Requests'));
  });

  test('may leave the status to the error, and put an id into a header', async () => {
    const parameters = { 'gatewayresponse.header.X-Id': 'context.requestId' };
    const response = await situations['a function error']({
      gatewayResponses: [{ type: 'DEFAULT_5XX', parameters }],
    });
    expect(response.headers.get('x-id')).toBe(response.headers.get('x-amzn-requestid'));
    expect(response.status).toBe(502);
  });

  test.each(unchangeable)('changes nothing of %s', async (situation, status, text, type) => {
    const gatewayResponses = [problem(type), problem('DEFAULT_4XX')];
    expect(await said(await situations[situation]({ gatewayResponses }))).toEqual(message(status, text));
  });

  test.each<[string, Partial<GatewayResponse>]>([
    ['the variable $context.identity.sourceIp', { template: '{"ip":"$context.identity.sourceIp"}' }],
    ['the variable $constructor', { template: '$constructor' }],
    ['the directive #if', { template: '#if(true)yes#end' }],
    ['the variable $util.escapeJavaScript', { template: '$util.escapeJavaScript(1)' }],
    ['the directive $!', { template: '$!context.requestId' }],
    [
      'the value method.request.header.a',
      { parameters: { 'gatewayresponse.header.a': 'method.request.header.a' } },
    ],
    [
      'the parameter gatewayresponse.querystring.a',
      { parameters: { 'gatewayresponse.querystring.a': "'1'" } },
    ],
  ])('is refused at the start where it has %s', async (what, more) => {
    const gatewayResponses = [{ type: 'THROTTLED', parameters: {}, ...more }];
    const refused = start(echo, { gatewayResponses });
    await expect(refused).rejects.toThrow(`The gateway response THROTTLED is not supported: it has ${what}`);
  });
});

test('an event of 6 MiB is taken', async () => {
  let envelope = 0;
  const gateway = await start(async (event) => {
    envelope = Buffer.byteLength(JSON.stringify({ ...event, body: '' }));
    return { ok: true, payload: { statusCode: 200 } };
  });
  expect((await post(gateway, Buffer.alloc(3_000_000))).status).toBe(200);
  // Base64 makes four characters of three bytes.
  const largest = Math.floor((6 * MEBIBYTE - envelope) / 4) * 3;
  expect((await post(gateway, Buffer.alloc(largest))).status).toBe(200);
  expect((await post(gateway, Buffer.alloc(largest + 3))).status).toBe(413);
});
