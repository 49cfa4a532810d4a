import { AwsError } from './errors.ts';
import { queryOf } from './http-server.ts';
import { type JsonObject, parseJsonObject } from './json.ts';
import { parseLambdaRequest } from './lambda/event-source-mappings.ts';
import { parseS3Request } from './s3/s3-request.ts';
import {
  type AwsHttpRequest,
  type AwsRequest,
  type Protocol,
  SERVICES,
  type Service,
  serviceForm,
} from './services.ts';

/** The protocol to answer in. The protocol is known even if the rest of the request cannot be parsed. */
export function protocolOf({ url, headers, body }: AwsHttpRequest, service: string | undefined): Protocol {
  if (headers['x-amz-target'] !== undefined) return 'json';
  const known = serviceForm(service);
  if (known !== undefined) return known.protocol;
  // For a service that this endpoint does not have, a form means XML, with two exceptions.
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
 * Reads the SigV4 credential scope from the Authorization header, or from the query string of a presigned URL. The
 * signature and the region are not checked: any secret key is accepted, and every region is the same stack.
 */
export function credentialOf({ url, headers }: AwsHttpRequest): Credential | undefined {
  const query = url.includes('?') ? queryOf(url) : undefined;
  const scope =
    /^AWS4-HMAC-SHA256\s.*?Credential=([^,\s]+)/.exec(headers.authorization ?? '')?.[1] ??
    query?.get('X-Amz-Credential');
  const [accessKeyId, , region, service, terminator] = scope?.split('/') ?? [];
  if (accessKeyId && region && service && terminator === 'aws4_request') return { accessKeyId, service };
  // `aws s3 presign` still uses signature version 2.
  const presigningKey = query?.get('AWSAccessKeyId');
  return presigningKey ? { accessKeyId: presigningKey, service: 's3' } : undefined;
}

/**
 * Parses a request to an AWS service.
 * @throws AwsError for a request without SigV4 authorization, for another service, and for an invalid body
 */
export function parseRequest(http: AwsHttpRequest): AwsRequest {
  const credential = credentialOf(http);
  if (credential === undefined) {
    throw new AwsError('MissingAuthenticationToken', 'Request is missing Authentication Token', {
      status: 403,
    });
  }
  const names = Object.keys(SERVICES) as Service[];
  const service = names.find((name) => name === credential.service);
  if (service === undefined) {
    throw new AwsError(
      'UnsupportedService',
      `The local AWS endpoint does not offer ${credential.service}, only ${names.join(', ')}.`,
    );
  }
  if (http.headers['smithy-protocol'] === 'rpc-v2-cbor') {
    throw new AwsError(
      'UnsupportedProtocol',
      'The local AWS endpoint does not support CBOR (smithy-rpc-v2-cbor): configure the client for AWS JSON.',
    );
  }
  const { accessKeyId } = credential;
  switch (service) {
    case 's3':
      return { accessKeyId, service, protocol: 'rest-xml', ...parseS3Request(http) };
    case 'lambda':
      return { accessKeyId, service, protocol: 'rest-json', ...parseLambdaRequest(http), http };
    default: {
      const isJson = http.headers['x-amz-target'] !== undefined;
      return { accessKeyId, service, ...(isJson ? readJson(service, http) : readForm(service, http)), http };
    }
  }
}

function readJson(service: Service, { headers, body }: AwsHttpRequest) {
  const [prefix, operation] = String(headers['x-amz-target']).split('.');
  if (prefix !== serviceForm(service)?.target || operation === undefined) {
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

function readForm(service: Service, { url, body }: AwsHttpRequest) {
  const form = Object.fromEntries([...queryOf(url), ...new URLSearchParams(body.toString())]);
  const operation = form.Action;
  if (operation === undefined) {
    throw new AwsError(
      'MissingAction',
      `A request to ${service} needs X-Amz-Target or the parameter Action.`,
    );
  }
  if (service === 'sqs') {
    throw new AwsError(
      'UnsupportedProtocol',
      `The local AWS endpoint does not support SQS' old query protocol: update the AWS SDK or CLI to a version of May 2024 or later, or send AWS JSON with X-Amz-Target: AmazonSQS.${operation}.`,
    );
  }
  const parameters = service === 'monitoring' ? withLists(form) : form;
  return { protocol: 'query' as const, operation, parameters };
}

/**
 * Converts a form of CloudWatch to the fields of its JSON protocol: `AlarmNames.member.1` becomes the first of
 * `AlarmNames`. Version 2 of the AWS CLI used the query protocol of CloudWatch until 2025.
 */
function withLists(form: Readonly<Record<string, string>>): JsonObject {
  const parameters: JsonObject = {};
  for (const [field, value] of Object.entries(form)) {
    const list = /^(\w+)\.member\.\d+$/.exec(field)?.[1];
    if (list === undefined) {
      parameters[field] = value;
    } else {
      const items = parameters[list];
      parameters[list] = Array.isArray(items) ? [...items, value] : [value];
    }
  }
  return parameters;
}
