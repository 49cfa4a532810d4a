import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
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

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const nonEmptyString = { type: 'string', minLength: 1 };

const safeIntegers = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

const WELL_FORMED = 'of well-formed Unicode: no lone surrogate';

const REPLACED = 'A lone surrogate in it is replaced by U+FFFD.';

/**
 * JSON Schemas for the field schemas of `lambda/events/fields.ts`, as the partner sends the fields. No library can
 * convert these, because they transform values and have fallbacks. The descriptions say what JSON Schema cannot express.
 */
const fieldSchemas: ReadonlyMap<v.GenericSchema, JsonSchema> = new Map<v.GenericSchema, JsonSchema>([
  [identifier, { ...nonEmptyString, description: `A non-empty string ${WELL_FORMED}.` }],
  [
    identifierOfEitherType,
    {
      oneOf: [
        { ...nonEmptyString, title: 'string', description: `Not empty, and ${WELL_FORMED}.` },
        {
          type: 'integer',
          ...safeIntegers,
          title: 'integer',
          description:
            'Stored as its decimal digits. JSON integers of 2^53 and above are not exact, so send a string.',
        },
      ],
    },
  ],
  [text, { type: 'string', description: `Optional. ${REPLACED}` }],
  [textList, { type: 'array', items: { type: 'string' }, description: `Optional. ${REPLACED}` }],
  [
    assumedText,
    {
      anyOf: [{ type: 'string' }, { type: 'number', ...safeIntegers }],
      description: `Optional. An empty string, a number of 2^53 and above, \`null\` and other types are ignored. ${REPLACED}`,
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
export const fieldText = (field: string) => TEXTS[field] ?? `The ${field.replaceAll('_', ' ')}.`;

/**
 * The JSON Schema of one event's `data`.
 * @throws CommandError with event and field, if neither JSON Schema nor the table above can express a field
 */
export const dataSchema = (event: EventName) => objectSchema(catalogue[event].data.entries, `${event}: data`);

/**
 * The JSON Schema of an object with these fields. Additional fields are valid: the partner may add fields before the
 * receiver reads them.
 * @param path for the error message
 */
export function objectSchema(entries: v.ObjectEntries, path: string) {
  const fields = Object.entries(entries);
  const required = fields.filter(([, { type }]) => type !== 'optional').map(([name]) => name);
  const properties = fields.map(([name, field]): [string, JsonSchema] => {
    const { description, ...schema } = fieldSchemas.get(field) ?? converted(field, `${path}.${name}`);
    return [name, { description: [fieldText(name), description].filter(Boolean).join(' '), ...schema }];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

function converted(field: v.GenericSchema, path: string): JsonSchema {
  try {
    const { $schema: _, ...schema } = toJsonSchema(field, { typeMode: 'input', target: 'draft-2020-12' });
    return schema;
  } catch (error) {
    const { message } = error as Error;
    throw new CommandError(`${path}: ${message} Describe the field in tools/api/json-schema.ts`);
  }
}
