import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { InvocationResult } from '../functions/invocation.ts';
import { listen } from '../listen.ts';
import { errorResponse, type HttpResponse, pathOf, toEvent, toResponse } from './payload-format-2.ts';
import { readBody } from './request-body.ts';

/**
 * API Gateway's quota on a request body, "10 MB" of 2^20 bytes
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html).
 */
const BODY_LIMIT_BYTES = 10 * 1024 * 1024;

/**
 * Lambda's quota on the event of a synchronous invocation, "6 MB", of which its API says 6,291,456 bytes
 * (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). The event carries a body in base64,
 * which is a third longer, or as text in JSON, where each quotation mark and each backslash counts twice.
 */
const EVENT_LIMIT_BYTES = 6 * 1024 * 1024;

/** The longest that an HTTP API waits for a function. */
const INTEGRATION_LIMIT_MILLISECONDS = 30_000;

/** How long a client may take to send a request. */
const REQUEST_LIMIT_MILLISECONDS = 60_000;

/** How long `close()` waits for requests that are being answered. */
const CLOSE_LIMIT_MILLISECONDS = 5_000;

/** A route and the function behind it. */
export interface HttpApiRoute {
  /** Method and path, such as `POST /api/v1/webhooks/partner`. */
  routeKey: string;
  invoke(event: APIGatewayProxyEventV2): Promise<InvocationResult>;
}

/** What became of one request. */
export interface RequestSummary {
  method: string;
  path: string;
  status: number;
  durationMilliseconds: number;
  /** API Gateway's request id, which the response carries as `apigw-requestid`. */
  requestId: string;
}

export interface HttpApiOptions {
  /** 0 for any free one. */
  port: number;
  /** @default both loopback addresses, 127.0.0.1 and ::1 */
  host?: string;
  apiId: string;
  accountId: string;
  region: string;
  routes: HttpApiRoute[];
  /** Called after each response, also for requests that no route matches. */
  onRequest?: (summary: RequestSummary) => void;
  /** @default 30000, API Gateway's own */
  integrationLimitMilliseconds?: number;
}

/** A running HTTP API. */
export interface HttpApi {
  url: string;
  port: number;
  /** Ends idle connections at once and the others with their response, or after 5 s. */
  close(): Promise<void>;
}

/**
 * Serves routes as an API Gateway HTTP API does, with payload format 2.0. What no route matches
 * exactly, in method and path, is 404.
 *
 * @throws where a route key is not a method and an exact path, and where the port is taken (EADDRINUSE)
 */
export async function startHttpApi(options: HttpApiOptions): Promise<HttpApi> {
  const routes = new Map(options.routes.map((route) => [checkedRouteKey(route.routeKey), route]));
  const inFlight = new Set<Promise<unknown>>();
  let closing = false;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const start = performance.now();
    const requestId = randomBytes(11).toString('base64');
    const method = request.method ?? '';
    const path = pathOf(request.url ?? '');
    const route = routes.get(`${method} ${path}`);
    let result: HttpResponse;
    try {
      result = route ? await answer(request, route, requestId, options) : errorResponse(404, 'Not Found');
    } catch {
      response.destroy();
      return;
    }
    if (closing) response.setHeader('connection', 'close');
    send(response, result, requestId);
    const durationMilliseconds = performance.now() - start;
    options.onRequest?.({ method, path, status: result.status, durationMilliseconds, requestId });
  }

  const { servers, port } = await listen(
    { requestTimeout: REQUEST_LIMIT_MILLISECONDS },
    (request, response) => {
      const answered = once(response, 'close').finally(() => inFlight.delete(answered));
      inFlight.add(answered);
      void serve(request, response);
    },
    options,
  );
  const host = options.host ?? 'localhost';
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    close: async () => {
      closing = true;
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      await settledWithin(CLOSE_LIMIT_MILLISECONDS, [...inFlight]);
      for (const server of servers) server.closeAllConnections();
      await Promise.all(closed);
    },
  };
}

/** @throws where the client breaks off before its request is complete */
async function answer(
  request: IncomingMessage,
  route: HttpApiRoute,
  requestId: string,
  options: HttpApiOptions,
): Promise<HttpResponse> {
  const receivedAt = new Date();
  const body = await readBody(request, BODY_LIMIT_BYTES);
  if (body === undefined) return errorResponse(413, 'Request Entity Too Large');
  const event = toEvent(
    {
      method: request.method ?? '',
      target: request.url ?? '',
      httpVersion: request.httpVersion,
      rawHeaders: request.rawHeaders,
      body,
      sourceIp: request.socket.remoteAddress ?? '',
      receivedAt,
    },
    {
      ...options,
      port: request.socket.localPort ?? options.port,
      routeKey: route.routeKey,
      requestId,
      traceId: traceId(receivedAt),
    },
  );
  // What an HTTP API answers to this is not documented: 413 is assumed, as a REST API answers it.
  if (Buffer.byteLength(JSON.stringify(event)) > EVENT_LIMIT_BYTES) {
    return errorResponse(413, 'Request Too Large');
  }
  return invokeWithin(route, event, options.integrationLimitMilliseconds ?? INTEGRATION_LIMIT_MILLISECONDS);
}

async function invokeWithin(
  route: HttpApiRoute,
  event: APIGatewayProxyEventV2,
  limitMilliseconds: number,
): Promise<HttpResponse> {
  const timer = new AbortController();
  const timeout = sleep(limitMilliseconds, errorResponse(503, 'Service Unavailable'), {
    signal: timer.signal,
  });
  timeout.catch(() => {});
  try {
    return await Promise.race([route.invoke(event).then(toResponse), timeout]);
  } catch {
    return errorResponse(500, 'Internal Server Error');
  } finally {
    timer.abort();
  }
}

function send(response: ServerResponse, result: HttpResponse, requestId: string): void {
  const bodyless = result.status === 204 || result.status === 304;
  response.writeHead(result.status, {
    ...result.headers,
    ...(result.cookies.length > 0 && { 'set-cookie': result.cookies }),
    ...(!bodyless && { 'content-length': result.body.length }),
    'apigw-requestid': requestId,
  });
  response.end(result.body);
}

async function settledWithin(limitMilliseconds: number, promises: Promise<unknown>[]): Promise<void> {
  const timer = new AbortController();
  const timeout = sleep(limitMilliseconds, undefined, { signal: timer.signal });
  await Promise.race([Promise.allSettled(promises), timeout.catch(() => {})]);
  timer.abort();
}

function checkedRouteKey(routeKey: string): string {
  if (!/^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \/[^{}?#\s]*$/.test(routeKey)) {
    throw new Error(
      `The route key '${routeKey}' is not supported: it must be a method and an exact path, such as 'POST /orders'`,
    );
  }
  return routeKey;
}

/** Makes an X-Ray trace header: the time in seconds, then 96 random bits. */
function traceId(time: Date): string {
  const seconds = Math.floor(time.getTime() / 1000).toString(16);
  return `Root=1-${seconds}-${randomBytes(12).toString('hex')}`;
}
