/**
 * The mapping between HTTP and a function in payload format 2.0
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html).
 */
import { Buffer } from 'node:buffer';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { InvocationResult } from '../functions/invocation.ts';

/** A request as it came in, its body complete. */
export interface HttpRequest {
  method: string;
  /** The request target as sent: path and query string. */
  target: string;
  /** `1.1` and the like. */
  httpVersion: string;
  /** Names and values in turn, as Node's `rawHeaders`: what it has not merged or dropped. */
  rawHeaders: readonly string[];
  body: Buffer;
  sourceIp: string;
  receivedAt: Date;
}

/** Which API received the request and what it made of it. */
export interface ApiContext {
  apiId: string;
  accountId: string;
  region: string;
  /** The port that the client connected to, for `x-forwarded-port`. */
  port: number;
  routeKey: string;
  requestId: string;
  /** The value of `x-amzn-trace-id`. */
  traceId: string;
}

/** A response ready to be sent. */
export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  cookies: string[];
  body: Buffer;
}

/** Headers that concern one connection: neither side's reach the other (RFC 9110, section 7.6.1). */
const CONNECTION_HEADERS = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** @returns the target's path, as sent, without the query string */
export function pathOf(target: string): string {
  return splitTarget(target).path;
}

/** Makes the event of payload format 2.0 for a request. */
export function toEvent(request: HttpRequest, api: ApiContext): APIGatewayProxyEventV2 {
  const { path, query } = splitTarget(request.target);
  const { headers, cookies } = readHeaders(request, api);
  const domainName = `${api.apiId}.execute-api.${api.region}.amazonaws.com`;
  const isBase64Encoded = request.body.length > 0 && isBinary(headers['content-type']);
  return {
    version: '2.0',
    routeKey: api.routeKey,
    rawPath: path,
    rawQueryString: query,
    ...(cookies.length > 0 && { cookies }),
    headers,
    ...(query !== '' && { queryStringParameters: readQuery(query) }),
    requestContext: {
      accountId: api.accountId,
      apiId: api.apiId,
      domainName,
      domainPrefix: api.apiId,
      http: {
        method: request.method,
        path,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: api.requestId,
      routeKey: api.routeKey,
      stage: '$default',
      time: commonLogTime(request.receivedAt),
      timeEpoch: request.receivedAt.getTime(),
    },
    ...(request.body.length > 0 && { body: request.body.toString(isBase64Encoded ? 'base64' : 'utf8') }),
    isBase64Encoded,
  };
}

/**
 * Makes the response that API Gateway sends for a handler's result. A function error, and a result
 * that is not what the format asks for, is 500.
 *
 * Where AWS's documentation is silent this refuses (`statusCode` as text, header values other than
 * text, numbers and booleans): what works here should work there.
 */
export function toResponse(result: InvocationResult): HttpResponse {
  if (!result.ok) return errorResponse(500, 'Internal Server Error');
  const { payload } = result;
  if (!isObject(payload) || payload.statusCode === undefined) {
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      cookies: [],
      body: Buffer.from(JSON.stringify(payload)),
    };
  }
  return structuredResponse(payload) ?? errorResponse(500, 'Internal Server Error');
}

/** Makes one of API Gateway's own error responses. */
export function errorResponse(status: number, message: string): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    cookies: [],
    body: Buffer.from(JSON.stringify({ message })),
  };
}

function structuredResponse(payload: Record<string, unknown>): HttpResponse | undefined {
  const { statusCode, headers, cookies = [], body = '', isBase64Encoded = false } = payload;
  if (typeof statusCode !== 'number' || !Number.isInteger(statusCode)) return undefined;
  // Node takes what is below 200 for an interim response, after which the real one would never come.
  if (statusCode < 200 || statusCode > 599) return undefined;
  if (typeof isBase64Encoded !== 'boolean' || (body !== null && typeof body !== 'string')) return undefined;
  const responseHeaders = readResponseHeaders(headers ?? {});
  if (responseHeaders === undefined || !isCookieList(cookies)) return undefined;
  return {
    status: statusCode,
    headers: { 'content-type': 'text/plain;charset=UTF-8', ...responseHeaders },
    cookies,
    body: Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8'),
  };
}

function readResponseHeaders(headers: unknown): Record<string, string> | undefined {
  if (!isObject(headers)) return undefined;
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!['string', 'number', 'boolean'].includes(typeof value) || !isHeader(name, String(value))) {
      return undefined;
    }
    const key = name.toLowerCase();
    if (!CONNECTION_HEADERS.has(key) && key !== 'content-length') result[key] = String(value);
  }
  return result;
}

function isCookieList(cookies: unknown): cookies is string[] {
  return (
    Array.isArray(cookies) &&
    cookies.every((cookie) => typeof cookie === 'string' && isHeader('set-cookie', cookie))
  );
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

function readHeaders(
  request: HttpRequest,
  api: ApiContext,
): { headers: Record<string, string>; cookies: string[] } {
  const values = new Map<string, string[]>();
  for (let index = 0; index + 1 < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index]?.toLowerCase() ?? '';
    const value = request.rawHeaders[index + 1] ?? '';
    if (!CONNECTION_HEADERS.has(name)) values.set(name, [...(values.get(name) ?? []), value]);
  }
  const cookies = (values.get('cookie') ?? [])
    .flatMap((value) => value.split(';'))
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie !== '');
  values.delete('cookie');
  if (request.body.length > 0) values.set('content-length', [String(request.body.length)]);
  values.set('x-amzn-trace-id', [api.traceId]);
  values.set('x-forwarded-for', [...(values.get('x-forwarded-for') ?? []), request.sourceIp]);
  values.set('x-forwarded-port', [String(api.port)]);
  values.set('x-forwarded-proto', ['http']);
  const headers = Object.fromEntries([...values].map(([name, all]) => [name, all.join(',')]));
  return { headers, cookies };
}

function readQuery(query: string): Record<string, string> {
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return Object.fromEntries([...values].map(([name, all]) => [name, all.join(',')]));
}

/**
 * Tells whether a body of this content type reaches the function in base64: all but text, JSON,
 * JavaScript and XML do, forms among them, and so does a body without a content type.
 *
 * AWS documents the text types alone. That a missing content type counts as binary is an assumption;
 * a function that decodes by `isBase64Encoded`, as it must, sees the same bytes either way.
 */
function isBinary(contentType: string | undefined): boolean {
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return !/^(text\/.+|application\/(json|javascript|xml|.+\+(json|xml)))$/.test(mediaType);
}

/** Splits at the first `?`. A target in absolute form (RFC 9112, section 3.2.2) loses its origin. */
function splitTarget(target: string): { path: string; query: string } {
  const originForm = target.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = originForm.indexOf('?');
  if (mark === -1) return { path: originForm || '/', query: '' };
  return { path: originForm.slice(0, mark) || '/', query: originForm.slice(mark + 1) };
}

/** Formats a time as in Apache's Common Log Format: `12/Mar/2020:19:03:58 +0000`. */
function commonLogTime(time: Date): string {
  const [, day, month, year, clock] = time.toUTCString().split(' ');
  return `${day}/${month}/${year}:${clock} +0000`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
