import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import { ACCOUNT_ID } from '../aws/services.ts';
import { REGION } from '../client-settings.ts';

/** A request as API Gateway hands it to a function, in whichever payload format. */
export interface GatewayRequest {
  readonly method: string;
  /** As the client sent it, without the query string. For a REST API, it begins with the stage. */
  readonly path: string;
  /** @default none */
  readonly query?: string;
  /** In the order in which they came; a name may come more than once. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** @default none */
  readonly body?: string;
  readonly isBase64Encoded: boolean;
  /** `1.1` and the like. @default '1.1' */
  readonly httpVersion?: string;
  readonly sourceIp: string;
  readonly receivedAt: Date;
  readonly requestId: string;
}

/** The API that a request came to. */
export interface ReceivingApi {
  readonly accountId: string;
  readonly apiId: string;
  /** The host name that it is called by. */
  readonly domainName: string;
}

export const receivingApi = (apiId: string): ReceivingApi => ({
  accountId: ACCOUNT_ID,
  apiId,
  domainName: `${apiId}.execute-api.${REGION}.amazonaws.com`,
});

/** Where in a REST API a request came to. */
export interface ReceivingResource extends ReceivingApi {
  readonly resourceId: string;
  /** The resource's path below the stage: `/v1/webhooks/partner`. */
  readonly resourcePath: string;
  readonly stage: string;
  /** The id that no client can choose, unlike `requestId`. */
  readonly extendedRequestId: string;
}

/**
 * The event of payload format 2.0, which an HTTP API sends. Names of headers are those given: in lower case, as
 * such an API makes them.
 * Source: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 * @param cookies what an HTTP API moves out of the headers
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
 * The event of payload format 1.0 as a REST API sends it: names of headers in the case in which the client sent
 * them, and null for what is not there.
 * Source: https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
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
      // Absent in an event of an API without an authorizer.
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

/** The values of each name. */
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
