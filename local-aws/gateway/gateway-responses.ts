import { Buffer } from 'node:buffer';
import type { ResourceProperties } from '../template/resource-properties.ts';
import type { HttpResponse } from './http-message.ts';

/** An error of a REST API itself. A gateway response may change how it is answered. */
export interface GatewayError {
  readonly type: string;
  readonly status: number;
  readonly message: string;
}

/** Changes how errors of a type are answered: status, headers by `gatewayresponse.header.<name>`, and body. */
export type GatewayResponse = ResourceProperties['AWS::ApiGateway::GatewayResponse'];

/**
 * Errors that no gateway response can change. "Customizing the default gateway response for 413 REQUEST_TOO_LARGE isn't
 * currently supported", says "Amazon API Gateway important notes for REST APIs", although such a response can be
 * configured. We assume the worse case.
 */
const NOT_CUSTOMISABLE = new Set(['REQUEST_TOO_LARGE']);

const DEFAULT_TEMPLATE = '{"message":$context.error.messageString}';

/** A variable of a template, or of a parameter (there without the dollar sign). */
const VARIABLE = /\$(\w+(?:\.\w+)*)/g;

const HEADER_PARAMETER = /^gatewayresponse\.header\.([\w-]+)$/;

interface ErrorContext {
  readonly error: GatewayError;
  readonly requestId: string;
  readonly extendedRequestId: string;
}

const VARIABLES: Readonly<Record<string, (context: ErrorContext) => string>> = {
  'context.requestId': ({ requestId }) => requestId,
  'context.extendedRequestId': ({ extendedRequestId }) => extendedRequestId,
  'context.error.message': ({ error }) => error.message,
  'context.error.messageString': ({ error }) => JSON.stringify(error.message),
  'context.error.responseType': ({ error }) => error.type,
};

/**
 * Answers of a REST API to its own errors, as changed by gateway responses. Source:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-gatewayResponse-definition.html
 * @returns the answer to an error: by the gateway response of its type or its class, or AWS's default
 * @throws Error if a response does anything besides setting headers and a body of known variables
 */
export function gatewayAnswers(
  responses: readonly GatewayResponse[],
): (context: ErrorContext) => HttpResponse {
  for (const response of responses) check(response);
  const byType = new Map(responses.map((response) => [response.ResponseType, response]));
  const responseTo = ({ type, status }: GatewayError) =>
    NOT_CUSTOMISABLE.has(type)
      ? undefined
      : (byType.get(type) ?? byType.get(status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX'));
  return (context) => {
    const { error } = context;
    const response = responseTo(error);
    const headers = Object.entries(response?.ResponseParameters ?? {}).map(([parameter, value]) => [
      HEADER_PARAMETER.exec(parameter)?.[1]?.toLowerCase() ?? '',
      // A value that is not a variable is a text in quotation marks.
      VARIABLES[value]?.(context) ?? value.slice(1, -1),
    ]);
    const template = response?.ResponseTemplates?.['application/json'] ?? DEFAULT_TEMPLATE;
    const body = template.replace(VARIABLE, (_, name: string) => String(VARIABLES[name]?.(context)));
    return {
      status: Number(response?.StatusCode ?? error.status),
      headers: { 'content-type': 'application/json', ...Object.fromEntries(headers) },
      body: Buffer.from(body),
    };
  };
}

function check({ ResponseType: type, ResponseParameters = {}, ResponseTemplates }: GatewayResponse): void {
  const template = ResponseTemplates?.['application/json'] ?? '';
  const refuse = (what: string) => {
    throw new Error(`The gateway response ${type} is not supported: it has ${what}`);
  };
  for (const [parameter, value] of Object.entries(ResponseParameters)) {
    if (!HEADER_PARAMETER.test(parameter)) refuse(`the parameter ${parameter}`);
    if (!Object.hasOwn(VARIABLES, value) && !/^'[^']*'$/.test(value)) refuse(`the value ${value}`);
  }
  for (const [, name = ''] of template.matchAll(VARIABLE)) {
    if (!Object.hasOwn(VARIABLES, name)) refuse(`the variable $${name}`);
  }
  const other = /#\w+|\$[^\w]/.exec(template.replace(VARIABLE, ''));
  if (other !== null) refuse(`the directive ${other[0]}`);
}
