import { describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type InvocationResult, TooManyRequestsError } from '../../functions/invocation.ts';
import { type GatewayResponse, GatewayResponses } from '../../gateway/gateway-responses.ts';
import { toEvent as eventOf, toResponse } from '../../gateway/payload-format-1.ts';
import { type RestApiOptions, restApi } from '../../gateway/rest-api.ts';
import type { Api } from '../../gateway/server.ts';
import { apiId, ask, FUNCTION_ERROR, MALFORMED, MEBIBYTE, received, withText } from './support.ts';

type Invoke = (event: APIGatewayProxyEvent) => Promise<InvocationResult>;

/** A function that answers with its event. */
const echo: Invoke = async (event) => ({
  ok: true,
  payload: { statusCode: 200, body: JSON.stringify(event) },
});

const apiOf = (
  invoke = echo,
  options: Partial<RestApiOptions> = {},
  integrationLimitMilliseconds = 29_000,
): Api =>
  restApi({
    apiId,
    stage: 'api',
    methods: [
      {
        httpMethod: 'POST',
        resourceId: 'nva6hs',
        resourcePath: '/v1/hook',
        invoke,
        integrationLimitMilliseconds,
      },
    ],
    gatewayResponses: [],
    ...options,
  });

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('a request to a method', () => {
  test('invokes its function with the event and gets its answer', async () => {
    const events: APIGatewayProxyEvent[] = [];
    const api = apiOf(async (event) => {
      events.push(event);
      const multiValueHeaders = { 'Set-Cookie': ['a=1', 'b=2'] };
      return { ok: true, payload: { statusCode: 202, multiValueHeaders, body: 'queued' } };
    });
    const answer = await ask(api, 'POST /api/v1/hook', { body: Buffer.from('{}') });
    const { requestId, extendedRequestId } = events[0]?.requestContext ?? {};
    expect(events).toMatchObject([
      {
        path: '/v1/hook',
        body: Buffer.from('{}').toString('base64'),
        requestContext: { path: '/api/v1/hook', stage: 'api', resourceId: 'nva6hs' },
      },
    ]);
    expect(requestId).toMatch(UUID);
    expect(answer).toMatchObject({
      requestId: extendedRequestId,
      status: 202,
      headers: {
        'set-cookie': ['a=1', 'b=2'],
        'x-amzn-requestid': requestId,
        'x-amz-apigw-id': extendedRequestId,
        'x-amzn-trace-id': events[0]?.headers['X-Amzn-Trace-Id'],
      },
      text: 'queued',
    });
  });

  test('is also accepted with a slash at the end', async () => {
    const { text } = await ask(apiOf(), 'POST /api/v1/hook/?q=1');
    expect(JSON.parse(text)).toMatchObject({
      resource: '/v1/hook',
      path: '/v1/hook/',
      queryStringParameters: { q: '1' },
    });
  });

  test('may choose its request id, but not the extended one, which reports use', async () => {
    const headers = ['x-amzn-requestid', 'mine', 'x-amz-apigw-id', 'mine'];
    const { text, ...answer } = await ask(apiOf(), 'POST /api/v1/hook', { headers });
    const { requestId, extendedRequestId } = JSON.parse(text).requestContext;
    expect([requestId, answer.headers['x-amzn-requestid']]).toEqual(['mine', 'mine']);
    expect(answer.requestId).toBe(extendedRequestId);
    expect(extendedRequestId).not.toBe('mine');
  });

  test('is accepted if its event has up to 6 MiB', async () => {
    let envelope = 0;
    const api = apiOf(async (event) => {
      envelope = Buffer.byteLength(JSON.stringify({ ...event, body: '' }));
      return { ok: true, payload: { statusCode: 200 } };
    });
    const statusFor = async (size: number) =>
      (await ask(api, 'POST /api/v1/hook', { body: Buffer.alloc(size) })).status;
    expect(await statusFor(3_000_000)).toBe(200);
    // Base64 encodes three bytes in four characters.
    const largest = Math.floor((6 * MEBIBYTE - envelope) / 4) * 3;
    expect([await statusFor(largest), await statusFor(largest + 3)]).toEqual([200, 413]);
  });
});

describe('an error of the API itself', () => {
  const hook = 'POST /api/v1/hook';
  const [NONE, TYPE] = ['Missing Authentication Token', 'MISSING_AUTHENTICATION_TOKEN'];
  const ERROR = 'Internal server error';
  const TOO_LARGE = 'HTTP content length exceeded 10485760 bytes.';
  const failing = apiOf(async () => FUNCTION_ERROR);
  const malformed = apiOf(async () => ({ ok: true, payload: 'text' }));
  const busy = apiOf(() => Promise.reject(new TooManyRequestsError()));
  const rejecting = apiOf(() => Promise.reject(new Error('none')));
  const slow = apiOf(() => new Promise(() => {}), {}, 50);
  const throttled = apiOf(echo, { throttle: { rate: 1, burst: 0 } });

  test.each<[given: string, api: Api, target: string, status: number, text: string, type?: string]>([
    ['another path', apiOf(), 'POST /api/v1/other', 403, NONE, TYPE],
    ['another method', apiOf(), 'PUT /api/v1/hook', 403, NONE, TYPE],
    ['the stage itself', apiOf(), 'GET /api', 403, NONE, TYPE],
    ['a function error', failing, hook, 502, ERROR, 'DEFAULT_5XX'],
    ['a malformed response', malformed, hook, 502, ERROR, 'DEFAULT_5XX'],
    ['no free concurrency', busy, hook, 500, ERROR, 'INTEGRATION_FAILURE'],
    ['a rejected invocation', rejecting, hook, 500, ERROR, 'INTEGRATION_FAILURE'],
    ['a function that takes too long', slow, hook, 504, 'Endpoint request timed out', 'INTEGRATION_TIMEOUT'],
    ['a request above the throttle', throttled, hook, 429, 'Too Many Requests', 'THROTTLED'],
    ['a body above 10 MiB', apiOf(), hook, 413, TOO_LARGE, 'REQUEST_TOO_LARGE'],
    ['another stage, which has no access log here', apiOf(), 'POST /apis/v1/hook', 403, 'Forbidden'],
  ])('for %s', async (_given, api, target, status, text, ...[type]) => {
    const answer = await ask(api, target, {}, status === 413);
    expect(answer).toMatchObject({
      status,
      headers: { 'content-type': 'application/json', 'x-amzn-requestid': expect.stringMatching(UUID) },
      text: JSON.stringify({ message: text }),
    });
    expect(answer.context?.['error.responseType']).toBe(type);
  });
});

describe('a gateway response', () => {
  const error = { type: 'THROTTLED', status: 429, message: 'Too "Many" Requests' };
  const ids = { requestId: 'request', extendedRequestId: 'extended' };
  const problem = (type: string): GatewayResponse => ({
    type,
    status: 500,
    parameters: {
      'gatewayresponse.header.Content-Type': "'application/problem+json'",
      'gatewayresponse.header.X-Id': 'context.requestId',
    },
    template:
      '{"id":"$context.extendedRequestId","type":"$context.error.responseType","again":$context.error.messageString}',
  });
  const answer = (responses: GatewayResponse[], to = error) =>
    withText(new GatewayResponses(responses).answer({ error: to, ...ids }));
  const byDefault = {
    status: 429,
    headers: { 'content-type': 'application/json' },
    body: '{"message":"Too \\"Many\\" Requests"}',
  };
  const changed = {
    status: 500,
    headers: { 'content-type': 'application/problem+json', 'x-id': 'request' },
    body: '{"id":"extended","type":"THROTTLED","again":"Too \\"Many\\" Requests"}',
  };

  const bare: GatewayResponse = { type: 'THROTTLED', parameters: {} };
  test.each<[what: string, expected: object, responses: GatewayResponse[]]>([
    ['of its type changes the answer', changed, [problem('THROTTLED')]],
    ['of its class changes the answer', changed, [problem('DEFAULT_4XX')]],
    ['of another type or class does not', byDefault, [problem('UNAUTHORIZED'), problem('DEFAULT_5XX')]],
    ['of a type has precedence, and may keep status and body', byDefault, [bare, problem('DEFAULT_4XX')]],
  ])('%s', (_what, expected, responses) => {
    expect(answer(responses)).toEqual(expected);
  });

  test('cannot change the answer to a request that is too large', () => {
    const tooLarge = { ...error, type: 'REQUEST_TOO_LARGE', status: 413 };
    const responses = [problem('REQUEST_TOO_LARGE'), problem('DEFAULT_4XX')];
    expect(answer(responses, tooLarge)).toEqual({ ...byDefault, status: 413 });
  });

  test('is used by the API', async () => {
    const api = apiOf(echo, { gatewayResponses: [problem('DEFAULT_4XX')] });
    expect(await ask(api, 'PUT /api/v1/hook')).toMatchObject({ status: 500 });
  });

  const onHeader = (name: string, value: string) => ({ parameters: { [`gatewayresponse.${name}`]: value } });
  test.each([
    ['the variable $context.identity.sourceIp', { template: '{"ip":"$context.identity.sourceIp"}' }],
    ['the variable $constructor', { template: '$constructor' }],
    ['the directive #if', { template: '#if(true)yes#end' }],
    ['the directive $!', { template: '$!context.requestId' }],
    ['the value method.request.header.a', onHeader('header.a', 'method.request.header.a')],
    ['the parameter gatewayresponse.querystring.a', onHeader('querystring.a', "'1'")],
  ])('is refused at the start if it has %s', (has, response) => {
    expect(() => new GatewayResponses([{ type: 'THROTTLED', parameters: {}, ...response }])).toThrow(
      `The gateway response THROTTLED is not supported: it has ${has}`,
    );
  });
});

/** The event as a function receives it, after conversion to JSON and back. */
const toEvent = (rawHeaders: readonly string[] = [], body = Buffer.alloc(0), query = '') =>
  JSON.parse(
    JSON.stringify(
      eventOf(received(`/api/v1/webhooks/partner${query}`, rawHeaders), body, {
        apiId: 'a1b2c3d4e5',
        accountId: '000000000000',
        domainName: 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com',
        resourceId: 'nva6hs',
        resourcePath: '/v1/webhooks/partner',
        stage: 'api',
        requestId: 'b6781148-4ccf-4c06-b5ed-27aeaea4e3e8',
        extendedRequestId: 'AaX3pGxsDoEF7Ww=',
        traceId: 'Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e',
      }),
    ),
  );

describe('the event of payload format 1.0', () => {
  test('has the right shape', () => {
    const headers = { Host: 'localhost:3000', 'User-Agent': 'sender/2', 'CONTENT-type': 'application/json' };
    const body = Buffer.from('{"event":"shop.updated"}');
    const added = {
      'X-Amzn-Trace-Id': 'Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e',
      'X-Forwarded-For': '127.0.0.1',
      'X-Forwarded-Port': '3000',
      'X-Forwarded-Proto': 'http',
    };
    const without = [
      'accessKey accountId apiKey apiKeyId caller clientCert cognitoAuthenticationProvider user userArn',
      'cognitoAuthenticationType cognitoIdentityId cognitoIdentityPoolId principalOrgId',
    ].flatMap((names) => names.split(' '));
    expect(toEvent(Object.entries(headers).flat(), body, '?a=1&a=2')).toEqual({
      resource: '/v1/webhooks/partner',
      path: '/v1/webhooks/partner',
      httpMethod: 'POST',
      headers: { ...headers, ...added },
      multiValueHeaders: Object.fromEntries(
        Object.entries({ ...headers, ...added }).map(([name, value]) => [name, [value]]),
      ),
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
          ...Object.fromEntries(without.map((name) => [name, null])),
          sourceIp: '127.0.0.1',
          userAgent: 'sender/2',
        },
        domainName: 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com',
        apiId: 'a1b2c3d4e5',
      },
      body: body.toString('base64'),
      isBase64Encoded: true,
    });
  });

  test('has null for missing parts of the request', () => {
    expect(toEvent()).toMatchObject({
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
    { name: 'X-Forwarded-For', given: ['x-forwarded-for', '192.0.2.1'], values: ['192.0.2.1, 127.0.0.1'] },
    { name: '__proto__', given: ['__proto__', 'x'], values: ['x'] },
  ])('has the header $name of $given', ({ name, given, values }) => {
    const { headers, multiValueHeaders } = toEvent(given);
    expect(Object.entries(headers)).toContainEqual([name, values.at(-1)]);
    expect(Object.entries(multiValueHeaders)).toContainEqual([name, values]);
  });

  test('leaves out the headers that a REST API drops', () => {
    const dropped = ['Connection', 'Content-MD5', 'Expect', 'Server', 'TE', 'Transfer-Encoding', 'Upgrade'];
    expect(toEvent(dropped.flatMap((name) => [name, 'x'])).headers).toEqual(toEvent().headers);
  });
});

describe('the response of payload format 1.0', () => {
  const text = (payload: unknown) => withText(toResponse({ ok: true, payload }));
  const json = { 'content-type': 'application/json' };

  test.each<{ payload: Record<string, unknown>; headers?: Record<string, string | string[]>; body?: string }>(
    [
      { payload: { body: null, headers: null } },
      { payload: { body: 'w6k=', isBase64Encoded: true }, body: 'é' },
      {
        payload: { headers: { 'Content-Type': 'application/problem+json', 'Retry-After': 30 } },
        headers: { 'content-type': ['application/problem+json'], 'retry-after': ['30'] },
      },
      // Both kinds of headers are merged, each value once.
      {
        payload: { headers: { 'X-A': '2', 'X-B': '1' }, multiValueHeaders: { 'x-a': ['1', '2'] } },
        headers: { 'x-a': ['1', '2'], 'x-b': ['1'] },
      },
      {
        payload: { headers: { 'WWW-Authenticate': 'x', Date: 'x', Server: 'x', Connection: 'x' } },
        headers: Object.fromEntries(
          ['www-authenticate', 'date', 'server', 'connection'].map((name) => [
            `x-amzn-remapped-${name}`,
            ['x'],
          ]),
        ),
      },
      {
        payload: {
          headers: { 'Content-Length': '3', 'Transfer-Encoding': 'chunked', Via: 'x', Upgrade: 'x' },
        },
      },
    ],
  )('to $payload', ({ payload, headers, body = '' }) => {
    expect(text({ statusCode: 401, ...payload })).toEqual({
      status: 401,
      headers: { ...json, ...headers },
      body,
    });
  });

  test.each([
    ...MALFORMED,
    // `cookies` belongs to payload format 2.0. In format 1.0 it is unknown.
    { statusCode: 200, cookies: ['a=1'] },
    { statusCode: 200, multiValueHeaders: { a: '1' } },
  ])('is missing for %j', (payload) => {
    expect(text(payload)).toBeUndefined();
  });
});
