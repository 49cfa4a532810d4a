import { describe, expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { identifier } from '../../../../lambda/events/fields.ts';
import { jsonSchema } from '../../../../tools/partner/api/json-schema.ts';

const schemaOf = (field: z.ZodMiniType) =>
  jsonSchema(z.object({ door_id: field }), 'input', 'door.opened: data');

describe('generation ends with the event and the field where the schema of a field is', () => {
  test.each<[string, z.ZodMiniType]>([
    ["a schema of the kind 'transform'", z.union([z.string(), z.transform(Number)])],
    ["a schema of the kind 'custom'", z.custom<string>(() => true)],
    ["a schema of the kind 'catch'", z.catch(z.string(), '')],
    ["a schema of the kind 'any'", z.any()],
    ["a schema of the kind 'date'", z.date()],
    ["a schema of the kind 'pipe'", z.pipe(z.string(), z.string())],
    ["a check 'custom'", z.string().check(z.refine(() => true))],
    ["a check 'max_length'", z.string().check(z.maxLength(5))],
    ["a check 'overwrite'", z.string().check(z.trim())],
    ["a schema of the kind 'object'", z.strictObject({})],
    ["a schema of the kind 'custom'", z.union([z.string(), z.custom<number>(() => true)])],
    ["a schema of the kind 'array'", z.array(z.string()).check(z.minLength(2))],
  ])('%s', (what, field) => {
    expect(() => schemaOf(field)).toThrow(`door.opened: data.door_id has ${what}, which JSON Schema has no`);
    expect(() => schemaOf(z.optional(field))).toThrow(`door.opened: data.door_id has ${what}`);
  });

  test('within a list or an object', () => {
    expect(() => schemaOf(z.array(z.any()))).toThrow('door.opened: data.door_id[] has');
    expect(() => schemaOf(z.object({ lock: z.any() }))).toThrow('door.opened: data.door_id.lock has');
  });
});

test('what JSON Schema has words for needs no table', () => {
  const schema = jsonSchema(
    z.object({
      open: z.boolean(),
      hinges: z.optional(z.int().check(z.minimum(1))),
      side: z.enum(['left', 'right']),
      locks: z.array(z.object({ lock_id: identifier })),
    }),
    'input',
    '',
  );
  expect(schema).toMatchObject({
    type: 'object',
    required: ['open', 'side', 'locks'],
    properties: {
      open: { type: 'boolean', description: 'The open.' },
      hinges: { type: 'integer', minimum: 1 },
      side: { enum: ['left', 'right'] },
      locks: {
        type: 'array',
        items: { type: 'object', required: ['lock_id'], properties: { lock_id: { minLength: 1 } } },
      },
    },
  });
});
