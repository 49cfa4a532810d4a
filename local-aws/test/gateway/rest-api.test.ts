import { describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type InvocationResult, TooManyRequestsError } from '../../functions/invocation.ts';
import type { GatewayResponse } from '../../gateway/gateway-responses.ts';
import { toEvent as eventOf, type ResourceContext, toResponse } from '../../gateway/payload-format-1.ts';
import { type RestApiOptions, restApi } from '../../gateway/rest-api.ts';
import type { RunningGateway } from '../../gateway/server.ts';
import type { Exchange } from '../../observation.ts';
import { apiId, MEBIBYTE, postTo, received, serve, withText } from './support.ts';

type Invoke = (event: APIGatewayProxyEvent) => Promise<InvocationResult>;

/** A function that answers with its event. */
const echo: Invoke = async (event) => ({
  ok: true,
  payload: { statusCode: 200, body: JSON.stringify(event) },
});

interface Settings extends Partial<RestApiOptions> {
  onExchange?: (exchange: Exchange) => void;
  integrationLimitMilliseconds?: number;
}

async function start(invoke: Invoke = echo, settings: Settings = {}): Promise<RunningGateway> {
  const { onExchange, integrationLimitMilliseconds, ...options } = settings;
  const api = restApi({
    apiId,
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
  return serve(api, onExchange && { onExchange });
}

const post = (
  gateway: RunningGateway,
  body?: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
) => postTo(`${gateway.url}/api/v1/hook`, body, headers);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('a request to a method', () => {
  test('invokes its function with the event and gets its answer', async () => {
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
    expect(response.headers.get('x-amzn-remapped-www-authenticate')).toBe('Basic');
    expect(events).toMatchObject([
      {
        path: '/v1/hook',
        body: Buffer.from('{"event":"shop.updated"}').toString('base64'),
        requestContext: { path: '/api/v1/hook', stage: 'api', resourceId: 'nva6hs' },
      },
    ]);
    const { requestId, extendedRequestId } = events[0]?.requestContext ?? {};
    expect(requestId).toMatch(UUID);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-a': '1',
      'x-amzn-requestid': requestId,
      'x-amz-apigw-id': extendedRequestId,
      'x-amzn-trace-id': events[0]?.headers['X-Amzn-Trace-Id'],
    });
  });

  test('is also accepted with a slash at the end', async () => {
    const gateway = await start();
    const response = await fetch(`${gateway.url}/api/v1/hook/?q=1`, { method: 'POST' });
    expect(await response.json()).toMatchObject({
      resource: '/v1/hook',
      path: '/v1/hook/',
      queryStringParameters: { q: '1' },
    });
  });

  test('may choose its request id, but not the extended one, which reports use', async () => {
    const exchanges: Exchange[] = [];
    const gateway = await start(echo, { onExchange: (exchange) => exchanges.push(exchange) });
    const ids = { 'x-amzn-requestid': 'mine', 'x-amz-apigw-id': 'mine' };
    const response = await post(gateway, '{}', ids);
    const { requestId, extendedRequestId } = JSON.parse(await response.text()).requestContext;
    expect(requestId).toBe('mine');
    expect(response.headers.get('x-amzn-requestid')).toBe('mine');
    expect(extendedRequestId).not.toBe('mine');
    expect(exchanges).toMatchObject([{ path: '/api/v1/hook', status: 200, requestId: extendedRequestId }]);
  });

  test('is accepted if its event has up to 6 MiB', async () => {
    let envelope = 0;
    const gateway = await start(async (event) => {
      envelope = Buffer.byteLength(JSON.stringify({ ...event, body: '' }));
      return { ok: true, payload: { statusCode: 200 } };
    });
    expect((await post(gateway, Buffer.alloc(3_000_000))).status).toBe(200);
    // Base64 encodes three bytes in four characters.
    const largest = Math.floor((6 * MEBIBYTE - envelope) / 4) * 3;
    expect((await post(gateway, Buffer.alloc(largest))).status).toBe(200);
    expect((await post(gateway, Buffer.alloc(largest + 3))).status).toBe(413);
  });
});

/** A situation in which an API answers without calling the function. */
interface Situation {
  readonly situation: string;
  readonly ask: (settings: Settings) => Promise<Response>;
  readonly status: number;
  readonly text: string;
  /** The type of gateway response that can change the answer. */
  readonly type: string;
}

const at =
  (method: string, path: string) =>
  async (settings: Settings): Promise<Response> =>
    fetch(`${(await start(echo, settings)).url}${path}`, { method });
const noMethod = { status: 403, text: 'Missing Authentication Token', type: 'MISSING_AUTHENTICATION_TOKEN' };
const badGateway = { status: 502, text: 'Internal server error', type: 'DEFAULT_5XX' };
const failedIntegration = { status: 500, text: 'Internal server error', type: 'INTEGRATION_FAILURE' };

const changeable: Situation[] = [
  { situation: 'another path', ask: at('POST', '/api/v1/other'), ...noMethod },
  { situation: 'another method', ask: at('PUT', '/api/v1/hook'), ...noMethod },
  { situation: 'the stage itself', ask: at('GET', '/api'), ...noMethod },
  {
    situation: 'a function error',
    ask: async (settings) =>
      post(await start(async () => ({ ok: false, errorType: 'Error', errorMessage: 'x' }), settings)),
    ...badGateway,
  },
  {
    situation: 'a malformed response',
    ask: async (settings) => post(await start(async () => ({ ok: true, payload: 'text' }), settings)),
    ...badGateway,
  },
  {
    situation: 'no free concurrency',
    ask: async (settings) => post(await start(() => Promise.reject(new TooManyRequestsError()), settings)),
    ...failedIntegration,
  },
  {
    situation: 'a rejected invocation',
    ask: async (settings) => post(await start(() => Promise.reject(new Error('no function')), settings)),
    ...failedIntegration,
  },
  {
    situation: 'a function that takes too long',
    ask: async (settings) =>
      post(await start(() => new Promise(() => {}), { ...settings, integrationLimitMilliseconds: 50 })),
    status: 504,
    text: 'Endpoint request timed out',
    type: 'INTEGRATION_TIMEOUT',
  },
  {
    situation: 'a request above the throttle',
    ask: async (settings) => post(await start(echo, { ...settings, throttle: { rate: 1, burst: 0 } })),
    status: 429,
    text: 'Too Many Requests',
    type: 'THROTTLED',
  },
];

const unchangeable: Situation[] = [
  {
    situation: 'a body above 10 MiB',
    ask: async (settings) => post(await start(echo, settings), Buffer.alloc(10 * MEBIBYTE + 1)),
    status: 413,
    text: 'HTTP content length exceeded 10485760 bytes.',
    type: 'REQUEST_TOO_LARGE',
  },
  {
    situation: 'an event above 6 MiB',
    ask: async (settings) => post(await start(echo, settings), Buffer.alloc(5 * MEBIBYTE)),
    status: 413,
    text: 'Request Too Long',
    type: 'REQUEST_TOO_LARGE',
  },
  {
    situation: 'another stage',
    ask: at('POST', '/apis/v1/hook'),
    status: 403,
    text: 'Forbidden',
    type: 'ACCESS_DENIED',
  },
];

/** Parts of the answer that a gateway response can change. */
async function answerOf(response: Response) {
  return {
    status: response.status,
    body: await response.text(),
    contentType: response.headers.get('content-type'),
    retryAfter: response.headers.get('retry-after'),
  };
}

const defaultAnswer = (status: number, message: string) => ({
  status,
  body: JSON.stringify({ message }),
  contentType: 'application/json',
  retryAfter: null,
});

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

describe('a gateway response', () => {
  test.each([...changeable, ...unchangeable])(
    'of another type does not change the answer to $situation',
    async ({ ask, status, text }) => {
      const otherClass = status < 500 ? 'DEFAULT_5XX' : 'DEFAULT_4XX';
      const response = await ask({ gatewayResponses: [problem('UNAUTHORIZED'), problem(otherClass)] });
      expect(response.headers.get('x-amzn-requestid')).toMatch(UUID);
      expect(response.headers.get('x-amz-apigw-id')).toBeTruthy();
      expect(await answerOf(response)).toEqual(defaultAnswer(status, text));
    },
  );

  test.each(changeable)('of its type changes the answer to $situation', async ({ ask, text, type }) => {
    const response = await ask({ gatewayResponses: [problem(type)] });
    const id = response.headers.get('x-amzn-requestid');
    expect(await answerOf(response)).toEqual({
      status: 500,
      body: JSON.stringify({ id, type, said: text, again: text }),
      contentType: 'application/problem+json',
      retryAfter: '5',
    });
  });

  test.each(changeable)('of its class changes the answer to $situation', async ({ ask, status }) => {
    const gatewayResponses = [problem(status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX')];
    expect(await answerOf(await ask({ gatewayResponses }))).toMatchObject({ status: 500, retryAfter: '5' });
  });

  test.each(unchangeable)('cannot change the answer to $situation', async ({ ask, status, text, type }) => {
    const gatewayResponses = [problem(type), problem('DEFAULT_4XX')];
    expect(await answerOf(await ask({ gatewayResponses }))).toEqual(defaultAnswer(status, text));
  });

  test('of a type has precedence over that of its class, and may keep the status of the error', async () => {
    const parameters = { 'gatewayresponse.header.X-Id': 'context.requestId' };
    const gateway = await start(echo, {
      throttle: { rate: 1, burst: 0 },
      gatewayResponses: [{ type: 'THROTTLED', parameters }, problem('DEFAULT_4XX')],
    });
    const response = await post(gateway);
    expect(response.headers.get('x-id')).toBe(response.headers.get('x-amzn-requestid'));
    expect(await answerOf(response)).toEqual(defaultAnswer(429, 'Too Many Requests'));
  });

  test.each([
    {
      has: 'the variable $context.identity.sourceIp',
      response: { template: '{"ip":"$context.identity.sourceIp"}' },
    },
    { has: 'the variable $constructor', response: { template: '$constructor' } },
    { has: 'the directive #if', response: { template: '#if(true)yes#end' } },
    { has: 'the directive $!', response: { template: '$!context.requestId' } },
    {
      has: 'the value method.request.header.a',
      response: { parameters: { 'gatewayresponse.header.a': 'method.request.header.a' } },
    },
    {
      has: 'the parameter gatewayresponse.querystring.a',
      response: { parameters: { 'gatewayresponse.querystring.a': "'1'" } },
    },
  ])('is refused at the start if it has $has', async ({ has, response }) => {
    const gatewayResponses: GatewayResponse[] = [{ type: 'THROTTLED', parameters: {}, ...response }];
    await expect(start(echo, { gatewayResponses })).rejects.toThrow(
      `The gateway response THROTTLED is not supported: it has ${has}`,
    );
  });
});

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
  readonly target?: string;
  readonly rawHeaders?: readonly string[];
  readonly body?: Buffer;
}

/** The event as a function receives it, after conversion to JSON and back. */
const toEvent = ({ target = '/api/v1/webhooks/partner', rawHeaders, body = Buffer.alloc(0) }: Sent) =>
  JSON.parse(JSON.stringify(eventOf(received(target, rawHeaders), body, resource)));

describe('the event of payload format 1.0', () => {
  test('has the right shape', () => {
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

  test('has null for missing parts of the request', () => {
    expect(toEvent({})).toMatchObject({
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      body: null,
      isBase64Encoded: false,
    });
  });

  test.each([
    { name: 'X-A', given: ['X-A', '1', 'X-A', '2'], values: ['1', '2'] },
    { name: 'x-a', given: ['X-A', '1', 'x-a', '2'], values: ['2'] },
    // The client's address is appended, in whatever case the header's name is written.
    {
      name: 'X-Forwarded-For',
      given: ['x-forwarded-for', '192.0.2.1'],
      values: ['192.0.2.1, 127.0.0.1'],
    },
    { name: '__proto__', given: ['__proto__', 'x'], values: ['x'] },
  ])('has the header $name of $given', ({ name, given, values }) => {
    const { headers, multiValueHeaders } = toEvent({ rawHeaders: given });
    expect(Object.entries(headers)).toContainEqual([name, values.at(-1)]);
    expect(Object.entries(multiValueHeaders)).toContainEqual([name, values]);
  });

  test('leaves out the headers that a REST API drops', () => {
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

  test.each(['application/json', 'application/octet-stream'])(
    'carries every byte of a body of type %s, also of one that is not UTF-8',
    (contentType) => {
      const body = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]);
      const event = toEvent({ rawHeaders: ['Content-Type', contentType], body });
      expect(event.isBase64Encoded).toBe(true);
      expect(Buffer.from(event.body, 'base64')).toEqual(body);
    },
  );
});

describe('the response of payload format 1.0', () => {
  const text = (payload: unknown) => withText(toResponse({ ok: true, payload }));

  test('has the status, headers and body of the function', () => {
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
    { payload: { statusCode: 200 }, body: '' },
    { payload: { statusCode: 200, body: null, headers: null }, body: '' },
    { payload: { statusCode: 200, body: 'w6k=', isBase64Encoded: true }, body: 'é' },
  ])('to $payload is JSON with the body $body', ({ payload, body }) => {
    expect(text(payload)).toEqual({ status: 200, headers: { 'content-type': 'application/json' }, body });
  });

  test.each(['WWW-Authenticate', 'Date', 'Server', 'Connection'])('renames the header %s', (name) => {
    expect(text({ statusCode: 200, headers: { [name]: 'x' } })?.headers).toEqual({
      'content-type': 'application/json',
      [`x-amzn-remapped-${name.toLowerCase()}`]: ['x'],
    });
  });

  test('drops the headers of the connection, and sets the length itself', () => {
    const headers = { 'Content-Length': '3', 'Transfer-Encoding': 'chunked', Via: 'x', Upgrade: 'x' };
    expect(text({ statusCode: 200, headers, body: 'long' })?.headers).toEqual({
      'content-type': 'application/json',
    });
  });

  test.each([
    'done',
    null,
    { body: 'queued' },
    // `cookies` belongs to payload format 2.0. In format 1.0 it is unknown.
    { statusCode: 200, cookies: ['a=1'] },
    { statusCode: '200' },
    { statusCode: 100 },
    { statusCode: 200, body: { queued: true } },
    { statusCode: 200, isBase64Encoded: 'no' },
    { statusCode: 200, headers: ['a'] },
    { statusCode: 200, headers: { a: [{}] } },
    { statusCode: 200, headers: { a: '1\r\nb: 2' } },
    { statusCode: 200, multiValueHeaders: { a: '1' } },
  ])('is missing for %j', (payload) => {
    expect(text(payload)).toBeUndefined();
  });
});
