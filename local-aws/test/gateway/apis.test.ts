import { describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import { type InvocationResult, TooManyRequestsError } from '../../functions/invocation.ts';
import { type Api, createThrottle } from '../../gateway/api.ts';
import { withAccessLog } from '../../gateway/deployed-api.ts';
import { type GatewayResponse, gatewayAnswers } from '../../gateway/gateway-responses.ts';
import { type HttpApiOptions, httpApi } from '../../gateway/http-api.ts';
import { type RestApiOptions, restApi } from '../../gateway/rest-api.ts';
import { apiId, ask, MALFORMED, MEBIBYTE, withText } from './support.ts';

type Invoke<Event> = (event: Event) => Promise<InvocationResult>;
type HttpEvent = APIGatewayProxyEventV2;
type RestEvent = APIGatewayProxyEvent;

const HOOK = 'POST /api/v1/hook';

/** A function that answers with its event. */
const echo = async (event: unknown): Promise<InvocationResult> => ({
  ok: true,
  payload: { statusCode: 200, body: JSON.stringify(event) },
});

const http = (invoke: Invoke<HttpEvent> = echo, options: Partial<HttpApiOptions> = {}): Api =>
  httpApi({ apiId, routes: [{ routeKey: HOOK, invoke }], ...options });

function rest(
  invoke: Invoke<RestEvent> = echo,
  { integrationLimitMilliseconds, ...options }: Partial<RestApiOptions & HttpApiOptions> = {},
): Api {
  const path = { httpMethod: 'POST', resourceId: 'nva6hs', resourcePath: '/v1/hook' };
  const methods = [{ ...path, invoke, integrationLimitMilliseconds }];
  return restApi({ apiId, stage: 'api', methods, gatewayResponses: [], ...options });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test('an HTTP API invokes the function of a route with the event, and answers with its result', async () => {
  const events: HttpEvent[] = [];
  const api = http(async (event) => {
    events.push(event);
    return { ok: true, payload: { statusCode: 202, cookies: ['a=1', 'b=2'], body: 'queued' } };
  });
  const headers = ['content-type', 'application/json'];
  const answer = await ask(api, HOOK, { headers, body: Buffer.from('{}') });
  const requestId = events[0]?.requestContext.requestId;
  expect(events).toMatchObject([{ routeKey: HOOK, body: '{}' }]);
  expect(answer).toMatchObject({
    requestId,
    status: 202,
    headers: { 'set-cookie': ['a=1', 'b=2'], 'apigw-requestid': requestId },
    text: 'queued',
  });
});

test('a REST API invokes the function of a method with the event, and answers with its result', async () => {
  const events: RestEvent[] = [];
  const api = rest(async (event) => {
    events.push(event);
    const multiValueHeaders = { 'Set-Cookie': ['a=1', 'b=2'] };
    return { ok: true, payload: { statusCode: 202, multiValueHeaders, body: 'queued' } };
  });
  const answer = await ask(api, HOOK, { body: Buffer.from('{}') });
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

test('a REST API also accepts a slash at the end', async () => {
  const { text } = await ask(rest(), `${HOOK}/?q=1`);
  const queryStringParameters = { q: '1' };
  expect(JSON.parse(text)).toMatchObject({ resource: '/v1/hook', path: '/v1/hook/', queryStringParameters });
});

test('a client of a REST API may choose its request id, but not the extended one, which reports use', async () => {
  const headers = ['x-amzn-requestid', 'mine', 'x-amz-apigw-id', 'mine'];
  const { text, ...answer } = await ask(rest(), HOOK, { headers });
  const { requestId, extendedRequestId } = JSON.parse(text).requestContext;
  expect([requestId, answer.headers['x-amzn-requestid']]).toEqual(['mine', 'mine']);
  expect(answer.requestId).toBe(extendedRequestId);
  expect(extendedRequestId).not.toBe('mine');
});

test.each(['$default', 'ANY /hook', 'POST /{proxy+}', 'POST hook', 'POST', 'post /hook'])(
  'the route %s is refused at start',
  (routeKey) => {
    expect(() => http(echo, { routes: [{ routeKey, invoke: echo }] })).toThrow(
      `The route key '${routeKey}' is not supported`,
    );
  },
);

const base64 = (room: number) => Math.floor(room / 4) * 3;
test.each<
  [api: typeof http | typeof rest, type: string, character: string, largest: (room: number) => number]
>([
  [http, 'text/plain', 'a', (room) => room],
  // As JSON text, each quotation mark takes two bytes.
  [http, 'application/json', '"', (room) => Math.floor(room / 2)],
  [http, 'image/png', 'a', base64],
  [rest, 'text/plain', 'a', base64],
])('a body is accepted if the event has up to 6 MiB: %p, %s', async (apiOf, type, character, largest) => {
  let room = 0;
  const api = apiOf(async (event: HttpEvent | RestEvent) => {
    room = 6 * MEBIBYTE - Buffer.byteLength(JSON.stringify({ ...event, body: '' }));
    return { ok: true, payload: { statusCode: 200 } };
  });
  const statusFor = async (size: number) =>
    (await ask(api, HOOK, { headers: ['content-type', type], body: Buffer.alloc(size, character) })).status;
  // Content-Length then has seven digits, as with the largest body.
  await statusFor(3_000_000);
  expect([await statusFor(largest(room)), await statusFor(largest(room) + 3)]).toEqual([200, 413]);
});

const [ERROR, UNAVAILABLE, NONE] = ['Internal Server Error', 'Service Unavailable', 'Not Found'];
const [REST_ERROR, NO_METHOD] = ['Internal server error', 'Missing Authentication Token'];
const WITHOUT_TOKEN: [number, string, string] = [403, NO_METHOD, 'MISSING_AUTHENTICATION_TOKEN'];
const never = () => new Promise<InvocationResult>(() => {});
const failed = async () => ({ ok: false as const, errorType: 'Error', errorMessage: 'no table' });
const malformed = async () => ({ ok: true as const, payload: MALFORMED[0] });
const fail = (error: Error) => () => Promise.reject(error);
const busy = fail(new TooManyRequestsError());

type Case = {
  target?: string;
  invoke?: () => Promise<InvocationResult>;
  options?: Partial<HttpApiOptions>;
};
type Expected = [status: number, message: string, responseType?: string];
test.each<[given: string, input: Case, ofHttp: Expected, ofRest: Expected]>([
  ['another path', { target: 'POST /api/v1/other' }, [404, NONE], WITHOUT_TOKEN],
  ['another case', { target: 'POST /api/v1/HOOK' }, [404, NONE], WITHOUT_TOKEN],
  ['another method', { target: 'HEAD /api/v1/hook' }, [404, NONE], WITHOUT_TOKEN],
  ['another stage, without an access log', { target: 'POST /apis/v1/hook' }, [404, NONE], [403, 'Forbidden']],
  ['a function error', { invoke: failed }, [500, ERROR], [502, REST_ERROR, 'DEFAULT_5XX']],
  ['a malformed result', { invoke: malformed }, [500, ERROR], [502, REST_ERROR, 'DEFAULT_5XX']],
  [
    'a rejected invocation',
    { invoke: fail(new Error('none')) },
    [500, ERROR],
    [500, REST_ERROR, 'INTEGRATION_FAILURE'],
  ],
  ['no free concurrency', { invoke: busy }, [503, UNAVAILABLE], [500, REST_ERROR, 'INTEGRATION_FAILURE']],
  [
    'a function that takes too long',
    { invoke: never, options: { integrationLimitMilliseconds: 50 } },
    [503, UNAVAILABLE],
    [504, 'Endpoint request timed out', 'INTEGRATION_TIMEOUT'],
  ],
  [
    'a request above the throttle',
    { options: { throttle: { ThrottlingRateLimit: 0.001, ThrottlingBurstLimit: 0 } } },
    [429, 'Too Many Requests'],
    [429, 'Too Many Requests', 'THROTTLED'],
  ],
  [
    'a body above 10 MiB',
    {},
    [413, 'Request Entity Too Large'],
    [413, 'HTTP content length exceeded 10485760 bytes.', 'REQUEST_TOO_LARGE'],
  ],
])(
  'an API without an answer of a function answers %s',
  async (_given, { target = HOOK, invoke = echo, options }, ofHttp, ofRest) => {
    for (const [api, [status, message, type]] of [
      [http(invoke, options), ofHttp],
      [rest(invoke, options), ofRest],
    ] as const) {
      const answer = await ask(api, target, {}, status === 413);
      const headers = { 'content-type': 'application/json' };
      expect(answer).toMatchObject({ status, headers, text: JSON.stringify({ message }) });
      expect(answer.context?.['error.responseType']).toBe(type);
    }
  },
);

test('the throttle allows the burst at once, then its rate, and saves nothing up', () => {
  let now = 0;
  const admits = createThrottle({ ThrottlingRateLimit: 2, ThrottlingBurstLimit: 5 }, () => now);
  const admitted = (requests: number) => Array.from({ length: requests }, admits).filter(Boolean).length;
  expect(admitted(9)).toBe(5);
  now += 1_500;
  expect(admitted(9)).toBe(3);
  now += 60_000;
  expect(admitted(9)).toBe(5);
});

describe('a gateway response', () => {
  const error = { type: 'THROTTLED', status: 429, message: 'Too "Many" Requests' };
  const ids = { requestId: 'request', extendedRequestId: 'extended' };
  const template =
    '{"id":"$context.extendedRequestId","type":"$context.error.responseType","again":$context.error.messageString}';
  const problem = (ResponseType: string): GatewayResponse => ({
    ResponseType,
    StatusCode: '500',
    ResponseParameters: {
      'gatewayresponse.header.Content-Type': "'application/problem+json'",
      'gatewayresponse.header.X-Id': 'context.requestId',
    },
    ResponseTemplates: { 'application/json': template },
  });
  const answer = (responses: GatewayResponse[], to = error) =>
    withText(gatewayAnswers(responses)({ error: to, ...ids }));
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

  const bare: GatewayResponse = { ResponseType: 'THROTTLED' };
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
    const api = rest(echo, { gatewayResponses: [problem('DEFAULT_4XX')] });
    expect(await ask(api, 'PUT /api/v1/hook')).toMatchObject({ status: 500 });
  });

  const withTemplate = (text: string) => ({ ResponseTemplates: { 'application/json': text } });
  const onHeader = (name: string, value: string) => ({
    ResponseParameters: { [`gatewayresponse.${name}`]: value },
  });
  test.each([
    ['the variable $context.identity.sourceIp', withTemplate('{"ip":"$context.identity.sourceIp"}')],
    ['the variable $constructor', withTemplate('$constructor')],
    ['the directive #if', withTemplate('#if(true)yes#end')],
    ['the directive $!', withTemplate('$!context.requestId')],
    ['the value method.request.header.a', onHeader('header.a', 'method.request.header.a')],
    ['the parameter gatewayresponse.querystring.a', onHeader('querystring.a', "'1'")],
  ])('is refused at the start if it has %s', (has, response) => {
    expect(() => gatewayAnswers([{ ...bare, ...response }])).toThrow(
      `The gateway response THROTTLED is not supported: it has ${has}`,
    );
  });
});

const variables = 'status routeKey resourcePath error.responseType'.split(' ');
test.each([
  {
    apiOf: http,
    path: '/api/v1/hook',
    log: 'requestTime identity.sourceIp httpMethod routeKey status responseLength'.split(' '),
    lines: ['02/Mar/2020:19:03:58 +0000 127.0.0.1 POST POST /api/v1/hook 200 6 <id>'],
  },
  { apiOf: http, path: '/api/v1/other', log: variables, lines: ['404 - - - <id>'] },
  {
    apiOf: rest,
    path: '/api/v1/other',
    log: variables,
    lines: ['403 - - MISSING_AUTHENTICATION_TOKEN <id>'],
  },
  { apiOf: rest, path: '/api/v1/hook', log: variables, lines: ['200 - /v1/hook - <id>'] },
  // A request to another stage is not in the access log of this one.
  { apiOf: rest, path: '/other', log: variables, lines: [] },
])('the access log has $lines for $path', async ({ apiOf, path, log, lines }) => {
  const id = apiOf === http ? 'requestId' : 'extendedRequestId';
  const format = [...log, id].map((name) => `$context.${name}`).join(' ');
  const written: string[] = [];
  const api = apiOf(async () => ({ ok: true, payload: { statusCode: 200, body: 'queued' } }));
  const headers = ['x-amzn-requestid', 'of-the-client'];
  const logged = withAccessLog(api, format, (line) => written.push(line));
  const { requestId } = await ask(logged, `POST ${path}`, { headers });
  expect(written).toEqual(lines.map((line) => line.replace('<id>', requestId)));
});
