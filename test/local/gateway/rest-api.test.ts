import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type InvocationResult, TooManyRequestsError } from '../../../local/functions/invocation.ts';
import type { GatewayResponse } from '../../../local/gateway/gateway-responses.ts';
import { type HttpRequest, pairs, splitTarget } from '../../../local/gateway/http-message.ts';
import {
  toEvent as eventOf,
  type ResourceContext,
  toResponse,
} from '../../../local/gateway/payload-format-1.ts';
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

describe('payload format 1.0', () => {
  const resource: ResourceContext = {
    apiId: 'a1b2c3d4e5',
    accountId: '000000000000',
    domainName: 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com',
    resourceId: 'nva6hs',
    resourcePath: '/v1/webhooks/partner',
    stage: 'api',
    requestId: 'b6781148-4ccf-4c06-b5ed-27aeaea4e3e8',
    extendedRequestId: 'AaX3pGxsDoEF7Ww=',
    traceId: 'Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e',
  };

  interface Sent {
    target: string;
    rawHeaders: string[];
    body: Buffer;
  }

  function toEvent({ target = '/api/v1/webhooks/partner', rawHeaders = [], body }: Partial<Sent>) {
    const request: HttpRequest = {
      method: 'POST',
      ...splitTarget(target),
      httpVersion: '1.1',
      headers: pairs(rawHeaders),
      sourceIp: '127.0.0.1',
      port: 3000,
      receivedAt: new Date('2020-03-02T19:03:58.390Z'),
    };
    // A function sees what JSON leaves of it.
    return JSON.parse(JSON.stringify(eventOf(request, body ?? Buffer.from(''), resource)));
  }

  describe('the event', () => {
    test('has the shape of payload format 1.0', () => {
      const event = toEvent({
        target: '/api/v1/webhooks/partner?a=1&a=2',
        rawHeaders: ['Host', 'localhost:3000', 'User-Agent', 'sender/2', 'CONTENT-type', 'application/json'],
        body: Buffer.from('{"event":"shop.updated"}'),
      });
      expect(event).toEqual({
        resource: '/v1/webhooks/partner',
        path: '/v1/webhooks/partner',
        httpMethod: 'POST',
        headers: {
          Host: 'localhost:3000',
          'User-Agent': 'sender/2',
          'CONTENT-type': 'application/json',
          'X-Amzn-Trace-Id': 'Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e',
          'X-Forwarded-For': '127.0.0.1',
          'X-Forwarded-Port': '3000',
          'X-Forwarded-Proto': 'http',
        },
        multiValueHeaders: {
          Host: ['localhost:3000'],
          'User-Agent': ['sender/2'],
          'CONTENT-type': ['application/json'],
          'X-Amzn-Trace-Id': ['Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e'],
          'X-Forwarded-For': ['127.0.0.1'],
          'X-Forwarded-Port': ['3000'],
          'X-Forwarded-Proto': ['http'],
        },
        queryStringParameters: { a: '2' },
        multiValueQueryStringParameters: { a: ['1', '2'] },
        pathParameters: null,
        stageVariables: null,
        requestContext: {
          resourceId: 'nva6hs',
          resourcePath: '/v1/webhooks/partner',
          httpMethod: 'POST',
          extendedRequestId: 'AaX3pGxsDoEF7Ww=',
          requestTime: '02/Mar/2020:19:03:58 +0000',
          path: '/api/v1/webhooks/partner',
          accountId: '000000000000',
          protocol: 'HTTP/1.1',
          stage: 'api',
          domainPrefix: 'a1b2c3d4e5',
          requestTimeEpoch: 1583175838390,
          requestId: 'b6781148-4ccf-4c06-b5ed-27aeaea4e3e8',
          identity: {
            accessKey: null,
            accountId: null,
            apiKey: null,
            apiKeyId: null,
            caller: null,
            clientCert: null,
            cognitoAuthenticationProvider: null,
            cognitoAuthenticationType: null,
            cognitoIdentityId: null,
            cognitoIdentityPoolId: null,
            principalOrgId: null,
            sourceIp: '127.0.0.1',
            user: null,
            userAgent: 'sender/2',
            userArn: null,
          },
          domainName: 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com',
          apiId: 'a1b2c3d4e5',
        },
        body: Buffer.from('{"event":"shop.updated"}').toString('base64'),
        isBase64Encoded: true,
      });
    });

    test('has null for what the request has not', () => {
      expect(toEvent({})).toMatchObject({
        queryStringParameters: null,
        multiValueQueryStringParameters: null,
        body: null,
        isBase64Encoded: false,
      });
    });

    test.each([
      [
        'has the last of repeated headers, and all of them',
        ['X-A', '1', 'X-A', '2'],
        { 'X-A': '2' },
        { 'X-A': ['1', '2'] },
      ],
      [
        'keeps names apart that differ in case',
        ['X-A', '1', 'x-a', '2'],
        { 'X-A': '1', 'x-a': '2' },
        { 'X-A': ['1'], 'x-a': ['2'] },
      ],
      [
        'adds the client to X-Forwarded-For, whatever its case',
        ['x-forwarded-for', '192.0.2.1'],
        { 'X-Forwarded-For': '192.0.2.1, 127.0.0.1' },
        { 'X-Forwarded-For': ['192.0.2.1, 127.0.0.1'] },
      ],
      [
        'keeps an unusual name',
        ['__proto__', 'x'],
        JSON.parse('{"__proto__":"x"}'),
        JSON.parse('{"__proto__":["x"]}'),
      ],
    ])('%s', (_case, rawHeaders, single, multiple) => {
      const { headers, multiValueHeaders } = toEvent({ rawHeaders });
      for (const entry of Object.entries(single)) expect(Object.entries(headers)).toContainEqual(entry);
      for (const entry of Object.entries(multiple)) {
        expect(Object.entries(multiValueHeaders)).toContainEqual(entry);
      }
    });

    test('leaves out what a REST API drops', () => {
      const dropped = ['Connection', 'Content-MD5', 'Expect', 'Server', 'TE', 'Transfer-Encoding', 'Upgrade'];
      const { headers, multiValueHeaders } = toEvent({ rawHeaders: dropped.flatMap((name) => [name, 'x']) });
      expect(Object.keys(headers)).toEqual([
        'X-Amzn-Trace-Id',
        'X-Forwarded-For',
        'X-Forwarded-Port',
        'X-Forwarded-Proto',
      ]);
      expect(Object.keys(multiValueHeaders)).toEqual(Object.keys(headers));
    });

    test.each(['application/json', 'text/plain', 'application/octet-stream', undefined])(
      'carries every byte of a body of type %s, also of one that is not UTF-8',
      (contentType) => {
        const body = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]);
        const rawHeaders = contentType === undefined ? [] : ['Content-Type', contentType];
        const event = toEvent({ rawHeaders, body });
        expect(event.isBase64Encoded).toBe(true);
        expect(Buffer.from(event.body, 'base64')).toEqual(body);
      },
    );
  });

  describe('the response', () => {
    const text = (payload: unknown) => {
      const response = toResponse({ ok: true, payload });
      return response && { ...response, body: response.body.toString() };
    };

    test('has the status, the headers and the body that the function says', () => {
      const payload = {
        statusCode: 401,
        headers: { 'Content-Type': 'application/problem+json', 'Retry-After': 30 },
        body: '{"title":"Unauthorized"}',
        isBase64Encoded: false,
      };
      expect(text(payload)).toEqual({
        status: 401,
        headers: { 'content-type': ['application/problem+json'], 'retry-after': ['30'] },
        body: '{"title":"Unauthorized"}',
      });
    });

    test('is JSON where the function does not say', () => {
      expect(text({ statusCode: 200 })).toEqual({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: '',
      });
    });

    test('merges both kinds of headers, each value once', () => {
      const payload = {
        statusCode: 200,
        headers: { 'X-A': '2', 'X-B': '1' },
        multiValueHeaders: { 'x-a': ['1', '2'], 'Set-Cookie': ['a=1', 'b=2'] },
      };
      expect(text(payload)?.headers).toEqual({
        'content-type': 'application/json',
        'x-a': ['1', '2'],
        'x-b': ['1'],
        'set-cookie': ['a=1', 'b=2'],
      });
    });

    test.each([
      ['base64 is decoded', { statusCode: 200, body: 'w6k=', isBase64Encoded: true }, 'é'],
      ['a null body is empty', { statusCode: 200, body: null, headers: null }, ''],
    ])('%s', (_case, payload, body) => {
      expect(text(payload)).toMatchObject({ status: 200, body });
    });

    test.each([
      ['WWW-Authenticate', 'x-amzn-remapped-www-authenticate'],
      ['Date', 'x-amzn-remapped-date'],
      ['Server', 'x-amzn-remapped-server'],
      ['Connection', 'x-amzn-remapped-connection'],
    ])('renames the header %s', (name, remapped) => {
      expect(text({ statusCode: 200, headers: { [name]: 'x' } })?.headers).toEqual({
        'content-type': 'application/json',
        [remapped]: ['x'],
      });
    });

    test('drops the headers of the connection, and sets the length itself', () => {
      const headers = { 'Content-Length': '3', 'Transfer-Encoding': 'chunked', Via: 'x', Upgrade: 'x' };
      expect(text({ statusCode: 200, headers, body: 'long' })?.headers).toEqual({
        'content-type': 'application/json',
      });
    });

    test.each([
      ['text', 'done'],
      ['null', null],
      ['an object without a status code', { body: 'queued' }],
      ['a field that the format does not have', { statusCode: 200, cookies: ['a=1'] }],
      ['a status code as text', { statusCode: '200' }],
      ['an interim status code', { statusCode: 100 }],
      ['a body that is not text', { statusCode: 200, body: { queued: true } }],
      ['a flag that is not a boolean', { statusCode: 200, isBase64Encoded: 'no' }],
      ['headers that are a list', { statusCode: 200, headers: ['a'] }],
      ['a header value that is a list', { statusCode: 200, headers: { a: [{}] } }],
      ['a header value with a line end', { statusCode: 200, headers: { a: '1\r\nb: 2' } }],
      ['a multi-value header that is not a list', { statusCode: 200, multiValueHeaders: { a: '1' } }],
    ])('there is none for %s', (_case, payload) => {
      expect(text(payload)).toBeUndefined();
    });

    test('there is none for a function error', () => {
      expect(toResponse({ ok: false, errorType: 'Error', errorMessage: 'table is gone' })).toBeUndefined();
    });
  });
});
