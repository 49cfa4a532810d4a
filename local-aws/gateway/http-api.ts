import { Buffer } from 'node:buffer';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { InvocationResult } from '../functions/invocation.ts';
import type { Throttling } from '../template/resource-properties.ts';
import {
  type Api,
  type BodyReader,
  createThrottle,
  type IntegrationFailure,
  integrate,
  shortId,
  traceId,
} from './api.ts';
import type { HttpRequest, HttpResponse } from './http-message.ts';
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
const FAILURES: Record<IntegrationFailure, HttpResponse> = {
  'event too large': errorResponse(413, 'Request Too Large'),
  throttled: errorResponse(503, 'Service Unavailable'),
  rejected: errorResponse(500, 'Internal Server Error'),
  'timed out': errorResponse(503, 'Service Unavailable'),
};

/**
 * An HTTP API with payload format 2.0. It answers 404 unless method and path exactly match a route.
 * @throws Error if a route key is not a method and an exact path
 */
export function httpApi(options: HttpApiOptions): Api {
  const routes = new Map(options.routes.map((route) => [checkedRouteKey(route.routeKey), route]));
  const { apiId, integrationLimitMilliseconds: limit = INTEGRATION_LIMIT_MILLISECONDS } = options;
  const admits = createThrottle(options.throttle);

  async function respond(
    request: HttpRequest,
    route: HttpApiRoute | undefined,
    readBody: BodyReader,
    requestId: string,
  ): Promise<HttpResponse> {
    if (route === undefined) return errorResponse(404, 'Not Found');
    if (!admits()) return errorResponse(429, 'Too Many Requests');
    const body = await readBody();
    if (body === undefined) return errorResponse(413, 'Request Entity Too Large');
    const event = toEvent(request, body, { apiId, requestId, traceId: traceId(request.receivedAt) });
    const result = await integrate((given) => route.invoke(given), event, limit);
    if (typeof result === 'string') return FAILURES[result];
    return toResponse(result) ?? errorResponse(500, 'Internal Server Error');
  }

  return {
    async answer(request, readBody) {
      const requestId = shortId();
      const route = routes.get(`${request.method} ${request.path}`);
      const response = await respond(request, route, readBody, requestId);
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
