import { Buffer } from 'node:buffer';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { InvocationResult } from '../functions/invocation.ts';
import type { Throttling } from '../template/resource-properties.ts';
import { type Api, type ApiFailure, createThrottle, respond, shortId, traceId } from './api.ts';
import type { HttpResponse } from './http-message.ts';
import { toEvent, toResponse } from './payload-format-2.ts';

/**
 * Maximum time that an HTTP API waits for a function
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html).
 */
const INTEGRATION_LIMIT_MILLISECONDS = 30_000;

interface HttpApiRoute {
  /** Method and path, such as `POST /v1/orders`. */
  routeKey: string;
  invoke(event: APIGatewayProxyEventV2): Promise<InvocationResult>;
}

export interface HttpApiOptions {
  apiId: string;
  routes: HttpApiRoute[];
  throttle?: Throttling | undefined;
  /** Maximum time to wait for a function. @default 30000, as API Gateway */
  integrationLimitMilliseconds?: number | undefined;
}

/**
 * Answers of an HTTP API without a function's response. AWS does not document the answer for an event that
 * Lambda rejects as too large: we assume 413, as for a REST API.
 */
const FAILURES: Record<ApiFailure, HttpResponse> = {
  'no route': errorResponse(404, 'Not Found'),
  throttled: errorResponse(429, 'Too Many Requests'),
  'body too large': errorResponse(413, 'Request Entity Too Large'),
  'event too large': errorResponse(413, 'Request Too Large'),
  'no concurrency': errorResponse(503, 'Service Unavailable'),
  'not invoked': errorResponse(500, 'Internal Server Error'),
  'timed out': errorResponse(503, 'Service Unavailable'),
  'bad response': errorResponse(500, 'Internal Server Error'),
};

/**
 * An HTTP API with payload format 2.0. It answers 404 unless method and path exactly match a route.
 * @throws Error if a route key is not a method and an exact path
 */
export function httpApi(options: HttpApiOptions): Api {
  const routes = new Map(options.routes.map((route) => [checkedRouteKey(route.routeKey), route]));
  const { apiId, integrationLimitMilliseconds: limitMilliseconds = INTEGRATION_LIMIT_MILLISECONDS } = options;
  const admits = createThrottle(options.throttle);
  return {
    async answer(request, readBody) {
      const requestId = shortId();
      const route = routes.get(`${request.method} ${request.path}`);
      const ids = { apiId, requestId, traceId: traceId(request.receivedAt) };
      const outcome = await respond({
        route,
        admits,
        readBody,
        limitMilliseconds,
        toEvent: (body) => toEvent(request, body, ids),
        toResponse,
      });
      const response = typeof outcome === 'string' ? FAILURES[outcome] : outcome;
      return {
        requestId,
        context: { requestId, ...(route && { routeKey: route.routeKey }) },
        response: { ...response, headers: { ...response.headers, 'apigw-requestid': requestId } },
      };
    },
  };
}

/** Error response of an HTTP API. AWS offers no way to change it. */
function errorResponse(status: number, message: string): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ message })),
  };
}

function checkedRouteKey(routeKey: string): string {
  if (!/^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \/[^{}?#\s]*$/.test(routeKey)) {
    throw new Error(
      `The route key '${routeKey}' is not supported: it must be a method and an exact path, such as 'POST /orders'`,
    );
  }
  return routeKey;
}
