import * as z from 'zod/mini';
import { catalogue, type EventName } from '../../lambda/events/catalogue.ts';
import {
  assumedText,
  identifier,
  identifierOfEitherType,
  text,
  textList,
} from '../../lambda/events/fields.ts';
import { CommandError } from '../terminal/command-error.ts';

/** A JSON Schema of draft 2020-12, or a part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A value as the partner sends it, or as the code has it after parsing. */
type Side = 'input' | 'output';

/** The JSON Schema of a kind of field. Its description contains everything that JSON Schema cannot express. */
type FieldSchema = Readonly<Record<Side, JsonSchema>>;

const nonEmptyString = { type: 'string', minLength: 1 };
const listOfStrings = { type: 'array', items: { type: 'string' } };

const WELL_FORMED = 'of well-formed Unicode: no lone surrogate';

const REPLACED = 'A lone surrogate in it is replaced by U+FFFD.';

/**
 * Fields of the contract's schemas, by identity. They transform, refine and catch, which the schema library cannot
 * convert to JSON Schema. Such a field must be in this table.
 */
const fieldSchemas: ReadonlyMap<z.ZodMiniType, FieldSchema> = new Map<z.ZodMiniType, FieldSchema>([
  [
    identifier,
    {
      input: { ...nonEmptyString, description: `A non-empty string ${WELL_FORMED}.` },
      output: nonEmptyString,
    },
  ],
  [
    identifierOfEitherType,
    {
      input: {
        oneOf: [
          { ...nonEmptyString, title: 'string', description: `Not empty, and ${WELL_FORMED}.` },
          {
            type: 'integer',
            minimum: Number.MIN_SAFE_INTEGER,
            maximum: Number.MAX_SAFE_INTEGER,
            title: 'integer',
            description:
              'Stored as its decimal digits. JSON integers of 2^53 and above are not exact, so send a string.',
          },
        ],
      },
      output: nonEmptyString,
    },
  ],
  [
    text,
    {
      input: { type: 'string', description: `Optional. ${REPLACED}` },
      output: { type: 'string' },
    },
  ],
  [
    textList,
    {
      input: { ...listOfStrings, description: `Optional. ${REPLACED}` },
      output: listOfStrings,
    },
  ],
  [
    assumedText,
    {
      input: {
        anyOf: [
          { type: 'string' },
          { type: 'number', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
        ],
        description: `Optional. An empty string, a number of 2^53 and above, \`null\` and other types are ignored. ${REPLACED}`,
      },
      output: nonEmptyString,
    },
  ],
]);

/** Descriptions of the fields of `data`. Other fields are described by their names. */
const TEXTS: Readonly<Record<string, string>> = {
  shop_id: 'The shop.',
  girl_id: 'The staff member.',
  user_id: 'The user.',
  review_id: 'The review.',
  name: 'The name of the shop or staff member.',
  updated_fields: 'Names of the fields that have changed.',
  display_name: 'The public name of the user.',
  profile_image_url: 'URL of a picture of the user.',
  rating: 'The rating that the reviewer gave.',
  comment: 'The text of the review.',
};

/** `door_id` → `The door id.` */
const fieldText = (field: string) => TEXTS[field] ?? `The ${field.replaceAll('_', ' ')}.`;

/** Kinds of schemas that the library converts to JSON Schema completely. */
const KINDS = new Set(['string', 'number', 'boolean', 'null', 'literal', 'enum', 'union', 'nullable']);

/**
 * Checks that the library converts completely. Lengths are not among them: the library counts UTF-16 units, JSON Schema
 * characters.
 */
const CHECKS = new Set(['string_format', 'number_format', 'greater_than', 'less_than', 'multiple_of']);

/**
 * The JSON Schema of one event's `data`.
 * @throws CommandError with event and field, if neither JSON Schema nor the table above can express a schema
 */
export const dataSchema = (event: EventName, side: Side): JsonSchema =>
  jsonSchema(catalogue[event].data, side, `${event}: data`);

/**
 * Like {@link dataSchema}, for any schema.
 * @param place for the error message
 */
export function jsonSchema(schema: z.core.$ZodType, side: Side, place: string): JsonSchema {
  const known = fieldSchemas.get(schema as z.ZodMiniType);
  if (known !== undefined) return known[side];
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  if (def.type === 'optional') return jsonSchema(def.innerType, side, place);
  if (def.type === 'array' && !def.checks?.length) {
    return { type: 'array', items: jsonSchema(def.element, side, `${place}[]`) };
  }
  if (def.type === 'object' && !def.checks?.length && def.catchall === undefined) {
    return objectSchema(def.shape, side, place);
  }
  return leafSchema(schema, side, place);
}

/** Additional fields are valid: the partner may add fields before the receiver reads them. */
function objectSchema(shape: z.core.$ZodShape, side: Side, place: string): JsonSchema {
  const fields = Object.entries(shape);
  const optionality = side === 'input' ? 'optin' : 'optout';
  const required = fields.filter(([, field]) => field._zod[optionality] !== 'optional').map(([name]) => name);
  const properties = fields.map(([name, field]) => [
    name,
    withText(fieldText(name), jsonSchema(field, side, `${place}.${name}`)),
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

/** Puts a text at the beginning of a schema's description. */
const withText = (text: string, { description, ...schema }: JsonSchema): JsonSchema => ({
  description: description === undefined ? text : `${text} ${description}`,
  ...schema,
});

function leafSchema(leaf: z.core.$ZodType, side: Side, place: string): JsonSchema {
  const refuse = (what: string) => {
    throw new CommandError(
      `${place} has ${what}, which cannot be converted to JSON Schema. Describe the field in tools/api/json-schema.ts`,
    );
  };
  const { $schema: _, ...schema } = z.toJSONSchema(leaf, {
    io: side,
    unrepresentable: 'any',
    override: ({ zodSchema }) => {
      const { type, checks = [] } = zodSchema._zod.def as z.core.$ZodTypeDef;
      if (!KINDS.has(type)) refuse(`a schema of the kind '${type}'`);
      for (const check of checks) {
        const checked = check._zod.def as z.core.$ZodChecks['_zod']['def'];
        const isNotEmpty = checked.check === 'min_length' && checked.minimum === 1;
        if (!isNotEmpty && !CHECKS.has(checked.check)) refuse(`a check '${checked.check}'`);
      }
    },
  });
  return schema;
}
