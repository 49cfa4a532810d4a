import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { ACCOUNT_ID } from '../aws/services.ts';
import { REGION } from '../client-settings.ts';

/** A request as an HTTP API passes it to a function. */
interface GatewayRequest {
  readonly method: string;
  /** Path as the client sent it. */
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

type Pairs = Iterable<readonly [name: string, value: string]>;

/** All values of each name. */
export function grouped(pairs: Pairs): Record<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of pairs) values.set(name, [...(values.get(name) ?? []), value]);
  return Object.fromEntries(values);
}

function joined(pairs: Pairs): Record<string, string> {
  return Object.fromEntries(Object.entries(grouped(pairs)).map(([name, values]) => [name, values.join(',')]));
}

export const prefixOf = (domainName: string) => domainName.split('.', 1)[0] ?? '';

const protocolOf = ({ httpVersion = '1.1' }: GatewayRequest) => `HTTP/${httpVersion}`;

/** Formats a time as in Apache's Common Log Format: `12/Mar/2020:19:03:58 +0000`. */
export function commonLogTime(time: Date): string {
  const [, day, month, year, clock] = time.toUTCString().split(' ');
  return `${day}/${month}/${year}:${clock} +0000`;
}
