import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { InvocationResult } from '../functions/invocation.ts';
import type { Throttling } from '../template/resource-properties.ts';
import {
  type Api,
  type ApiAnswer,
  type ApiFailure,
  BODY_LIMIT_BYTES,
  createThrottle,
  respond,
  shortId,
  traceId,
} from './api.ts';
import { type GatewayError, type GatewayResponse, gatewayAnswers } from './gateway-responses.ts';
import { type HttpResponse, valuesOf } from './http-message.ts';
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

/** Error for an invocation that Lambda rejects: "API Gateway returns a 500 error code" (first source below). */
const NOT_INVOKED: GatewayError = { type: 'INTEGRATION_FAILURE', status: 500, message: INTERNAL };

/**
 * Errors of an API without a function's response. Sources:
 * https://docs.aws.amazon.com/lambda/latest/dg/services-apigateway-errors.html and
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html. An
 * event above Lambda's quota is a rejected invocation as well, which would mean 500. We assume the worse
 * answer, 413. For a malformed response, AWS documents status and message, but no type.
 */
const FAILURES: Record<ApiFailure, GatewayError> = {
  'no route': {
    type: 'MISSING_AUTHENTICATION_TOKEN',
    status: 403,
    message: 'Missing Authentication Token',
  },
  throttled: { type: 'THROTTLED', status: 429, message: 'Too Many Requests' },
  'body too large': {
    type: 'REQUEST_TOO_LARGE',
    status: 413,
    message: `HTTP content length exceeded ${BODY_LIMIT_BYTES} bytes.`,
  },
  'event too large': { type: 'REQUEST_TOO_LARGE', status: 413, message: 'Request Too Long' },
  'no concurrency': NOT_INVOKED,
  'not invoked': NOT_INVOKED,
  'timed out': { type: 'INTEGRATION_TIMEOUT', status: 504, message: 'Endpoint request timed out' },
  'bad response': { type: 'DEFAULT_5XX', status: 502, message: INTERNAL },
};

/** Failures before the API makes an event. Their answers have no trace. */
const UNTRACED: ReadonlySet<ApiFailure> = new Set(['no route', 'throttled', 'body too large']);

/** Error for a path outside of the stage. No gateway response applies to it. */
const FORBIDDEN: GatewayError = { type: 'ACCESS_DENIED', status: 403, message: 'Forbidden' };
const defaultAnswer = gatewayAnswers([]);

/**
 * A regional REST API with one stage and payload format 1.0, which treats every media type as binary.
 * @throws Error if a gateway response is not supported
 */
export function restApi(options: RestApiOptions): Api {
  const { apiId, stage } = options;
  const methods = new Map(
    options.methods.map((method) => [`${method.httpMethod} ${method.resourcePath}`, method]),
  );
  const answerTo = gatewayAnswers(options.gatewayResponses);
  const admits = createThrottle(options.throttle);

  return {
    async answer(request, readBody) {
      // Source: "Clients can override the value in the x-amzn-RequestId header" (documentation of $context.requestId).
      const requestId = valuesOf(request.headers, 'x-amzn-requestid').at(-1) || randomUUID();
      const extendedRequestId = shortId();
      const ids = { requestId, extendedRequestId };
      const answerOf = (
        { headers, ...rest }: HttpResponse,
        context: ApiAnswer['context'],
        traced: HttpResponse['headers'] = {},
      ): ApiAnswer => {
        const idHeaders = { 'x-amzn-requestid': requestId, 'x-amz-apigw-id': extendedRequestId };
        return {
          requestId: extendedRequestId,
          context,
          response: { ...rest, headers: { ...headers, ...traced, ...idHeaders } },
        };
      };
      const resourcePath = pathBelow(stage, request.path);
      if (resourcePath === undefined) {
        return answerOf(defaultAnswer({ error: FORBIDDEN, ...ids }), undefined);
      }
      const method = methods.get(`${request.method} ${resourcePath}`);
      const trace = traceId(request.receivedAt);
      const resource = { apiId, stage, resourceId: method?.resourceId ?? '', resourcePath, traceId: trace };
      const outcome = await respond({
        route: method,
        admits,
        readBody,
        limitMilliseconds: method?.integrationLimitMilliseconds ?? INTEGRATION_LIMIT_MILLISECONDS,
        toEvent: (body) => toEvent(request, body, { ...resource, ...ids }),
        toResponse,
      });
      const context = { ...ids, ...(method && { resourcePath }) };
      if (typeof outcome !== 'string') return answerOf(outcome, context, { 'x-amzn-trace-id': trace });
      const error = FAILURES[outcome];
      return answerOf(
        answerTo({ error, ...ids }),
        { ...context, 'error.responseType': error.type },
        UNTRACED.has(outcome) ? {} : { 'x-amzn-trace-id': trace },
      );
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
