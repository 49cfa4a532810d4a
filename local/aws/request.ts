import type { IncomingHttpHeaders } from 'node:http';
import { pathOf, queryOf } from './address.ts';
import { AwsError } from './aws-error.ts';
import { alarmParameters } from './cloudwatch/alarms-query.ts';
import { type JsonObject, parseJsonObject } from './json.ts';
import { parseLambdaRequest } from './lambda/lambda-request.ts';
import { type Permission, permissionsOf, type Stack } from './permissions.ts';
import type { Protocol } from './response.ts';
import { parseS3Request } from './s3/s3-request.ts';
import { sqsParameters } from './sqs/sqs-query.ts';

/** An HTTP request with its whole body. */
export interface HttpRequest {
  method: string;
  /** Path and query string. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** What one request asks of AWS. */
export interface AwsRequest {
  service: Service;
  protocol: Protocol;
  operation: string;
  /** The fields of the JSON document or of the form; empty for S3. */
  parameters: JsonObject;
  permissions: Permission[];
  accessKeyId: string;
  /** The request as it came, but for S3, whose bucket is always in the path. */
  http: HttpRequest;
}

/** Prefix of `X-Amz-Target` of the services that speak JSON. */
const TARGETS = {
  sqs: 'AmazonSQS',
  dynamodb: 'DynamoDB_20120810',
  secretsmanager: 'secretsmanager',
  logs: 'Logs_20140328',
  firehose: 'Firehose_20150804',
  monitoring: 'GraniteServiceVersion20100801',
};

const SERVICES = [
  'sqs',
  'sns',
  's3',
  'dynamodb',
  'secretsmanager',
  'logs',
  'firehose',
  'monitoring',
  'lambda',
  'sts',
] as const;

/** A service of this endpoint, named as in a signature's credential scope: `monitoring` is CloudWatch. */
export type Service = (typeof SERVICES)[number];

/** Each one's, where the request does not show it; SQS and CloudWatch have two. */
const PROTOCOLS: Record<Service, Protocol> = {
  sqs: 'query',
  sns: 'query',
  s3: 'rest-xml',
  dynamodb: 'json',
  secretsmanager: 'json',
  logs: 'json',
  firehose: 'json',
  monitoring: 'query',
  lambda: 'rest-json',
  sts: 'query',
};

/** How a client expects an answer to be written, whether or not anything else about its request can be understood. */
export function protocolOf({ url, headers, body }: HttpRequest, service: string | undefined): Protocol {
  if (headers['x-amz-target'] !== undefined) return 'json';
  const known = SERVICES.find((name) => name === service);
  if (known !== undefined) return PROTOCOLS[known];
  // Services that this endpoint lacks: those that speak XML say so by a form, but for two.
  const isForm =
    headers['content-type']?.startsWith('application/x-www-form-urlencoded') ||
    body.toString('latin1', 0, 'Action='.length) === 'Action=' ||
    queryOf(url).has('Action');
  const speaksXml = service === undefined || service === 'cloudfront' || service === 'route53';
  return isForm || speaksXml ? 'query' : 'rest-json';
}

interface Credential {
  accessKeyId: string;
  service: string;
}

/**
 * Reads the SigV4 credential scope from the Authorization header, or from the query string of a
 * presigned address. The signature is not checked, so any secret key will do; nor is the region, since
 * every region reaches the one stack.
 */
export function credentialOf({ url, headers }: HttpRequest): Credential | undefined {
  const query = url.includes('?') ? queryOf(url) : undefined;
  const scope =
    /^AWS4-HMAC-SHA256\s.*?Credential=([^,\s]+)/.exec(headers.authorization ?? '')?.[1] ??
    query?.get('X-Amz-Credential');
  const [accessKeyId, , region, service, terminator] = scope?.split('/') ?? [];
  if (accessKeyId && region && service && terminator === 'aws4_request') return { accessKeyId, service };
  // `aws s3 presign` still signs with the version before.
  const presigningKey = query?.get('AWSAccessKeyId');
  return presigningKey ? { accessKeyId: presigningKey, service: 's3' } : undefined;
}

/**
 * Reads what a request asks for.
 * @throws AwsError for a request without SigV4 authorization, for another service, and for a body that
 *   its protocol does not allow
 */
export function parseRequest(http: HttpRequest, stack: Stack): AwsRequest {
  const credential = credentialOf(http);
  if (credential === undefined) {
    throw new AwsError('MissingAuthenticationToken', 'Request is missing Authentication Token', {
      status: 403,
    });
  }
  const service = SERVICES.find((name) => name === credential.service);
  if (service === undefined) {
    throw new AwsError(
      'UnsupportedService',
      `The local AWS endpoint does not offer ${credential.service}, only ${SERVICES.join(', ')}.`,
    );
  }
  if (http.headers['smithy-protocol'] === 'rpc-v2-cbor') {
    throw new AwsError(
      'UnsupportedProtocol',
      'The local AWS endpoint does not speak CBOR (smithy-rpc-v2-cbor): configure the client for AWS JSON.',
    );
  }

  const { accessKeyId } = credential;
  if (service === 's3') {
    const { operation, url, permissions } = parseS3Request(http.method, http.url, http.headers, http.body);
    return {
      accessKeyId,
      service,
      protocol: 'rest-xml',
      operation,
      parameters: {},
      permissions,
      http: { ...http, url },
    };
  }
  if (service === 'lambda') {
    const { operation, parameters } = parseLambdaRequest(http.method, http.url, http.body);
    const permissions = permissionsOf(service, operation, parameters, stack);
    return { accessKeyId, service, protocol: 'rest-json', operation, parameters, permissions, http };
  }
  const asked =
    http.headers['x-amz-target'] === undefined ? readForm(service, http) : readJson(service, http);
  const permissions = permissionsOf(service, asked.operation, asked.parameters, stack);
  return { accessKeyId, service, ...asked, permissions, http };
}

function readJson(service: Service, { headers, body }: HttpRequest) {
  const [prefix, operation] = String(headers['x-amz-target']).split('.');
  const expected = Object.entries(TARGETS).find(([name]) => name === service)?.[1];
  if (prefix !== expected || operation === undefined) {
    throw new AwsError(
      'UnknownOperationException',
      `X-Amz-Target is ${headers['x-amz-target']}, but the signature is for ${service}.`,
    );
  }
  const parameters = parseJsonObject(body.toString());
  if (parameters === undefined) {
    throw new AwsError('SerializationException', 'The request body is not a JSON object.');
  }
  return { protocol: 'json' as const, operation, parameters };
}

/** Forms of services whose operations are carried out as in their JSON protocol. */
const PARAMETERS: Partial<Record<Service, (form: Record<string, string>, path: string) => JsonObject>> = {
  sqs: sqsParameters,
  monitoring: alarmParameters,
};

function readForm(service: Service, { url, body }: HttpRequest) {
  const form = Object.fromEntries([...queryOf(url), ...new URLSearchParams(body.toString())]);
  const operation = form.Action;
  if (operation === undefined) {
    throw new AwsError(
      'MissingAction',
      `A request to ${service} needs X-Amz-Target or the parameter Action.`,
    );
  }
  const parameters = PARAMETERS[service]?.(form, pathOf(url)) ?? form;
  return { protocol: 'query' as const, operation, parameters };
}
