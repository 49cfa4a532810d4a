/**
 * Converts between HTTP and payload format 2.0 of an HTTP API
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html).
 */
import { Buffer } from 'node:buffer';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { isJsonObject } from '../aws/json.ts';
import type { InvocationResult } from '../functions/invocation.ts';
import { apiContext, commonLogTime } from './api.ts';
import {
  grouped,
  type Header,
  type HttpRequest,
  type HttpResponse,
  isHeader,
  responseOf,
  setOf,
  valuesOf,
  without,
} from './http-message.ts';

/** A request as an HTTP API passes it to a function, with the body as text or base64. */
type GatewayRequest = Pick<HttpRequest, 'method' | 'path' | 'headers' | 'sourceIp' | 'receivedAt'> &
  Partial<Pick<HttpRequest, 'query' | 'httpVersion'>> & {
    readonly body?: string;
    readonly isBase64Encoded: boolean;
    readonly requestId: string;
  };

/** The API that received a request, and the ids that it gave to the request. */
interface HttpApiContext {
  readonly apiId: string;
  readonly requestId: string;
  readonly traceId: string;
}

/**
 * Headers about a single connection, which are not forwarded in either direction (RFC 9110, section 7.6.1).
 */
const CONNECTION_HEADERS = setOf(
  'connection expect keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding',
  'upgrade',
);

/** Request headers that a function does not get as sent: the API writes them itself, or moves them to other fields. */
const DROPPED_HEADERS = new Set([
  ...CONNECTION_HEADERS,
  ...setOf('cookie x-amzn-trace-id x-forwarded-for x-forwarded-port x-forwarded-proto'),
]);

/**
 * Event of payload format 2.0.
 * @param request with header names in lower case, as an HTTP API converts them
 * @param cookies which an HTTP API moves out of the headers
 */
export function httpApiEvent(
  request: GatewayRequest,
  apiId: string,
  cookies: string[] = [],
): APIGatewayProxyEventV2 {
  const { method, path, query = '', httpVersion = '1.1', sourceIp, receivedAt } = request;
  const { body, isBase64Encoded, requestId } = request;
  const headers = joined(request.headers);
  const routeKey = `${method} ${path}`;
  const userAgent = headers['user-agent'] ?? '';
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: query,
    ...(cookies.length > 0 && { cookies }),
    headers,
    ...(query !== '' && { queryStringParameters: joined(new URLSearchParams(query)) }),
    requestContext: {
      ...apiContext(apiId),
      http: { method, path, protocol: `HTTP/${httpVersion}`, sourceIp, userAgent },
      requestId,
      routeKey,
      stage: '$default',
      time: commonLogTime(receivedAt),
      timeEpoch: receivedAt.getTime(),
    },
    ...(body !== undefined && { body }),
    isBase64Encoded,
  };
}

const joined = (pairs: Iterable<Header>): Record<string, string> =>
  Object.fromEntries(Object.entries(grouped(pairs)).map(([name, values]) => [name, values.join(',')]));

export function toEvent(
  request: HttpRequest,
  body: Buffer,
  { apiId, requestId, traceId }: HttpApiContext,
): APIGatewayProxyEventV2 {
  const isBase64Encoded = body.length > 0 && isBinary(valuesOf(request.headers, 'content-type').join(','));
  const cookies = valuesOf(request.headers, 'cookie')
    .flatMap((value) => value.split(';'))
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie !== '');
  const text = body.length > 0 && { body: body.toString(isBase64Encoded ? 'base64' : 'utf8') };
  const headers = eventHeaders(request, body.length, traceId);
  return httpApiEvent({ ...request, headers, requestId, ...text, isBase64Encoded }, apiId, cookies);
}

function eventHeaders(
  { headers, sourceIp, port }: HttpRequest,
  bodyLength: number,
  traceId: string,
): Header[] {
  return [
    ...without(headers, DROPPED_HEADERS)
      .map(([name, value]): Header => [name.toLowerCase(), value])
      .filter(([name]) => bodyLength === 0 || name !== 'content-length'),
    ...(bodyLength > 0 ? ([['content-length', String(bodyLength)]] as const) : []),
    ['x-amzn-trace-id', traceId],
    ['x-forwarded-for', [...valuesOf(headers, 'x-forwarded-for'), sourceIp].join(',')],
    ['x-forwarded-port', String(port)],
    ['x-forwarded-proto', 'http'],
  ];
}

/**
 * Converts a handler's result to the response of an HTTP API. Header values other than text, numbers and booleans are
 * rejected: AWS's documentation does not cover them.
 * @returns undefined, which the API answers with 500, for a function error or a malformed result
 */
export function toResponse(result: InvocationResult): HttpResponse | undefined {
  if (!result.ok) return undefined;
  const { payload } = result;
  if (!isJsonObject(payload) || payload.statusCode === undefined) {
    const body = Buffer.from(JSON.stringify(payload));
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  }
  const { headers, cookies = [] } = payload;
  const read = readResponseHeaders(headers ?? {});
  if (read === undefined || !isCookieList(cookies)) return undefined;
  return responseOf(payload, {
    'content-type': 'text/plain;charset=UTF-8',
    ...read,
    ...(cookies.length > 0 && { 'set-cookie': cookies }),
  });
}

function readResponseHeaders(headers: unknown): Record<string, string> | undefined {
  if (!isJsonObject(headers)) return undefined;
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!isHeader(name, value)) return undefined;
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

/**
 * Whether a body of this content type reaches the function as base64: all except text, JSON, JavaScript and
 * XML. AWS documents only the text types. We assume that a missing content type counts as binary. A function
 * that obeys `isBase64Encoded` sees the same bytes either way.
 */
function isBinary(contentType: string): boolean {
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return !/^(text\/.+|application\/(json|javascript|xml|.+\+(json|xml)))$/.test(mediaType);
}
