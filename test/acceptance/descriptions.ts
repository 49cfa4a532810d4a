import { readFileSync } from 'node:fs';
import type { Message } from '@aws-sdk/client-sqs';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Answer } from '../support/partner.ts';

const OPENAPI = 'docs/api/openapi.json';
const NOTIFICATION = 'docs/api/schemas/notification.json';

/** Attributes of a notification: `docs/subscribers.md`, "Guarantees". */
const ATTRIBUTES = ['event', 'eventId', 'shop_id', 'replay'];

/** The header of a REST API. An HTTP API may send another value in it. */
const REQUEST_ID_HEADER = 'x-amz-apigw-id';

/** The description lacks something, or contradicts it. */
class Undescribed extends Error {
  override readonly name = 'Undescribed';
}

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
const documents = Object.fromEntries(
  [OPENAPI, NOTIFICATION].map((file) => {
    const document = JSON.parse(readFileSync(file, 'utf8'));
    ajv.addSchema({ ...document, $id: undefined }, file);
    return [file, document];
  }),
);
const validators = new Map<string, ValidateFunction>();

/** Validation errors, one line each. A field that the schema does not name is an error, too. */
function findings($ref: string, value: unknown): string[] {
  let validate = validators.get($ref);
  if (validate === undefined) {
    validate = ajv.compile({ $ref, unevaluatedProperties: false });
    validators.set($ref, validate);
  }
  return validate(value) ? [] : [...new Set((validate.errors ?? []).map(findingText))];
}

/** A validation error in one line, without the value, which may be the partner's. */
function findingText({ instancePath, message = 'does not fit', params }: ErrorObject): string {
  const field = 'unevaluatedProperty' in params ? ` (${String(params.unevaluatedProperty)})` : '';
  return `${instancePath || 'it'} ${message}${field}`;
}

/**
 * Compares an answer with the description of the endpoint: status, content type, every field, and the id that a REST
 * API adds. Another method or path must be answered like the endpoint's 404.
 * @throws Undescribed with all differences
 */
export function expectDescribedAnswer({ status, contentType, headers, body }: Answer): void {
  const [operations] = Object.values<{ post: { responses: object } }>(documents[OPENAPI].paths);
  const responses = new Map(Object.entries(operations?.post.responses ?? {}));
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  const schema = responses.get(String(status))?.content[mediaType]?.schema;
  const answer = `An answer ${status} ${contentType}`;
  if (schema === undefined) throw new Undescribed(`${answer}: ${OPENAPI} does not describe it`);
  const differences = findings(`${OPENAPI}${schema.$ref}`, body);
  if (differences.length > 0)
    throw new Undescribed(`${answer} is not as ${OPENAPI} says: ${differences.join('; ')}`);
  const { [REQUEST_ID_HEADER]: id } = headers;
  const { requestId = id } = body;
  if (id !== undefined && requestId !== id)
    throw new Undescribed(`${answer}: its requestId is not that of ${REQUEST_ID_HEADER}`);
}

/**
 * Compares a notification with its description: its attributes and its body, every field.
 * @throws Undescribed with the differences
 */
export function expectDescribedMessage({ Body = '', MessageAttributes = {} }: Message): void {
  const document = JSON.parse(Body) as { readonly event?: string; readonly eventId?: string };
  const { event, eventId } = MessageAttributes;
  const differences = [
    ...Object.keys(MessageAttributes)
      .filter((name) => !ATTRIBUTES.includes(name))
      .map((name) => `attribute ${name} is not described`),
    ...(event?.StringValue === document.event ? [] : ['attribute event is not that of the body']),
    ...(eventId?.StringValue === document.eventId ? [] : ['attribute eventId is not that of the body']),
    ...findings(NOTIFICATION, document),
  ];
  if (differences.length > 0)
    throw new Undescribed(`A notification is not as ${NOTIFICATION} says: ${differences.join('; ')}`);
}
