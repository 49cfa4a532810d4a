/**
 * Converts between HTTP and payload format 2.0 of an HTTP API
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html).
 */
import { Buffer } from 'node:buffer';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { InvocationResult } from '../functions/invocation.ts';
import { httpApiEvent, type ReceivingApi } from './gateway-events.ts';
import {
  type Header,
  type HttpRequest,
  type HttpResponse,
  isHeader,
  isObject,
  responseOf,
  setOf,
  valuesOf,
  without,
} from './http-message.ts';

/** The API that received a request, and values that it adds to the event. */
interface ApiContext extends ReceivingApi {
  requestId: string;
  traceId: string;
}

/**
 * Headers about a single connection, which are not forwarded in either direction (RFC 9110, section 7.6.1).
 */
const CONNECTION_HEADERS = setOf(
  'connection expect keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding',
  'upgrade',
);

/** Request headers that the API writes itself, or moves to other fields. */
const OWN_HEADERS = setOf('cookie x-amzn-trace-id x-forwarded-for x-forwarded-port x-forwarded-proto');

export function toEvent(request: HttpRequest, body: Buffer, api: ApiContext): APIGatewayProxyEventV2 {
  const isBase64Encoded = body.length > 0 && isBinary(valuesOf(request.headers, 'content-type').join(','));
  const cookies = valuesOf(request.headers, 'cookie')
    .flatMap((value) => value.split(';'))
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie !== '');
  return httpApiEvent(
    {
      ...request,
      headers: eventHeaders(request, body, api),
      requestId: api.requestId,
      ...(body.length > 0 && { body: body.toString(isBase64Encoded ? 'base64' : 'utf8') }),
      isBase64Encoded,
    },
    api,
    cookies,
  );
}

function eventHeaders({ headers, sourceIp, port }: HttpRequest, body: Buffer, api: ApiContext): Header[] {
  const length: Header = ['content-length', String(body.length)];
  return [
    ...without(without(headers, CONNECTION_HEADERS), OWN_HEADERS)
      .map(([name, value]): Header => [name.toLowerCase(), value])
      .filter(([name]) => body.length === 0 || name !== 'content-length'),
    ...(body.length > 0 ? [length] : []),
    ['x-amzn-trace-id', api.traceId],
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
  if (!isObject(payload) || payload.statusCode === undefined) {
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
  if (!isObject(headers)) return undefined;
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
