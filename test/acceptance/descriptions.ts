import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Message } from '@aws-sdk/client-sqs';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const OPENAPI = 'docs/api/openapi.json';
const ASYNCAPI = 'docs/api/asyncapi.json';
const JSON_TYPE = 'application/json';

interface Reference {
  readonly $ref: string;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly post?: { readonly responses: Responses } }>>;
}
type Responses = Readonly<Record<string, Reference | Response>>;
interface Response {
  readonly content: Readonly<Record<string, unknown>>;
}

interface AsyncApi {
  readonly channels: Readonly<Record<string, Channel>>;
}
interface Channel {
  readonly address: string;
  readonly messages: Readonly<Record<string, Reference>>;
}
interface DescribedMessage {
  readonly contentType: string;
}

/** The described parts of an answer. */
interface SeenAnswer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: unknown;
}

/** The description lacks something, or contradicts it. */
class Undescribed extends Error {
  override readonly name = 'Undescribed';
}

/** One of the two documents, with validation by its schemas. */
class ApiDescription<Document extends object> {
  readonly document: Document;
  readonly #file: string;
  readonly #ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(file: string) {
    this.#file = file;
    this.document = JSON.parse(readFileSync(file, 'utf8')) as Document;
    // The `id` of an AsyncAPI document names the application. Ajv would use it as the id of a schema.
    this.#ajv.addSchema({ ...this.document, id: undefined }, file);
  }

  /** The part at a pointer, and its own pointer. Follows references. */
  at<Part>(...keys: readonly string[]): { readonly part: Part; readonly pointer: string } {
    let value: unknown = this.document;
    for (const key of keys) value = (value as Record<string, unknown> | undefined)?.[key];
    const { $ref } = (value ?? {}) as Partial<Reference>;
    if ($ref !== undefined) return this.at(...keysOf($ref));
    return { part: value as Part, pointer: `#${keys.map((key) => `/${escaped(key)}`).join('')}` };
  }

  /** Validation errors, one line each. A field that the schema does not name is an error, too. */
  findings(pointer: string, value: unknown): string[] {
    let validate = this.#validators.get(pointer);
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `${this.#file}${pointer}`, unevaluatedProperties: false });
      this.#validators.set(pointer, validate);
    }
    return validate(value) ? [] : [...new Set((validate.errors ?? []).map(findingText))];
  }
}

const keysOf = (reference: string): string[] =>
  reference
    .replace(/^#\//, '')
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));

const escaped = (key: string) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));

/** A validation error in one line, without the value, which may be the partner's. */
function findingText({ instancePath, message = 'does not fit', params }: ErrorObject): string {
  const field = 'unevaluatedProperty' in params ? ` (${String(params.unevaluatedProperty)})` : '';
  return `${instancePath || 'it'} ${message}${field}`;
}

const openApi = new ApiDescription<OpenApi>(OPENAPI);
const asyncApi = new ApiDescription<AsyncApi>(ASYNCAPI);

/** The header of a REST API. An HTTP API may send another value in it. */
const REQUEST_ID_HEADER = 'x-amz-apigw-id';

/**
 * Compares an answer with the description of the endpoint: status, content type, every field, and the id that a REST
 * API adds. Another method or path must be answered like the endpoint's 404.
 * @throws Undescribed with all differences
 */
export function expectDescribedAnswer(
  { status, contentType, body }: SeenAnswer,
  { [REQUEST_ID_HEADER]: id }: IncomingHttpHeaders,
): void {
  const [path = ''] = Object.keys(openApi.document.paths);
  const { part: response, pointer } = openApi.at<Response | undefined>(
    ...['paths', path, 'post', 'responses', String(status)],
  );
  const answer = `An answer ${status} ${contentType}`;
  if (response === undefined) throw new Undescribed(`${answer}: ${OPENAPI} has no such status`);
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (response.content[mediaType] === undefined) {
    const described = Object.keys(response.content).join(', ');
    throw new Undescribed(`${answer}: of this status ${OPENAPI} describes ${described} alone`);
  }
  const findings = openApi.findings(`${pointer}/content/${escaped(mediaType)}/schema`, body);
  if (findings.length > 0)
    throw new Undescribed(`${answer} is not as ${OPENAPI} says: ${findings.join('; ')}`);
  const { requestId = id } = body as { readonly requestId?: unknown };
  if (id !== undefined && requestId !== id)
    throw new Undescribed(`${answer}: its requestId is not that of ${REQUEST_ID_HEADER}`);
}

/**
 * Compares a message with those of its channel: its attributes and its body, every field. Messages on a queue are for
 * programs, so of a topic's forms only those in JSON count.
 * @param output of the stack: the channel's address
 * @throws Undescribed with the differences from each of the channel's messages
 */
export function expectDescribedMessage(output: string, { Body = '', MessageAttributes = {} }: Message): void {
  const found = Object.entries(asyncApi.document.channels).find(
    ([, { address }]) => address === `{${output}}`,
  );
  if (found === undefined) throw new Undescribed(`${ASYNCAPI} has no channel of the output ${output}`);
  const [name, { messages }] = found;
  const headers = Object.fromEntries(
    Object.entries(MessageAttributes).map(([key, { StringValue }]) => [key, StringValue]),
  );
  const body = jsonOf(Body);
  const against = Object.keys(messages).map((key) => {
    const { part, pointer } = asyncApi.at<DescribedMessage>('channels', name, 'messages', key);
    if (part.contentType !== JSON_TYPE) return [`${key}: is ${part.contentType}`];
    if (body === undefined) return [`${key}: the body is no JSON`];
    return [
      ...asyncApi.findings(`${pointer}/headers`, headers).map((finding) => `${key}: attributes: ${finding}`),
      ...asyncApi.findings(`${pointer}/payload`, body.value).map((finding) => `${key}: body: ${finding}`),
    ];
  });
  if (against.some((findings) => findings.length === 0)) return;
  throw new Undescribed(
    `A message on ${name} is none that ${ASYNCAPI} describes: ${against.flat().join('; ')}`,
  );
}

function jsonOf(body: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(body) };
  } catch {
    return undefined;
  }
}
