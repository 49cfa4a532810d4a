import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { AwsError } from './errors.ts';
import { isJsonObject, type JsonObject } from './json.ts';
import { type AwsRequest, type Protocol, serviceForm } from './service-forms.ts';

export interface AwsResponse {
  status: number;
  headers: Record<string, string | string[]>;
  body: string | Buffer;
  /** Sends only the headers, and breaks the connection at this signal. @default sends the body */
  stalledUntil?: AbortSignal;
}

/**
 * HTTP status of operations whose success is not 200. Source: Lambda API reference,
 * "UpdateEventSourceMapping".
 */
const STATUSES: Readonly<Record<string, number>> = { UpdateEventSourceMapping: 202 };

/** Answer with the result of an operation, in the format that the service's clients expect. */
export function documentResponse(
  { service, protocol, operation }: AwsRequest,
  document: JsonObject,
): AwsResponse {
  const { contentType = 'application/json', namespace } = serviceForm(service) ?? {};
  if (protocol === 'query') {
    const result = Object.keys(document).length === 0 ? '' : xmlOf(`${operation}Result`, document);
    const metadata = xmlOf('ResponseMetadata', { RequestId: randomUUID() });
    const name = `${operation}Response`;
    return xmlResponse(200, `<${name} xmlns="${namespace ?? ''}">${result}${metadata}</${name}>`);
  }
  return {
    status: STATUSES[operation] ?? 200,
    headers: { 'content-type': contentType },
    body: JSON.stringify(document),
  };
}

function xmlResponse(status: number, document: string, type = 'text/xml'): AwsResponse {
  return {
    status,
    headers: { 'content-type': type },
    body: `<?xml version="1.0" encoding="UTF-8"?>${document}`,
  };
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  // Escaped, because an XML parser would turn a bare carriage return into a line feed.
  '\r': '&#xD;',
};

export function element(name: string, text: string): string {
  return `<${name}>${text.replace(/[&<>"'\r]/g, (character) => ENTITIES[character] ?? character)}</${name}>`;
}

function xmlOf(name: string, value: JsonObject[string]): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value))
    return `<${name}>${value.map((item) => xmlOf('member', item)).join('')}</${name}>`;
  if (isJsonObject(value)) {
    const fields = Object.entries(value).map(([field, content]) => xmlOf(field, content));
    return `<${name}>${fields.join('')}</${name}>`;
  }
  // In the JSON document, a time is a number of seconds.
  if (name.endsWith('Timestamp')) return element(name, new Date(Number(value) * 1000).toISOString());
  return element(name, String(value));
}

/** Answer with an error, in the format that the service's clients expect. */
export function errorResponse(protocol: Protocol, service: string | undefined, error: AwsError): AwsResponse {
  const { status, code: Code, message: Message, details } = error;
  const RequestId = randomUUID();
  switch (protocol) {
    case 'json':
      return jsonError(service, error);
    case 'rest-json':
      return {
        status,
        headers: { 'content-type': 'application/json', 'x-amzn-errortype': Code },
        body: JSON.stringify({ message: Message, ...details }),
      };
    case 'rest-xml':
      return xmlResponse(status, xmlOf('Error', { Code, Message, RequestId }), 'application/xml');
    case 'query': {
      const fields =
        xmlOf('Error', { Type: faultOf(error), Code, Message }) + element('RequestId', RequestId);
      const namespace = serviceForm(service)?.namespace ?? '';
      return xmlResponse(status, `<ErrorResponse xmlns="${namespace}">${fields}</ErrorResponse>`);
    }
  }
}

const SQS_PREFIX = 'AWS.SimpleQueueService.';

/**
 * Names of SQS errors that have the prefix `AWS.SimpleQueueService.` in the query protocol. All others are
 * named as in the JSON protocol.
 */
const PREFIXED = [
  'BatchEntryIdsNotDistinct BatchRequestTooLong EmptyBatchRequest InvalidBatchEntryId MessageNotInflight',
  'PurgeQueueInProgress QueueDeletedRecently TooManyEntriesInBatchRequest UnsupportedOperation',
].flatMap((codes) => codes.split(' '));

const RENAMED: Record<string, string> = {
  AccessDeniedException: 'AccessDenied',
  QueueDoesNotExist: `${SQS_PREFIX}NonExistentQueue`,
  QueueNameExists: 'QueueAlreadyExists',
};

/**
 * The code of an SQS error in the old query protocol. SDKs still use this code as the error's name: they read the code
 * from the header `x-amzn-query-error` of the JSON protocol.
 */
function sqsQueryCode(code: string): string {
  return RENAMED[code] ?? (PREFIXED.includes(code) ? SQS_PREFIX + code : code);
}

function jsonError(service: string | undefined, error: AwsError): AwsResponse {
  const { contentType = 'application/x-amz-json-1.0' } = serviceForm(service) ?? {};
  const document: JsonObject = { __type: error.code, message: error.message, ...error.details };
  // DynamoDB and Secrets Manager write `Message` in some errors, and `message` in others. Clients read both.
  if (service !== 'sqs') document.Message = error.message;
  const headers: Record<string, string> = { 'content-type': contentType };
  if (service === 'sqs') headers['x-amzn-query-error'] = `${sqsQueryCode(error.code)};${faultOf(error)}`;
  return { status: error.status, headers, body: JSON.stringify(document) };
}

/** Adds DynamoDB's checksum to an answer. SDKs verify it, and some warn if it is missing. */
export function withChecksum(response: AwsResponse): AwsResponse {
  return { ...response, headers: { ...response.headers, 'x-amz-crc32': String(crc32(response.body)) } };
}

function faultOf(error: AwsError): 'Sender' | 'Receiver' {
  return error.status < 500 ? 'Sender' : 'Receiver';
}
