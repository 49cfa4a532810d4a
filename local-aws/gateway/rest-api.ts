import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { InvocationResult } from '../functions/invocation.ts';
import type { Throttling } from '../template/resource-properties.ts';
import {
  type Api,
  type ApiAnswer,
  BODY_LIMIT_BYTES,
  type BodyReader,
  createThrottle,
  type IntegrationFailure,
  integrate,
  shortId,
  traceId,
} from './api.ts';
import { type GatewayError, type GatewayResponse, GatewayResponses } from './gateway-responses.ts';
import { type HttpRequest, valuesOf } from './http-message.ts';
import { toEvent, toResponse } from './payload-format-1.ts';

/**
 * Maximum time that a REST API waits for a function, unless the quota was raised
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html).
 */
const INTEGRATION_LIMIT_MILLISECONDS = 29_000;

interface RestApiMethod {
  httpMethod: string;
  resourceId: string;
  /** Path of the resource below the stage: `/v1/orders`. */
  resourcePath: string;
  invoke(event: APIGatewayProxyEvent): Promise<InvocationResult>;
  /** Maximum time to wait for a function. @default 29000, as API Gateway */
  integrationLimitMilliseconds?: number | undefined;
}

export interface RestApiOptions {
  apiId: string;
  /** Name of the only stage. It is the first part of each path. */
  stage: string;
  methods: RestApiMethod[];
  gatewayResponses: readonly GatewayResponse[];
  throttle?: Throttling | undefined;
}

const INTERNAL = 'Internal server error';

const NO_METHOD: GatewayError = {
  type: 'MISSING_AUTHENTICATION_TOKEN',
  status: 403,
  message: 'Missing Authentication Token',
};
const THROTTLED: GatewayError = { type: 'THROTTLED', status: 429, message: 'Too Many Requests' };
const BODY_TOO_LARGE: GatewayError = {
  type: 'REQUEST_TOO_LARGE',
  status: 413,
  message: `HTTP content length exceeded ${BODY_LIMIT_BYTES} bytes.`,
};

/** Error for a malformed response of a function. AWS documents status and message, but no type. */
const BAD_RESPONSE: GatewayError = { type: 'DEFAULT_5XX', status: 502, message: INTERNAL };

/** Error for an invocation that Lambda rejects: "API Gateway returns a 500 error code" (source below). */
const NOT_INVOKED: GatewayError = { type: 'INTEGRATION_FAILURE', status: 500, message: INTERNAL };

/**
 * Errors of an API without a function's response. Sources:
 * https://docs.aws.amazon.com/lambda/latest/dg/services-apigateway-errors.html and
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html. An
 * event above Lambda's quota is a rejected invocation as well, which would mean 500. We assume the worse
 * answer, 413.
 */
const FAILURES: Record<IntegrationFailure, GatewayError> = {
  'event too large': { type: 'REQUEST_TOO_LARGE', status: 413, message: 'Request Too Long' },
  throttled: NOT_INVOKED,
  rejected: NOT_INVOKED,
  'timed out': { type: 'INTEGRATION_TIMEOUT', status: 504, message: 'Endpoint request timed out' },
};

/** Error for a path outside of the stage. No gateway response applies to it. */
const FORBIDDEN: GatewayError = { type: 'ACCESS_DENIED', status: 403, message: 'Forbidden' };
const NO_RESPONSES = new GatewayResponses([]);

/**
 * A regional REST API with one stage and payload format 1.0, which treats every media type as binary.
 * @throws Error if a gateway response is not supported
 */
export function restApi(options: RestApiOptions): Api {
  const { apiId, stage } = options;
  const methods = new Map(
    options.methods.map((method) => [`${method.httpMethod} ${method.resourcePath}`, method]),
  );
  const responses = new GatewayResponses(options.gatewayResponses);
  const admits = createThrottle(options.throttle);

  async function respond(
    request: HttpRequest,
    readBody: BodyReader,
    ids: { requestId: string; extendedRequestId: string },
  ): Promise<Pick<ApiAnswer, 'response' | 'context'>> {
    const resourcePath = pathBelow(stage, request.path);
    if (resourcePath === undefined) {
      return { response: NO_RESPONSES.answer({ error: FORBIDDEN, ...ids }), context: undefined };
    }
    const method = methods.get(`${request.method} ${resourcePath}`);
    const known = { ...ids, ...(method && { resourcePath }) };
    const fail = (error: GatewayError) => ({
      response: responses.answer({ error, ...ids }),
      context: { ...known, 'error.responseType': error.type },
    });
    if (method === undefined) return fail(NO_METHOD);
    if (!admits()) return fail(THROTTLED);
    const body = await readBody();
    if (body === undefined) return fail(BODY_TOO_LARGE);
    const trace = traceId(request.receivedAt);
    const { resourceId, integrationLimitMilliseconds: limit = INTEGRATION_LIMIT_MILLISECONDS } = method;
    const context = { apiId, stage, resourceId, resourcePath, ...ids, traceId: trace };
    const result = await integrate((event) => method.invoke(event), toEvent(request, body, context), limit);
    const outcome = typeof result === 'string' ? FAILURES[result] : (toResponse(result) ?? BAD_RESPONSE);
    const answer = 'type' in outcome ? fail(outcome) : { response: outcome, context: known };
    const headers = { ...answer.response.headers, 'x-amzn-trace-id': trace };
    return { ...answer, response: { ...answer.response, headers } };
  }

  return {
    async answer(request, readBody) {
      // Source: "Clients can override the value in the x-amzn-RequestId header" (documentation of $context.requestId).
      const requestId = valuesOf(request.headers, 'x-amzn-requestid').at(-1) || randomUUID();
      const extendedRequestId = shortId();
      const { response, context } = await respond(request, readBody, { requestId, extendedRequestId });
      const ids = { 'x-amzn-requestid': requestId, 'x-amz-apigw-id': extendedRequestId };
      return {
        requestId: extendedRequestId,
        context,
        response: { ...response, headers: { ...response.headers, ...ids } },
      };
    },
  };
}

/**
 * The path of a resource below the stage. A trailing slash is ignored: AWS does not document this rule, but events of
 * AWS show it.
 * @returns undefined if the path does not belong to the stage
 */
function pathBelow(stage: string, path: string): string | undefined {
  const prefix = `/${stage}`;
  if (path !== prefix && !path.startsWith(`${prefix}/`)) return undefined;
  return path.slice(prefix.length).replace(/(.)\/$/, '$1') || '/';
}
