import * as z from 'zod/mini';
import { catalogue, type EventName } from '../../../lambda/events/catalogue.ts';
import { CommandError } from '../../cli/terminal/command-error.ts';
import { fieldSchemas, type JsonSchema, type Side } from './field-schemas.ts';
import { fieldText } from './field-texts.ts';

/** Kinds of schemas that the library puts into JSON Schema with nothing left out. */
const KINDS = new Set(['string', 'number', 'boolean', 'null', 'literal', 'enum', 'union', 'nullable']);

/** The same, of checks. Lengths are not among them: the library counts UTF-16 units, JSON Schema characters. */
const CHECKS = new Set(['string_format', 'number_format', 'greater_than', 'less_than', 'multiple_of']);

/**
 * The JSON Schema of one event's `data`.
 * @throws CommandError naming event and field where a schema says what JSON Schema, and this file, have no word for
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
      `${place} has ${what}, which JSON Schema has no word for: describe the field in tools/partner/api/field-schemas.ts`,
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
