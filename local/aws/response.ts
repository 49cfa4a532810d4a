import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { AwsError } from './aws-error.ts';
import type { JsonObject } from './json.ts';
import { sqsQueryCode } from './sqs/sqs-error-codes.ts';
import { element } from './xml.ts';

/** What goes back to the client. */
export interface AwsResponse {
  status: number;
  headers: Record<string, string | string[]>;
  body: string | Buffer;
}

/** How a client expects an answer to be written. */
export type Protocol = 'json' | 'query' | 'rest-json' | 'rest-xml';

export const JSON_1_0 = 'application/x-amz-json-1.0';
export const JSON_1_1 = 'application/x-amz-json-1.1';

/** Names of the query protocol's XML documents. */
const NAMESPACES: Record<string, string> = {
  sqs: 'http://queue.amazonaws.com/doc/2012-11-05/',
  sns: 'http://sns.amazonaws.com/doc/2010-03-31/',
  monitoring: 'http://monitoring.amazonaws.com/doc/2010-08-01/',
  sts: 'https://sts.amazonaws.com/doc/2011-06-15/',
};

/** Namespaces of the error types, which older SDKs strip and logs show. */
const ERROR_TYPE_PREFIXES: Record<string, string> = {
  sqs: 'com.amazonaws.sqs#',
  dynamodb: 'com.amazonaws.dynamodb.v20120810#',
};

export function jsonResponse(document: object, contentType: string): AwsResponse {
  return { status: 200, headers: { 'content-type': contentType }, body: JSON.stringify(document) };
}

/** Answer of the query protocol; `result` is the inside of `<…Result>`, absent where there is none. */
export function queryResponse(service: string, operation: string, result?: string): AwsResponse {
  const inside = result === undefined ? '' : `<${operation}Result>${result}</${operation}Result>`;
  return {
    status: 200,
    headers: { 'content-type': 'text/xml' },
    body: `<?xml version="1.0"?><${operation}Response xmlns="${NAMESPACES[service] ?? ''}">${inside}<ResponseMetadata>${element('RequestId', randomUUID())}</ResponseMetadata></${operation}Response>`,
  };
}

/** Writes an error in the form in which the service's own clients read it. */
export function errorResponse(protocol: Protocol, service: string | undefined, error: AwsError): AwsResponse {
  if (protocol === 'json') return jsonError(service ?? '', error);
  if (protocol === 'rest-json') return restJsonError(error);
  const code = element('Code', service === 'sqs' ? sqsQueryCode(error.code) : error.code);
  const message = element('Message', error.message);
  const requestId = element('RequestId', randomUUID());
  if (protocol === 'rest-xml') {
    return {
      status: error.status,
      headers: { 'content-type': 'application/xml' },
      body: `<?xml version="1.0" encoding="UTF-8"?><Error>${code}${message}${requestId}</Error>`,
    };
  }
  return {
    status: error.status,
    headers: { 'content-type': 'text/xml' },
    body: `<?xml version="1.0"?><ErrorResponse xmlns="${NAMESPACES[service ?? ''] ?? ''}"><Error>${element('Type', fault(error))}${code}${message}</Error>${requestId}</ErrorResponse>`,
  };
}

function restJsonError({ code, status, message, details }: AwsError): AwsResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', 'x-amzn-errortype': code },
    body: JSON.stringify({ message, ...details }),
  };
}

function jsonError(service: string, error: AwsError): AwsResponse {
  const prefix = ERROR_TYPE_PREFIXES[service] ?? '';
  // `Message` is what DynamoDB and Secrets Manager write for some errors; clients read either one.
  const document: JsonObject = { __type: prefix + error.code, message: error.message, ...error.details };
  if (service !== 'sqs') document.Message = error.message;
  const headers: Record<string, string> = {
    'content-type': service === 'secretsmanager' || service === 'logs' ? JSON_1_1 : JSON_1_0,
  };
  if (service === 'sqs') headers['x-amzn-query-error'] = `${sqsQueryCode(error.code)};${fault(error)}`;
  return { status: error.status, headers, body: JSON.stringify(document) };
}

/** DynamoDB's checksum of a whole answer, without which some SDKs warn. */
export function withChecksum(response: AwsResponse): AwsResponse {
  return { ...response, headers: { ...response.headers, 'x-amz-crc32': String(crc32(response.body)) } };
}

function fault(error: AwsError): 'Sender' | 'Receiver' {
  return error.status < 500 ? 'Sender' : 'Receiver';
}
