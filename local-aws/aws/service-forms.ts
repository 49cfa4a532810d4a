import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from './json.ts';

export const REGION = 'us-east-1';

/** AWS account of all resources of the local stack. fauxqs has this account built in. */
export const ACCOUNT_ID = '000000000000';

export function arnOf(service: string, resource: string): string {
  return `arn:aws:${service}:${REGION}:${ACCOUNT_ID}:${resource}`;
}

export type Protocol = 'json' | 'query' | 'rest-json' | 'rest-xml';

interface ServiceForm {
  /** Name of the service for people. */
  readonly title: string;
  /** Protocol of requests without the header `X-Amz-Target`. */
  readonly protocol: Protocol;
  /** Prefix of the header `X-Amz-Target`, for services with a JSON protocol. */
  readonly target?: string;
  readonly contentType?: string;
  readonly namespace?: string;
  /** Code of the service's error for an input that its model rejects. */
  readonly invalidInput: string;
  /** The service's error for a caller whose policies do not allow a call. */
  readonly accessDenied: { readonly code: string; readonly status: number };
}

const JSON_1_0 = 'application/x-amz-json-1.0';

const JSON_SERVICE = {
  protocol: 'json',
  contentType: 'application/x-amz-json-1.1',
  invalidInput: 'ValidationException',
  accessDenied: { code: 'AccessDeniedException', status: 400 },
} as const;

const QUERY_SERVICE = {
  protocol: 'query',
  invalidInput: 'ValidationError',
  accessDenied: { code: 'AccessDenied', status: 403 },
} as const;

/**
 * The services of this endpoint, by their names in the credential scope of a signature: `monitoring` is
 * CloudWatch.
 */
export const SERVICES = {
  sqs: {
    title: 'SQS',
    protocol: 'query',
    target: 'AmazonSQS',
    contentType: JSON_1_0,
    namespace: 'http://queue.amazonaws.com/doc/2012-11-05/',
    invalidInput: 'MissingParameter',
    accessDenied: { code: 'AccessDeniedException', status: 403 },
  },
  sns: {
    title: 'SNS',
    protocol: 'query',
    namespace: 'http://sns.amazonaws.com/doc/2010-03-31/',
    invalidInput: 'InvalidParameter',
    accessDenied: { code: 'AuthorizationError', status: 403 },
  },
  s3: {
    title: 'S3',
    protocol: 'rest-xml',
    invalidInput: 'InvalidArgument',
    accessDenied: { code: 'AccessDenied', status: 403 },
  },
  dynamodb: {
    ...JSON_SERVICE,
    title: 'DynamoDB',
    target: 'DynamoDB_20120810',
    contentType: JSON_1_0,
  },
  secretsmanager: { ...JSON_SERVICE, title: 'Secrets Manager', target: 'secretsmanager' },
  logs: {
    ...JSON_SERVICE,
    title: 'CloudWatch Logs',
    target: 'Logs_20140328',
    invalidInput: 'InvalidParameterException',
  },
  firehose: { ...JSON_SERVICE, title: 'Firehose', target: 'Firehose_20150804' },
  monitoring: {
    ...QUERY_SERVICE,
    title: 'CloudWatch',
    target: 'GraniteServiceVersion20100801',
    contentType: JSON_1_0,
  },
  lambda: {
    title: 'Lambda',
    protocol: 'rest-json',
    invalidInput: 'ValidationException',
    accessDenied: { code: 'AccessDeniedException', status: 403 },
  },
  cloudformation: {
    ...QUERY_SERVICE,
    title: 'CloudFormation',
    namespace: 'http://cloudformation.amazonaws.com/doc/2010-05-15/',
  },
  sts: { ...QUERY_SERVICE, title: 'STS', namespace: 'https://sts.amazonaws.com/doc/2011-06-15/' },
} as const satisfies Record<string, ServiceForm>;

export type Service = keyof typeof SERVICES;

/** @returns undefined if this endpoint does not have the service */
export function serviceForm(name: string | undefined): ServiceForm | undefined {
  return name !== undefined && Object.hasOwn(SERVICES, name) ? SERVICES[name as Service] : undefined;
}

export interface AwsHttpRequest {
  method: string;
  /** Path and query string of the request. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** The path of a URL, with its percent-encoding. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '/';
}

export function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.slice(pathOf(url).length));
}

/** A parsed request of an AWS client. */
export interface AwsRequest {
  service: Service;
  protocol: Protocol;
  operation: string;
  /** Fields of the request's JSON document or form. For S3: bucket and key. */
  parameters: JsonObject;
  accessKeyId: string;
  /** The HTTP request as received, except that S3's bucket is always in the path. */
  http: AwsHttpRequest;
}

/** Implementations of operations, by their names in AWS's API reference. */
export type Operations = Readonly<
  Record<string, (parameters: JsonObject, accessKeyId: string) => JsonObject | Promise<JsonObject>>
>;

/** A permission that a request needs: an action on a resource. The resource is `*` if the action has none. */
export interface NeededPermission {
  action: string;
  resource: string;
}
