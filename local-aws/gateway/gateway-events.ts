import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import { ACCOUNT_ID } from '../aws/services.ts';
import { REGION } from '../client-settings.ts';

/** A request as API Gateway passes it to a function, in either payload format. */
export interface GatewayRequest {
  readonly method: string;
  /** Path as the client sent it. For a REST API, it begins with the stage. */
  readonly path: string;
  /** Query string without the question mark. @default none */
  readonly query?: string;
  /** Headers as received. A name may occur more than once. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Body as text or base64. @default none */
  readonly body?: string;
  readonly isBase64Encoded: boolean;
  /** HTTP version. @default '1.1' */
  readonly httpVersion?: string;
  readonly sourceIp: string;
  readonly receivedAt: Date;
  readonly requestId: string;
}

export interface ReceivingApi {
  readonly accountId: string;
  readonly apiId: string;
  readonly domainName: string;
}

export const receivingApi = (apiId: string): ReceivingApi => ({
  accountId: ACCOUNT_ID,
  apiId,
  domainName: `${apiId}.execute-api.${REGION}.amazonaws.com`,
});

/** The resource of a REST API that received a request. */
export interface ReceivingResource extends ReceivingApi {
  readonly resourceId: string;
  /** Path of the resource below the stage: `/v1/orders`. */
  readonly resourcePath: string;
  readonly stage: string;
  /** Another id of the request. A client can choose `requestId`, but not this id. */
  readonly extendedRequestId: string;
}

/**
 * Event of payload format 2.0, which an HTTP API sends. Source:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 * @param request with header names in lower case, as an HTTP API converts them
 * @param cookies which an HTTP API moves out of the headers
 */
export function httpApiEvent(
  request: GatewayRequest,
  { accountId, apiId, domainName }: ReceivingApi,
  cookies: string[] = [],
): APIGatewayProxyEventV2 {
  const { method, path, query = '', body, isBase64Encoded, receivedAt, requestId } = request;
  const headers = joined(request.headers);
  const routeKey = `${method} ${path}`;
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: query,
    ...(cookies.length > 0 && { cookies }),
    headers,
    ...(query !== '' && { queryStringParameters: joined(new URLSearchParams(query)) }),
    requestContext: {
      accountId,
      apiId,
      domainName,
      domainPrefix: prefixOf(domainName),
      http: {
        method,
        path,
        protocol: protocolOf(request),
        sourceIp: request.sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
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

/**
 * Event of payload format 1.0, which a REST API sends. Header names are as the client wrote them, and fields
 * without a value are null. Source:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export function restApiEvent(request: GatewayRequest, resource: ReceivingResource): APIGatewayProxyEvent {
  const { method, path, query = '', body = null, isBase64Encoded, receivedAt, requestId } = request;
  const { accountId, apiId, domainName, resourceId, resourcePath, stage, extendedRequestId } = resource;
  const parameters = query === '' ? undefined : [...new URLSearchParams(query)];
  return {
    resource: resourcePath,
    path: path.slice(`/${stage}`.length),
    httpMethod: method,
    headers: Object.fromEntries(request.headers),
    multiValueHeaders: grouped(request.headers),
    queryStringParameters: parameters === undefined ? null : Object.fromEntries(parameters),
    multiValueQueryStringParameters: parameters === undefined ? null : grouped(parameters),
    pathParameters: null,
    stageVariables: null,
    requestContext: {
      resourceId,
      resourcePath,
      httpMethod: method,
      extendedRequestId,
      requestTime: commonLogTime(receivedAt),
      path,
      accountId,
      protocol: protocolOf(request),
      stage,
      domainPrefix: prefixOf(domainName),
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
        sourceIp: request.sourceIp,
        user: null,
        userAgent: request.headers.findLast(([name]) => name.toLowerCase() === 'user-agent')?.[1] ?? null,
        userArn: null,
      },
      domainName,
      apiId,
    },
    body,
    isBase64Encoded,
  };
}

type Pairs = Iterable<readonly [name: string, value: string]>;

/** All values of each name. */
function grouped(pairs: Pairs): Record<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of pairs) values.set(name, [...(values.get(name) ?? []), value]);
  return Object.fromEntries(values);
}

function joined(pairs: Pairs): Record<string, string> {
  return Object.fromEntries(Object.entries(grouped(pairs)).map(([name, values]) => [name, values.join(',')]));
}

const prefixOf = (domainName: string) => domainName.split('.', 1)[0] ?? '';

const protocolOf = ({ httpVersion = '1.1' }: GatewayRequest) => `HTTP/${httpVersion}`;

/** Formats a time as in Apache's Common Log Format: `12/Mar/2020:19:03:58 +0000`. */
export function commonLogTime(time: Date): string {
  const [, day, month, year, clock] = time.toUTCString().split(' ');
  return `${day}/${month}/${year}:${clock} +0000`;
}
