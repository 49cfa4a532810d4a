import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Message } from '@aws-sdk/client-sqs';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';

const OPENAPI = 'docs/api/openapi.json';
const NOTIFICATION = 'docs/api/schemas/notification.json';

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

/** A document of `docs/api/`, with validation by its schemas. */
class ApiDescription<Document extends object> {
  readonly document: Document;
  readonly #file: string;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(file: string) {
    this.#file = file;
    this.document = JSON.parse(readFileSync(file, 'utf8')) as Document;
    this.#ajv.addSchema({ ...this.document, $id: undefined }, file);
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
const notification = new ApiDescription<object>(NOTIFICATION);

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

/** Attributes of a notification: `docs/subscribers.md`, "Guarantees". */
const ATTRIBUTES = ['event', 'eventId', 'shop_id', 'replay'];

/**
 * Compares a notification with its description: its attributes and its body, every field.
 * @throws Undescribed with the differences
 */
export function expectDescribedMessage({ Body = '', MessageAttributes = {} }: Message): void {
  const document = jsonOf(Body)?.value as { readonly event?: string; readonly eventId?: string } | undefined;
  const { event, eventId } = MessageAttributes;
  const findings = [
    ...Object.keys(MessageAttributes)
      .filter((name) => !ATTRIBUTES.includes(name))
      .map((name) => `attribute ${name} is not described`),
    ...(event?.StringValue === document?.event ? [] : ['attribute event is not that of the body']),
    ...(eventId?.StringValue === document?.eventId ? [] : ['attribute eventId is not that of the body']),
    ...notification.findings('#', document),
  ];
  if (findings.length === 0) return;
  throw new Undescribed(`A notification is not as ${NOTIFICATION} says: ${findings.join('; ')}`);
}

function jsonOf(body: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(body) };
  } catch {
    return undefined;
  }
}
