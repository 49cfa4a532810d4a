import { readFileSync } from 'node:fs';
import { AwsError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { type AwsRequest, SERVICES } from '../service-forms.ts';

/** A type of AWS' service models, with the limits of its values. */
export interface Shape {
  readonly type: string;
  /** Types of a structure's members, and names of those that a request must have. */
  readonly members?: Readonly<Record<string, string>>;
  readonly required?: readonly string[];
  /** Type of the items of a list. */
  readonly member?: string;
  /** Types of the keys and values of a map. */
  readonly key?: string;
  readonly value?: string;
  /** Values and pattern of a text. */
  readonly enum?: readonly string[];
  readonly pattern?: string;
  /** Limits of a number's value; of other types: characters, bytes or entries. */
  readonly min?: number;
  readonly max?: number;
  /** AWS leaves such a value out of its messages. */
  readonly sensitive?: boolean;
}

interface ServiceModel {
  /** Name of the type of each operation's input. Absent if the operation has none. */
  readonly operations: Readonly<Record<string, string | undefined>>;
  /** The types that limit something, by name. Others stand for themselves, such as `string`. */
  readonly shapes: Readonly<Record<string, Shape>>;
}

export const MODELS_FILE = new URL('models.json', import.meta.url);

/** Inputs of operations, from AWS' service models in botocore. `extract.ts` writes the file. */
export const models: Readonly<Record<string, ServiceModel>> = JSON.parse(readFileSync(MODELS_FILE, 'utf8'));

type Value = JsonObject[string];

/** Finds what AWS' model of a service rejects in one input. */
interface InputCheck {
  readonly shapes: Readonly<Record<string, Shape>>;
  /** Whether all values arrive as text, as in forms and query strings. */
  readonly isText: boolean;
  readonly violations: string[];
}

/**
 * Checks the input of an operation against AWS' model of the service: types, required members, lengths, patterns,
 * listed values, ranges, numbers of entries. Operations and members that the model does not have are not checked.
 * @throws AwsError with all violations, in AWS' words
 */
export function checkInput({ service, protocol, operation, parameters }: AwsRequest): void {
  const model = models[service];
  const input = model?.operations[operation];
  if (model === undefined || input === undefined) return;
  const check: InputCheck = { shapes: model.shapes, isText: protocol !== 'json', violations: [] };
  checkValue(check, input, parameters, '');
  const { length } = check.violations;
  if (length === 0) return;
  const count = `${length} validation ${length === 1 ? 'error' : 'errors'} detected`;
  throw new AwsError(SERVICES[service].invalidInput, `${count}: ${check.violations.join('; ')}`);
}

function checkValue(check: InputCheck, name: string, value: Value, path: string): void {
  const shape = check.shapes[name] ?? { type: name };
  if (value === undefined || value === null) return;
  if (!hasType(shape.type, value, check.isText)) {
    throw new AwsError('SerializationException', `${path || 'The input'} must be of the type ${shape.type}`);
  }
  const violate = (rule: string) => {
    check.violations.push(
      `${shownValue(shape, value)} at '${path}' failed to satisfy constraint: Member must ${rule}`,
    );
  };
  checkSize(shape, value, violate);
  if (typeof value === 'string') checkText(shape, value, violate);
  checkParts(check, shape, value, path);
}

function shownValue({ type, sensitive }: Shape, value: Value): string {
  if (sensitive || typeof value === 'object') return 'Value';
  const size = sizeOf(type, value);
  return `Value '${type === 'blob' ? `java.nio.HeapByteBuffer[pos=0 lim=${size} cap=${size}]` : value}'`;
}

function hasType(type: string, value: Value, isText: boolean): boolean {
  switch (type) {
    case 'structure':
    case 'map':
      return isJsonObject(value);
    case 'list':
      return Array.isArray(value);
    case 'boolean':
      return typeof value === 'boolean' || (isText && (value === 'true' || value === 'false'));
    case 'integer':
    case 'long':
      return Number.isInteger(isText ? Number(value) : value);
    case 'float':
    case 'double':
      return typeof value === 'number';
    case 'timestamp':
      return typeof value === 'number' || typeof value === 'string';
    default:
      return typeof value === 'string';
  }
}

const NUMBERS = ['integer', 'long', 'float', 'double'];

function checkSize(shape: Shape, value: Value, violate: (rule: string) => void): void {
  const { type, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = shape;
  const isNumber = NUMBERS.includes(type);
  const size = isNumber ? Number(value) : sizeOf(type, value);
  const subject = isNumber ? 'have value' : 'have length';
  if (size < min) violate(`${subject} greater than or equal to ${min}`);
  if (size > max) violate(`${subject} less than or equal to ${max}`);
}

function sizeOf(type: string, value: Value): number {
  if (typeof value === 'string') return type === 'blob' ? Buffer.byteLength(value, 'base64') : value.length;
  return Object.keys(value ?? {}).length;
}

function checkText({ enum: listed, pattern }: Shape, value: string, violate: (rule: string) => void): void {
  if (listed !== undefined && !listed.includes(value)) {
    violate(`satisfy enum value set: [${listed.join(', ')}]`);
  }
  if (pattern !== undefined && !expressionOf(pattern).test(value)) {
    violate(`satisfy regular expression pattern: ${pattern}`);
  }
}

const expressions = new Map<string, RegExp>();

/** A pattern of AWS as an expression for the whole value. AWS' patterns are Java's. */
function expressionOf(pattern: string): RegExp {
  const known = expressions.get(pattern);
  if (known !== undefined) return known;
  // Java accepts escapes that JavaScript refuses in Unicode mode, and only that mode has `\p`.
  const expression = new RegExp(`^(?:${pattern})$`, pattern.includes('\\p') ? 'u' : '');
  expressions.set(pattern, expression);
  return expression;
}

function checkParts(check: InputCheck, shape: Shape, value: Value, path: string): void {
  const { members = {}, required = [], member, key, value: entry } = shape;
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      checkValue(check, member ?? '', item, join(path, `${index + 1}.member`));
    });
    return;
  }
  if (!isJsonObject(value)) return;
  for (const name of required) {
    if (value[name] !== undefined && value[name] !== null) continue;
    const rule = 'failed to satisfy constraint: Member must not be null';
    check.violations.push(`Value null at '${join(path, name)}' ${rule}`);
  }
  for (const [name, part] of Object.entries(value)) {
    if (key !== undefined) checkValue(check, key, name, path);
    const of = shape.type === 'map' ? entry : members[name];
    if (of !== undefined) checkValue(check, of, part, join(path, name));
  }
}

/** AWS writes members with a small first letter. */
function join(path: string, name: string): string {
  const last = name.charAt(0).toLowerCase() + name.slice(1);
  return path === '' ? last : `${path}.${last}`;
}
