import type * as z from 'zod/mini';
import {
  assumedText,
  identifier,
  identifierOfEitherType,
  text,
  textList,
} from '../../../lambda/events/fields.ts';

/** A JSON Schema of draft 2020-12, or a part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Which form of a value is meant: as the partner sends it, or as we hand it on. */
export type Side = 'input' | 'output';

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
export const fieldSchemas: ReadonlyMap<z.ZodMiniType, FieldSchema> = new Map<z.ZodMiniType, FieldSchema>([
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
