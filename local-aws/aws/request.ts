import { AwsError } from './errors.ts';
import { parseLambdaRequest } from './event-source-mappings.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from './json.ts';
import { parseS3Request } from './s3.ts';
import {
  type AwsHttpRequest,
  type AwsRequest,
  type Protocol,
  queryOf,
  SERVICES,
  type Service,
  serviceForm,
} from './service-forms.ts';

/** The protocol to answer in. The protocol is known even if the rest of the request cannot be parsed. */
export function protocolOf({ url, headers }: AwsHttpRequest, service: string | undefined): Protocol {
  if (headers['x-amz-target'] !== undefined) return 'json';
  const known = serviceForm(service);
  if (known !== undefined) return known.protocol;
  // For a service that this endpoint does not have, a form means XML. CloudFront uses XML without a form.
  const type = headers['content-type'] ?? '';
  const isForm = type.startsWith('application/x-www-form-urlencoded') || queryOf(url).has('Action');
  return isForm || service === undefined || service === 'cloudfront' ? 'query' : 'rest-json';
}

/**
 * Reads the SigV4 credential scope. The signature and the region are not checked: any secret key is accepted, and every
 * region is the same stack.
 */
export function credentialOf(http: AwsHttpRequest): { accessKeyId: string; service: string } | undefined {
  const { authorization = '' } = http.headers;
  const [, scope = ''] = /^AWS4-HMAC-SHA256\s.*?Credential=([^,\s]+)/.exec(authorization) ?? [];
  const [accessKeyId, , region, service, terminator] = scope.split('/');
  if (accessKeyId && region && service && terminator === 'aws4_request') return { accessKeyId, service };
  return undefined;
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

function readForm(service: Service, http: AwsHttpRequest) {
  const parameters = nested(formOf(http));
  const operation = parameters.Action;
  if (typeof operation !== 'string') {
    throw new AwsError(
      'MissingAction',
      `A request to ${service} needs X-Amz-Target or the parameter Action.`,
    );
  }
  const { target } = serviceForm(service) ?? {};
  if (target !== undefined) {
    throw new AwsError(
      'UnsupportedProtocol',
      `The local AWS endpoint does not support the old query protocol of ${SERVICES[service].title}: update the AWS SDK or CLI, or send AWS JSON with X-Amz-Target: ${target}.${operation}.`,
    );
  }
  return { protocol: 'query' as const, operation, parameters };
}

/**
 * The fields of a request in the query protocol. If a name is repeated, only its last value is kept: fauxqs uses that
 * one, so the checks must not see another one.
 */
export function formOf({ url, body }: AwsHttpRequest): URLSearchParams {
  const fields = [...queryOf(url), ...new URLSearchParams(body.toString())];
  return new URLSearchParams(Object.fromEntries(fields));
}

/**
 * The fields of a form as the JSON protocol has them: `Tags.member.1.Key` becomes the key of the first of `Tags`, and
 * `MessageAttributes.entry.1.Name` the name of the first of `MessageAttributes`.
 */
function nested(form: Iterable<[name: string, value: string]>): JsonObject {
  const parts = Map.groupBy(form, ([name]) => name.split('.', 1)[0] ?? '');
  return Object.fromEntries(
    [...parts].map(([part, fields]) => {
      const value = fields.find(([name]) => name === part)?.[1];
      const inside = () => nested(fields.map(([name, text]) => [name.slice(part.length + 1), text]));
      return [part, value ?? partOf(inside())];
    }),
  );
}

function partOf(fields: JsonObject): JsonValue {
  const { member, entry } = fields;
  // JavaScript lists the numbers among the keys first, and in order.
  if (isJsonObject(member)) return Object.values(member).filter((item) => item !== undefined);
  if (!isJsonObject(entry)) return fields;
  const pairs = Object.values(entry).filter(isJsonObject);
  // SNS writes `Name` and `Value` in message attributes, and `key` and `value` in other attributes.
  return Object.fromEntries(
    pairs.map((pair) => [String(pair.Name ?? pair.key), pair.Value ?? pair.value ?? '']),
  );
}
