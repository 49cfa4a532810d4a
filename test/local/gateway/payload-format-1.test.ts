import { describe, expect, test } from '@jest/globals';
import { type HttpRequest, pairs, splitTarget } from '../../../local/gateway/http-message.ts';
import {
  toEvent as eventOf,
  type ResourceContext,
  toResponse,
} from '../../../local/gateway/payload-format-1.ts';

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
