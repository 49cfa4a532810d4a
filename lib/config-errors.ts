import * as z from 'zod';
import { didYouMean } from './did-you-mean.ts';

/** Maximum characters of a wrong value in an error. */
const MAX_VALUE_LENGTH = 80;

/** What an error text calls a type of the schema, such as `a list` for `array`. */
const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

/** The error text for a field that has no text of its own. */
export function problemText(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return 'must not be empty';
    default:
      return undefined;
  }
}

/** Lines about an issue of a schema: field, problem, wrong value, and how to correct it if that is known. */
export function describeIssue(schema: z.ZodType, issue: z.core.$ZodIssue): string[] {
  const field = (...more: PropertyKey[]) => [...issue.path, ...more].map(String).join('.') || 'stage';
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(fieldsOf(fieldAt(schema, issue.path)));
    return issue.keys.map((key) => {
      const meant = didYouMean(key, known);
      return `${field(key)}: is not a known field${meant && `.${meant}`}`;
    });
  }
  const cure = isSecret(issue) ? undefined : cureOf(schema, issue);
  return [`${field()}: ${issue.message}${valueText(issue)}${cure === undefined ? '' : `. ${cure}`}`];
}

/** A value of a field about a secret is not shown, because it may be the secret itself. */
const isSecret = ({ path }: z.core.$ZodIssue) => path.some((key) => /secret/i.test(String(key)));

/** ` (it is 11)`. Objects are not shown. */
function valueText(issue: z.core.$ZodIssue): string {
  const { input } = issue;
  const isShown = typeof input === 'number' || typeof input === 'boolean' || typeof input === 'string';
  return isShown && !isSecret(issue) ? ` (it is ${shortened(JSON.stringify(input))})` : '';
}

const shortened = (text: string) =>
  text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;

/** What to write instead, if the field would accept the value in another form or a similar word. */
function cureOf(schema: z.ZodType, issue: z.core.$ZodIssue): string | undefined {
  const { input } = issue;
  const field = fieldAt(schema, issue.path);
  const accepts = (value: unknown) => field?.safeParse(value).success === true;
  const form = otherForms(input).find(accepts);
  if (form !== undefined) return `Write ${shortened(JSON.stringify(form))}`;
  if ((input === false || input === null) && accepts(undefined)) return 'Remove the field';
  if (issue.code === 'invalid_value' && typeof input === 'string') {
    return didYouMean(input, issue.values.map(String)).trim() || undefined;
  }
  const required = Object.entries(fieldsOf(field)).filter(([, inner]) => !inner.safeParse(undefined).success);
  return required.length === 0 || issue.code !== 'invalid_type' || input === undefined
    ? undefined
    : `It needs ${required.map(([name]) => name).join(' and ')}`;
}

/** A value with or without quotation marks, as a list, or as an object of defaults. */
function otherForms(input: unknown): unknown[] {
  switch (typeof input) {
    case 'number':
      return [String(input)];
    case 'boolean':
      return [String(input), ...(input ? [{}] : [])];
    case 'string':
      return [...(/^(\d+|true|false)$/.test(input) ? [JSON.parse(input)] : []), [input]];
    default:
      return [];
  }
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault
    ? unwrapped(schema.unwrap())
    : schema;
}

function fieldAt(schema: unknown, [key, ...path]: readonly PropertyKey[]): z.ZodType | undefined {
  if (key === undefined) return schema instanceof z.ZodType ? schema : undefined;
  const inner = unwrapped(schema);
  return fieldAt(inner instanceof z.ZodArray ? inner.element : fieldsOf(inner)[String(key)], path);
}

/** The fields that an object can have. */
function fieldsOf(schema: unknown): Record<string, z.ZodType> {
  const inner = unwrapped(schema);
  return inner instanceof z.ZodObject ? inner.shape : {};
}
