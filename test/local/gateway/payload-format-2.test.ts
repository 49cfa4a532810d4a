import { describe, expect, test } from '@jest/globals';
import { type HttpRequest, pairs, splitTarget } from '../../../local/gateway/http-message.ts';
import { type ApiContext, toEvent as eventOf, toResponse } from '../../../local/gateway/payload-format-2.ts';

const api: ApiContext = {
  apiId: 'localapi',
  accountId: '000000000000',
  domainName: 'localapi.execute-api.eu-central-1.amazonaws.com',
  requestId: 'JKJaXmPLvHcESHA=',
  traceId: 'Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e',
};

interface Sent {
  target: string;
  rawHeaders: string[];
  body: Buffer;
}

function toEvent(
  { target = '/api/v1/webhooks/partner', rawHeaders = [], body }: Partial<Sent>,
  context: ApiContext,
) {
  const request: HttpRequest = {
    method: 'POST',
    ...splitTarget(target),
    httpVersion: '1.1',
    headers: pairs(rawHeaders),
    sourceIp: '127.0.0.1',
    port: 3000,
    receivedAt: new Date('2020-03-02T19:03:58.390Z'),
  };
  return eventOf(request, body ?? Buffer.from(''), context);
}

describe('the event', () => {
  test('has the shape of payload format 2.0', () => {
    const event = toEvent(
      {
        target: '/api/v1/webhooks/partner?a=1',
        rawHeaders: ['Host', 'localhost:3000', 'User-Agent', 'sender/2', 'Content-Type', 'application/json'],
        body: Buffer.from('{"event":"shop.updated"}'),
      },
      api,
    );
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

  test('has no body, cookies or query parameters where the request has none', () => {
    const event = toEvent({}, api);
    expect(event).not.toHaveProperty('body');
    expect(event).not.toHaveProperty('cookies');
    expect(event).not.toHaveProperty('queryStringParameters');
    expect(event).toMatchObject({ rawQueryString: '', isBase64Encoded: false });
  });

  test.each([
    ['joins repeated headers in their order', ['X-A', '1', 'x-a', '2'], { 'x-a': '1,2' }],
    [
      'keeps a repeated signature visible',
      ['X-Webhook-Signature', 'a', 'X-Webhook-Signature', 'b'],
      { 'x-webhook-signature': 'a,b' },
    ],
    [
      'adds the client to x-forwarded-for',
      ['X-Forwarded-For', '192.0.2.1'],
      { 'x-forwarded-for': '192.0.2.1,127.0.0.1' },
    ],
    ['keeps an unusual name', ['__proto__', 'x'], JSON.parse('{"__proto__":"x"}')],
  ])('%s', (_case, rawHeaders, expected) => {
    const { headers } = toEvent({ rawHeaders }, api);
    for (const [name, value] of Object.entries(expected)) {
      expect(Object.entries(headers)).toContainEqual([name, value]);
    }
  });

  test('moves cookies out of the headers', () => {
    const event = toEvent({ rawHeaders: ['Cookie', 'a=1; b=2', 'cookie', 'c=3'] }, api);
    expect(event.cookies).toEqual(['a=1', 'b=2', 'c=3']);
    expect(event.headers).not.toHaveProperty('cookie');
  });

  test('leaves out the headers that concern the connection alone', () => {
    const { headers } = toEvent(
      { rawHeaders: ['Connection', 'keep-alive', 'Transfer-Encoding', 'chunked', 'X-A', '1'] },
      api,
    );
    expect(headers).not.toHaveProperty('connection');
    expect(headers).not.toHaveProperty('transfer-encoding');
    expect(headers).toHaveProperty('x-a', '1');
  });

  test.each([
    ['/p?a=1&a=2&b=', '/p', 'a=1&a=2&b=', { a: '1,2', b: '' }],
    ['/p?name=caf%C3%A9+bar', '/p', 'name=caf%C3%A9+bar', { name: 'café bar' }],
    ['/p?', '/p', '', undefined],
    ['/p?a=?', '/p', 'a=?', { a: '?' }],
    ['//double/slash', '//double/slash', '', undefined],
    ['http://localhost:3000/p?a=1', '/p', 'a=1', { a: '1' }],
  ])('reads the target %s', (target, rawPath, rawQueryString, queryStringParameters) => {
    const event = toEvent({ target }, api);
    expect([event.rawPath, event.rawQueryString, event.queryStringParameters]).toEqual([
      rawPath,
      rawQueryString,
      queryStringParameters,
    ]);
  });

  test.each([
    ['application/json', false],
    ['Application/JSON; charset=utf-8', false],
    ['application/cloudevents+json', false],
    ['application/soap+xml', false],
    ['application/xml', false],
    ['application/javascript', false],
    ['text/plain', false],
    ['application/x-www-form-urlencoded', true],
    ['application/octet-stream', true],
    ['image/png', true],
    ['', true],
    [undefined, true],
  ])('a body of type %s: base64 is %s, and its bytes arrive', (contentType, isBase64Encoded) => {
    const body = Buffer.from('{"name":"Café 日本"}');
    const rawHeaders = contentType === undefined ? [] : ['Content-Type', contentType];
    const event = toEvent({ rawHeaders, body }, api);
    expect(event.isBase64Encoded).toBe(isBase64Encoded);
    expect(Buffer.from(event.body ?? '', isBase64Encoded ? 'base64' : 'utf8')).toEqual(body);
  });
});

describe('the response', () => {
  const text = (payload: unknown) => {
    const response = toResponse({ ok: true, payload });
    return response && { ...response, body: response.body.toString() };
  };

  test.each([
    ['an object', { queued: true }, '{"queued":true}'],
    ['text', 'done', '"done"'],
    ['a list', [1], '[1]'],
    ['null', null, 'null'],
  ])('%s without a status code is 200 and JSON', (_case, payload, body) => {
    expect(text(payload)).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body,
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
    ['base64 is decoded', { statusCode: 200, body: 'w6k=', isBase64Encoded: true }, 'é'],
    ['a missing body is empty', { statusCode: 204 }, ''],
    ['a null body is empty', { statusCode: 200, body: null }, ''],
  ])('%s', (_case, payload, body) => {
    expect(text(payload)).toMatchObject({ status: payload.statusCode, body });
  });

  test('the function cannot set the headers of the connection', () => {
    const headers = { Connection: 'close', 'Content-Length': '3', 'Transfer-Encoding': 'chunked' };
    expect(text({ statusCode: 200, headers, body: 'long' })?.headers).toEqual({
      'content-type': 'text/plain;charset=UTF-8',
    });
  });

  test.each([
    ['a status code as text', { statusCode: '200' }],
    ['a status code out of range', { statusCode: 99 }],
    ['an interim status code', { statusCode: 100 }],
    ['a broken status code', { statusCode: 200.5 }],
    ['a null status code', { statusCode: null }],
    ['a body that is not text', { statusCode: 200, body: { queued: true } }],
    ['headers that are a list', { statusCode: 200, headers: ['a'] }],
    ['a header value that is a list', { statusCode: 200, headers: { a: ['1', '2'] } }],
    ['a header value with a line end', { statusCode: 200, headers: { a: '1\r\nb: 2' } }],
    ['a header name with a space', { statusCode: 200, headers: { 'a b': '1' } }],
    ['cookies that are not a list', { statusCode: 200, cookies: 'a=1' }],
  ])('there is none for %s', (_case, payload) => {
    expect(text(payload)).toBeUndefined();
  });

  test('there is none for a function error', () => {
    expect(toResponse({ ok: false, errorType: 'Error', errorMessage: 'table is gone' })).toBeUndefined();
  });
});
