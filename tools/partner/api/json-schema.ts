import * as z from 'zod/mini';
import { catalogue, type EventName } from '../../../lambda/events/catalogue.ts';
import {
  assumedText,
  identifier,
  identifierOfEitherType,
  text,
  textList,
} from '../../../lambda/events/fields.ts';
import { CommandError } from '../../cli/terminal/command-error.ts';

/** A JSON Schema of draft 2020-12, or a part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Which form of a value is meant: as the partner sends it, or as we hand it on. */
type Side = 'input' | 'output';

/** What JSON Schema says of a kind of field, and in words what it has no word for. */
type FieldSchema = Readonly<Record<Side, JsonSchema>>;

const nonEmptyString = { type: 'string', minLength: 1 };
const listOfStrings = { type: 'array', items: { type: 'string' } };

const WELL_FORMED = 'of well-formed Unicode: no lone surrogate';

const REPLACED = 'A lone surrogate in it is replaced by U+FFFD.';

/**
 * The fields that the contract's schemas are made of. They transform, refine and catch, which the schema library cannot
 * put into JSON Schema by itself; here they are by identity, so that one which is not is noticed.
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
              'Kept as its decimal digits. Of 2^53 and above a JSON number is not exact: send a string.',
          },
        ],
      },
      output: nonEmptyString,
    },
  ],
  [
    text,
    {
      input: { type: 'string', description: `Used where present. ${REPLACED}` },
      output: { type: 'string' },
    },
  ],
  [
    textList,
    {
      input: { ...listOfStrings, description: `Used where present. ${REPLACED}` },
      output: listOfStrings,
    },
  ],
  [
    assumedText,
    {
      input: {
        anyOf: [{ type: 'string' }, { type: 'number' }],
        description: `An empty string counts as absent; so do \`null\` and every other type. ${REPLACED}`,
      },
      output: nonEmptyString,
    },
  ],
]);

/** What a field of `data` holds, for whoever has never seen one; a field that is not here is said by its name. */
const TEXTS: Readonly<Record<string, string>> = {
  shop_id: 'The shop.',
  girl_id: 'The staff member.',
  user_id: 'The user.',
  review_id: 'The review.',
  name: 'The name of the shop or staff member.',
  updated_fields: 'Names of the fields that have changed.',
  display_name: 'The name of the user, as it is shown to others.',
  profile_image_url: 'Where the picture of the user is.',
  rating: 'What the reviewer gives.',
  comment: 'What the reviewer says.',
};

/** `door_id` → `The door id.` */
const fieldText = (field: string) => TEXTS[field] ?? `The ${field.replaceAll('_', ' ')}.`;

/** Kinds of schemas that the library puts into JSON Schema with nothing left out. */
const KINDS = new Set(['string', 'number', 'boolean', 'null', 'literal', 'enum', 'union', 'nullable']);

/** The same, of checks. Lengths are not among them: the library counts UTF-16 units, JSON Schema characters. */
const CHECKS = new Set(['string_format', 'number_format', 'greater_than', 'less_than', 'multiple_of']);

/**
 * The JSON Schema of one event's `data`.
 * @throws CommandError naming event and field where a schema says what JSON Schema and the table above have no word for
 */
export const dataSchema = (event: EventName, side: Side): JsonSchema =>
  jsonSchema(catalogue[event].data, side, `${event}: data`);

/**
 * As {@link dataSchema}, of any schema.
 * @param place of the schema, for the error
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

/** What is not named may be there, too: the partner may add fields before we read them. */
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

/** A schema whose description begins with a text. */
const withText = (text: string, { description, ...schema }: JsonSchema): JsonSchema => ({
  description: description === undefined ? text : `${text} ${description}`,
  ...schema,
});

function leafSchema(leaf: z.core.$ZodType, side: Side, place: string): JsonSchema {
  const refuse = (what: string) => {
    throw new CommandError(
      `${place} has ${what}, which JSON Schema has no word for: describe the field in tools/partner/api/json-schema.ts`,
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
