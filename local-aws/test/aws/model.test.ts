import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AwsEndpoint, startAwsEndpoint } from '../../aws/endpoint.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../aws/json.ts';
import { models, type Shape } from '../../aws/model/models.ts';
import { SERVICES, type Service } from '../../aws/services.ts';
import { send, signedFor } from './support.ts';

let endpoint: AwsEndpoint;
beforeAll(async () => {
  endpoint = await startAwsEndpoint({ port: 0 });
});
afterAll(() => endpoint.close());

/** An input that breaks one rule of AWS' model, and that rule. */
interface Violation {
  readonly rule: string;
  readonly input: JsonObject;
}

interface Broken {
  readonly rule: string;
  readonly value: JsonValue;
}

/** A limit that is not tested, because a larger value does not fit into a request. */
const TOO_LARGE = 1_100_000;

/** A text for each pattern that is not about particular characters: ids and ARNs. */
const SAMPLES = ['a', 'arn:aws:iam::123456789012:role/a', '01234567-89ab-cdef-0123-456789abcdef'];
const NOT_MATCHING = ['\u0000', ' ', '', '!'];

const expressionOf = (pattern: string) => new RegExp(`^(?:${pattern})$`, pattern.includes('\\p') ? 'u' : '');

class InputsOf {
  readonly #shapes: Readonly<Record<string, Shape>>;

  constructor(service: string) {
    this.#shapes = models[service]?.shapes ?? {};
  }

  shape(name: string): Shape {
    return this.#shapes[name] ?? { type: name };
  }

  /** A value that the model accepts, with nothing that it does not require. */
  sample(name: string): JsonValue {
    const {
      type,
      required = [],
      members = {},
      member = '',
      key = '',
      value = '',
      min = 0,
      ...text
    } = this.shape(name);
    switch (type) {
      case 'structure':
        return Object.fromEntries(required.map((field) => [field, this.sample(members[field] ?? '')]));
      case 'list':
        return Array.from({ length: min }, () => this.sample(member));
      case 'map':
        return min === 0 ? {} : { [String(this.sample(key))]: this.sample(value) };
      case 'boolean':
        return true;
      case 'blob':
        return Buffer.alloc(Math.max(min, 1)).toString('base64');
      case 'string': {
        const { pattern = '', enum: [listed] = [] } = text;
        const found = SAMPLES.find((one) => expressionOf(pattern).test(one));
        return listed ?? (found ?? 'a').padEnd(min, 'a');
      }
      default:
        return Math.max(min, 1);
    }
  }

  /** Values that break one rule of a type each. @param path of types above, because types contain themselves */
  *violations(name: string, path: readonly string[] = []): Generator<Broken> {
    if (path.includes(name)) return;
    yield* this.#brokenLimits(name);
    yield* this.#brokenMembers(name, [...path, name]);
    const { member, value } = this.shape(name);
    for (const { rule, value: broken } of this.violations(member ?? value ?? '', [...path, name])) {
      yield { rule, value: member === undefined ? { a: broken } : [broken] };
    }
  }

  *#brokenLimits(name: string): Generator<Broken> {
    const { min = 0, max = TOO_LARGE, pattern, enum: listed } = this.shape(name);
    if (listed) yield { rule: 'enum', value: 'none of these' };
    if (min > 0) yield { rule: `min ${min}`, value: this.#sized(name, min - 1) };
    if (max < TOO_LARGE) yield { rule: `max ${max}`, value: this.#sized(name, max + 1) };
    const wrong = pattern && NOT_MATCHING.find((text) => !expressionOf(pattern).test(text));
    if (wrong !== undefined) yield { rule: 'pattern', value: wrong };
  }

  *#brokenMembers(name: string, path: readonly string[]): Generator<Broken> {
    const { required = [], members = {} } = this.shape(name);
    const sample = this.sample(name) as JsonObject;
    for (const field of required)
      yield { rule: `without ${field}`, value: { ...sample, [field]: undefined } };
    for (const [field, of] of Object.entries(members)) {
      for (const { rule, value } of this.violations(of, path)) {
        yield { rule: `${field}: ${rule}`, value: { ...sample, [field]: value } };
      }
    }
  }

  #sized(name: string, size: number): JsonValue {
    const { type, member = '', value = '' } = this.shape(name);
    if (type === 'string') return 'a'.repeat(size);
    if (type === 'blob') return Buffer.alloc(size).toString('base64');
    if (type === 'list') return Array.from({ length: size }, () => this.sample(member));
    if (type === 'map') {
      return Object.fromEntries(
        Array.from({ length: size }, (_, index) => [`a${index}`, this.sample(value)]),
      );
    }
    return size;
  }
}

function violationsOf(service: string, operation: string): Violation[] {
  const input = models[service]?.operations[operation];
  if (input === undefined) return [];
  return (
    [...new InputsOf(service).violations(input)]
      .map(({ rule, value }) => ({ rule, input: value as JsonObject }))
      // Without this part of the path, the request is for another operation.
      .filter(({ rule }) => rule !== 'without UUID')
  );
}

/** The fields of a form: `Tags.member.1.Key`. */
function fieldsOf(value: JsonObject[string], path = ''): [string, string][] {
  if (value === undefined || value === null) return [];
  const below = path === '' ? '' : `${path}.`;
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => fieldsOf(item, `${below}member.${index + 1}`));
  }
  if (!isJsonObject(value)) return [[path, String(value)]];
  const parts = Object.entries(value);
  if (!path.endsWith('Attributes')) return parts.flatMap(([name, part]) => fieldsOf(part, `${below}${name}`));
  return parts.flatMap(([name, part], index) => {
    const entry = `${below}entry.${index + 1}`;
    return [[`${entry}.Name`, name], ...fieldsOf(part, `${entry}.Value`)];
  });
}

function requestOf(service: Service, operation: string, input: JsonObject) {
  const authorization = signedFor(service);
  if ('target' in SERVICES[service]) {
    const target = `${(SERVICES[service] as { target: string }).target}.${operation}`;
    return { headers: { authorization, 'x-amz-target': target }, body: JSON.stringify(input) };
  }
  if (service === 'lambda') {
    const { UUID = '', ...query } = Object.fromEntries(fieldsOf(input));
    const path = `/2015-03-31/event-source-mappings/${UUID}?${new URLSearchParams(query)}`;
    return { method: 'GET', path, headers: { authorization } };
  }
  const form = new URLSearchParams([['Action', operation], ...fieldsOf(input)]);
  return { headers: { authorization }, body: form.toString() };
}

const operations = (Object.keys(models) as Service[]).flatMap((service) =>
  Object.keys(models[service]?.operations ?? {}).map((operation) => ({ service, operation })),
);

describe('AWS’ model of the service', () => {
  test.each(operations)('is what $service checks $operation for', async ({ service, operation }) => {
    const accepted: string[] = [];
    for (const { rule, input } of violationsOf(service, operation)) {
      const { status, body } = await send(endpoint, requestOf(service, operation, input));
      const isRefused = status === 400 && /validation errors? detected|Serialization/.test(body.toString());
      if (!isRefused) accepted.push(`${rule}: ${status} ${body.toString().slice(0, 200)}`);
    }
    expect(accepted).toEqual([]);
  });
});
