/**
 * Converts between HTTP and payload format 1.0 of a REST API
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html). For
 * headers, the source is the table in "Amazon API Gateway important notes for REST APIs"
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html).
 */
import type { Buffer } from 'node:buffer';
import type { APIGatewayProxyEvent } from 'aws-lambda';
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

/** The resource of a request, and values that the API adds to the event. */
interface ResourceContext {
  readonly apiId: string;
  readonly resourceId: string;
  /** Path of the resource below the stage: `/v1/orders`. */
  readonly resourcePath: string;
  readonly stage: string;
  readonly requestId: string;
  /** Another id of the request. A client can choose `requestId`, but not this id. */
  readonly extendedRequestId: string;
  readonly traceId: string;
}

/**
 * Request headers that a function does not get. By AWS's table Content-Length is passed on, but real events
 * lack it. The last four are written by the API itself.
 */
const DROPPED_REQUEST_HEADERS = setOf(
  'connection content-length content-md5 expect max-forwards proxy-authenticate server te trailer transfer-encoding upgrade',
  'www-authenticate x-amzn-trace-id x-forwarded-for x-forwarded-port x-forwarded-proto',
);

/**
 * Response headers of a function that are not sent to the client. Content-Length is computed from the body.
 */
const DROPPED_RESPONSE_HEADERS = setOf(
  'content-length expect host proxy-authenticate te trailer transfer-encoding upgrade via',
);

/** Response headers of a function that are sent to the client as `x-amzn-remapped-…`. */
const REMAPPED_RESPONSE_HEADERS = setOf(
  'authorization connection content-md5 date max-forwards server user-agent www-authenticate',
);

/**
 * Fields allowed in a function's response. Any other field makes the response malformed, such as `cookies` of format
 * 2.0.
 */
const RESPONSE_FIELDS = setOf('statusCode headers multiValueHeaders body isBase64Encoded');

/**
 * The event of a request to an API that treats all media types as binary, so that every body is base64. We
 * assume that this also holds for a body without a content type. A function that obeys `isBase64Encoded` sees
 * the same bytes either way. Header names are as the client wrote them, and fields without a value are null.
 */
export function toEvent(
  request: HttpRequest,
  content: Buffer,
  { apiId, requestId, traceId, extendedRequestId, stage, resourceId, resourcePath }: ResourceContext,
): APIGatewayProxyEvent {
  const { method, path, query, sourceIp, port, receivedAt } = request;
  const headers: Header[] = [
    ...without(request.headers, DROPPED_REQUEST_HEADERS),
    ['X-Amzn-Trace-Id', traceId],
    ['X-Forwarded-For', [...valuesOf(request.headers, 'x-forwarded-for'), sourceIp].join(', ')],
    ['X-Forwarded-Port', String(port)],
    ['X-Forwarded-Proto', 'http'],
  ];
  const isBase64Encoded = content.length > 0;
  const body = isBase64Encoded ? content.toString('base64') : null;
  const parameters = query === '' ? undefined : [...new URLSearchParams(query)];
  return {
    resource: resourcePath,
    path: path.slice(`/${stage}`.length),
    httpMethod: method,
    headers: Object.fromEntries(headers),
    multiValueHeaders: grouped(headers),
    queryStringParameters: parameters === undefined ? null : Object.fromEntries(parameters),
    multiValueQueryStringParameters: parameters === undefined ? null : grouped(parameters),
    pathParameters: null,
    stageVariables: null,
    requestContext: {
      ...apiContext(apiId),
      resourceId,
      resourcePath,
      httpMethod: method,
      extendedRequestId,
      requestTime: commonLogTime(receivedAt),
      path,
      protocol: `HTTP/${request.httpVersion}`,
      stage,
      requestTimeEpoch: receivedAt.getTime(),
      requestId,
      // An API without an authorizer sends no field `authorizer`.
      authorizer: undefined,
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
        sourceIp,
        user: null,
        userAgent: valuesOf(headers, 'user-agent').at(-1) ?? null,
        userArn: null,
      },
    },
    body,
    isBase64Encoded,
  };
}

/**
 * Converts a handler's result to the response of a REST API. A missing `statusCode` and header values other than text,
 * numbers and booleans are rejected: AWS's documentation does not cover them.
 * @returns undefined, which the API answers with 502, for a function error or a malformed result
 */
export function toResponse(result: InvocationResult): HttpResponse | undefined {
  if (!result.ok || !isJsonObject(result.payload)) return undefined;
  if (Object.keys(result.payload).some((field) => !RESPONSE_FIELDS.has(field))) return undefined;
  const { headers, multiValueHeaders } = result.payload;
  const read = readResponseHeaders(headers ?? {}, multiValueHeaders ?? {});
  return responseOf(result.payload, read && { 'content-type': 'application/json', ...read });
}

/** Merges `headers` and `multiValueHeaders`. A pair that is in both is sent once. */
function readResponseHeaders(single: unknown, multiple: unknown): Record<string, string[]> | undefined {
  if (!isJsonObject(single) || !isJsonObject(multiple)) return undefined;
  if (!Object.values(multiple).every(Array.isArray)) return undefined;
  const all = [...Object.entries(multiple), ...Object.entries(single)].flatMap(([name, value]) =>
    [value].flat().map((item: unknown) => ({ name, item })),
  );
  const values = new Map<string, Set<string>>();
  for (const { name, item } of all) {
    if (!isHeader(name, item)) return undefined;
    const key = clientHeader(name.toLowerCase());
    if (key !== undefined) values.set(key, (values.get(key) ?? new Set()).add(String(item)));
  }
  return Object.fromEntries([...values].map(([name, items]) => [name, [...items]]));
}

/** @returns the header's name as sent to the client; undefined if it is not sent */
function clientHeader(name: string): string | undefined {
  if (DROPPED_RESPONSE_HEADERS.has(name)) return undefined;
  return REMAPPED_RESPONSE_HEADERS.has(name) ? `x-amzn-remapped-${name}` : name;
}
