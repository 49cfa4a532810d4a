import { describe, expect, test } from '@jest/globals';
import type { HttpResponse } from '../../gateway/http-message.ts';
import * as format1 from '../../gateway/payload-format-1.ts';
import * as format2 from '../../gateway/payload-format-2.ts';
import { apiId, MALFORMED, received, withText } from './support.ts';

const domainName = `${apiId}.execute-api.us-east-1.amazonaws.com`;
const traceId = 'Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e';
const JSON_BODY = Buffer.from('{"event":"shop.updated"}');

const toEvent2 = (rawHeaders: readonly string[] = [], body = Buffer.alloc(0), target = '/api/v1/hook') =>
  format2.toEvent(received(target, rawHeaders), body, { apiId, requestId: 'JKJaXmPLvHcESHA=', traceId });

/** The event as a function receives it, after conversion to JSON and back. */
const toEvent1 = (rawHeaders: readonly string[] = [], body = Buffer.alloc(0), query = '') =>
  JSON.parse(
    JSON.stringify(
      format1.toEvent(received(`/api/v1/hook${query}`, rawHeaders), body, {
        apiId,
        resourceId: 'nva6hs',
        resourcePath: '/v1/hook',
        stage: 'api',
        requestId: 'b6781148-4ccf-4c06-b5ed-27aeaea4e3e8',
        extendedRequestId: 'AaX3pGxsDoEF7Ww=',
        traceId,
      }),
    ),
  );

describe('the event of payload format 2.0', () => {
  test('has the right shape', () => {
    const sent = { Host: 'localhost:3000', 'User-Agent': 'sender/2', 'Content-Type': 'application/json' };
    expect(toEvent2(Object.entries(sent).flat(), JSON_BODY, '/api/v1/hook?a=1')).toEqual({
      version: '2.0',
      routeKey: 'POST /api/v1/hook',
      rawPath: '/api/v1/hook',
      rawQueryString: 'a=1',
      headers: {
        host: 'localhost:3000',
        'user-agent': 'sender/2',
        'content-type': 'application/json',
        'content-length': '24',
        'x-amzn-trace-id': traceId,
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-port': '3000',
        'x-forwarded-proto': 'http',
      },
      queryStringParameters: { a: '1' },
      requestContext: {
        accountId: '000000000000',
        apiId,
        domainName,
        domainPrefix: apiId,
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
    const event = toEvent2();
    for (const field of ['body', 'cookies', 'queryStringParameters']) expect(event).not.toHaveProperty(field);
    expect(event).toMatchObject({ rawQueryString: '', isBase64Encoded: false });
  });

  test.each([
    { name: 'x-a', given: ['X-A', '1', 'x-a', '2'], value: '1,2' },
    { name: 'x-forwarded-for', given: ['X-Forwarded-For', '192.0.2.1'], value: '192.0.2.1,127.0.0.1' },
    { name: '__proto__', given: ['__proto__', 'x'], value: 'x' },
  ])('has the header $name of $given', ({ name, given, value }) => {
    expect(Object.entries(toEvent2(given).headers)).toContainEqual([name, value]);
  });

  test('has its cookies apart, and no headers of the connection', () => {
    const connection = ['Connection', 'close', 'Transfer-Encoding', 'chunked'];
    const { headers, cookies } = toEvent2(['Cookie', 'a=1; b=2', 'cookie', 'c=3', ...connection]);
    expect(cookies).toEqual(['a=1', 'b=2', 'c=3']);
    expect(headers).toEqual(toEvent2().headers);
  });

  test.each([
    { target: '/p?a=1&a=2&b=', rawPath: '/p', query: 'a=1&a=2&b=', parameters: { a: '1,2', b: '' } },
    { target: '/p?n=caf%C3%A9+b', rawPath: '/p', query: 'n=caf%C3%A9+b', parameters: { n: 'café b' } },
    { target: '//double/slash', rawPath: '//double/slash', query: '', parameters: undefined },
    { target: 'http://localhost:3000/p?a=1', rawPath: '/p', query: 'a=1', parameters: { a: '1' } },
  ])('reads the target $target', ({ target, rawPath, query, parameters }) => {
    const event = toEvent2([], Buffer.alloc(0), target);
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
    const event = toEvent2(type === undefined ? [] : ['Content-Type', type], body);
    expect(event.isBase64Encoded).toBe(encoding === 'base64');
    expect(Buffer.from(event.body ?? '', encoding)).toEqual(body);
  });
});

describe('the event of payload format 1.0', () => {
  test('has the right shape', () => {
    const headers = { Host: 'localhost:3000', 'User-Agent': 'sender/2', 'CONTENT-type': 'application/json' };
    const added = {
      'X-Amzn-Trace-Id': traceId,
      'X-Forwarded-For': '127.0.0.1',
      'X-Forwarded-Port': '3000',
      'X-Forwarded-Proto': 'http',
    };
    const without = [
      'accessKey accountId apiKey apiKeyId caller clientCert cognitoAuthenticationProvider user userArn',
      'cognitoAuthenticationType cognitoIdentityId cognitoIdentityPoolId principalOrgId',
    ].flatMap((names) => names.split(' '));
    expect(toEvent1(Object.entries(headers).flat(), JSON_BODY, '?a=1&a=2')).toEqual({
      resource: '/v1/hook',
      path: '/v1/hook',
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
        resourcePath: '/v1/hook',
        httpMethod: 'POST',
        extendedRequestId: 'AaX3pGxsDoEF7Ww=',
        requestTime: '02/Mar/2020:19:03:58 +0000',
        path: '/api/v1/hook',
        accountId: '000000000000',
        protocol: 'HTTP/1.1',
        stage: 'api',
        domainPrefix: apiId,
        requestTimeEpoch: 1583175838390,
        requestId: 'b6781148-4ccf-4c06-b5ed-27aeaea4e3e8',
        identity: {
          ...Object.fromEntries(without.map((name) => [name, null])),
          sourceIp: '127.0.0.1',
          userAgent: 'sender/2',
        },
        domainName,
        apiId,
      },
      body: JSON_BODY.toString('base64'),
      isBase64Encoded: true,
    });
  });

  test('has null for missing parts of the request', () => {
    expect(toEvent1()).toMatchObject({
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
    const { headers, multiValueHeaders } = toEvent1(given);
    expect(Object.entries(headers)).toContainEqual([name, values.at(-1)]);
    expect(Object.entries(multiValueHeaders)).toContainEqual([name, values]);
  });

  test('leaves out the headers that a REST API drops', () => {
    const dropped = ['Connection', 'Content-MD5', 'Expect', 'Server', 'TE', 'Transfer-Encoding', 'Upgrade'];
    expect(toEvent1(dropped.flatMap((name) => [name, 'x'])).headers).toEqual(toEvent1().headers);
  });
});

const RESPONSES = { '1.0': format1.toResponse, '2.0': format2.toResponse } as const;
const respond = (format: keyof typeof RESPONSES, payload: unknown) =>
  withText(RESPONSES[format]({ ok: true, payload }));

test.each([{ queued: true }, 'done', null])(
  'the response of payload format 2.0 to %j without a status code is 200 and JSON',
  (payload) => {
    const headers = { 'content-type': 'application/json' };
    expect(respond('2.0', payload)).toEqual({ status: 200, headers, body: JSON.stringify(payload) });
  },
);

const problem = { 'Content-Type': 'application/problem+json', 'Retry-After': 30 };
const remapped = ['www-authenticate', 'date', 'server', 'connection'];
const xOf = (...names: string[]) => Object.fromEntries(names.map((name) => [name, 'x']));
test.each<{
  format: keyof typeof RESPONSES;
  payload: Record<string, unknown>;
  headers?: HttpResponse['headers'];
  body?: string;
}>([
  { format: '2.0', payload: { body: null } },
  { format: '2.0', payload: { body: 'w6k=', isBase64Encoded: true }, body: 'é' },
  {
    format: '2.0',
    payload: { headers: problem, cookies: ['a=1; HttpOnly', 'b=2'] },
    headers: {
      'content-type': 'application/problem+json',
      'retry-after': '30',
      'set-cookie': ['a=1; HttpOnly', 'b=2'],
    },
  },
  { format: '2.0', payload: { headers: xOf('Connection', 'Content-Length', 'Transfer-Encoding') } },
  { format: '1.0', payload: { body: null, headers: null } },
  { format: '1.0', payload: { body: 'w6k=', isBase64Encoded: true }, body: 'é' },
  {
    format: '1.0',
    payload: { headers: problem },
    headers: { 'content-type': ['application/problem+json'], 'retry-after': ['30'] },
  },
  // Both kinds of headers are merged, each value once.
  {
    format: '1.0',
    payload: { headers: { 'X-A': '2', 'X-B': '1' }, multiValueHeaders: { 'x-a': ['1', '2'] } },
    headers: { 'x-a': ['1', '2'], 'x-b': ['1'] },
  },
  {
    format: '1.0',
    payload: { headers: xOf(...remapped) },
    headers: Object.fromEntries(remapped.map((name) => [`x-amzn-remapped-${name}`, ['x']])),
  },
  { format: '1.0', payload: { headers: xOf('Content-Length', 'Transfer-Encoding', 'Via', 'Upgrade') } },
])('the response of payload format $format to $payload', ({ format, payload, headers, body = '' }) => {
  const contentType = format === '1.0' ? 'application/json' : 'text/plain;charset=UTF-8';
  expect(respond(format, { statusCode: 401, ...payload })).toEqual({
    status: 401,
    headers: { 'content-type': contentType, ...headers },
    body,
  });
});

const ofBoth = (['1.0', '2.0'] as const).flatMap((format) =>
  MALFORMED.map((payload) => ({ format, payload })),
);
test.each([
  ...ofBoth,
  { format: '2.0' as const, payload: { statusCode: 200, cookies: 'a=1' } },
  { format: '2.0' as const, payload: { statusCode: 200, headers: { a: ['1'] } } },
  // `cookies` belongs to payload format 2.0. In format 1.0 it is unknown.
  { format: '1.0' as const, payload: { statusCode: 200, cookies: ['a=1'] } },
  { format: '1.0' as const, payload: { statusCode: 200, multiValueHeaders: { a: '1' } } },
  { format: '1.0' as const, payload: 'text' },
])('there is no response of payload format $format to $payload', ({ format, payload }) => {
  expect(respond(format, payload)).toBeUndefined();
});
