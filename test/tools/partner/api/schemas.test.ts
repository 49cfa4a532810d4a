import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { readSamples } from '../../../../events/samples.ts';
import { catalogue, type EventName, eventNames } from '../../../../lambda/events/catalogue.ts';
import { parsePayloadText } from '../../../../lambda/events/envelope.ts';
import { identifier } from '../../../../lambda/events/fields.ts';
import { normaliseTimestamp, UTC_DATE_TIME } from '../../../../lambda/events/timestamp.ts';
import { describedEvents, payloadSchema } from '../../../../tools/partner/api/event-schemas.ts';
import { dataSchema, jsonSchema } from '../../../../tools/partner/api/json-schema.ts';
import { fillDocument } from '../../../../tools/partner/api/page.ts';

/** Formats are annotations in draft 2020-12 unless a reader decides otherwise: the pattern has to be enough. */
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false });

const events = describedEvents();
const validators = new Map(events.map((event) => [event.event, ajv.compile(payloadSchema(event))]));

type Payload = Readonly<Record<string, unknown>>;

/** What the schemas do not express and their descriptions say: all that may be valid and is no event. */
const beyondTheSchema: Readonly<Record<string, (payload: Payload, event: EventName) => boolean>> = {
  'a moment that does not exist': ({ timestamp }) =>
    typeof timestamp === 'string' &&
    UTC_DATE_TIME.test(timestamp) &&
    normaliseTimestamp(timestamp) === undefined,
  'an identifier with a lone surrogate': ({ data }, event) =>
    ((dataSchema(event, 'input').required ?? []) as string[]).some((field) => {
      const value = (data as Payload | undefined)?.[field];
      return typeof value === 'string' && !value.isWellFormed();
    }),
};

/** A payload without the values that count as absent by their fields' descriptions. */
function withoutIgnored(payload: Payload, event: EventName): Payload {
  const { data } = payload;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return payload;
  const fields = dataSchema(event, 'input').properties as Readonly<Record<string, Payload>>;
  const isUsed = ([name, value]: [string, unknown]) =>
    fields[name]?.anyOf === undefined || ['string', 'number'].includes(typeof value);
  return { ...payload, data: Object.fromEntries(Object.entries(data).filter(isUsed)) };
}

const awkwardValue = fc.oneof(
  fc.constantFrom<unknown>(
    ...['', ' ', '\ud800', 'a\udc00b', '😀', '0', '2^53', '\u0000'],
    ...[0, 0.5, 1e21, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), -1],
    ...[null, true, false, {}, [], ['a'], ['a', 1], ['\ud800'], [[]], { length: 1 }],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

const awkwardTime = fc.oneof(
  fc.constantFrom(
    ...['2026-02-30T00:00:00Z', '2026-01-31T24:00:00Z', '2016-12-31T23:59:60Z', '2026-01-31T09:00:00'],
    ...['2026-01-31T09:00:00.1234567890Z', '2026-01-31T09:00:00+00:00', '2026-01-31T09:00:00-00:00'],
    ...['2026-01-31t09:00:00z', '2026-01-31 09:00:00Z', '2026-01-31T09:00:00.Z', '2026-01-31T09:00Z'],
    ...['٢٠٢٦-01-31T09:00:00Z', '2026-01-31T09:00:00Z\n', '0000-01-01T00:00:00Z', '2026-13-01T00:00:00Z'],
  ),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
);

const fieldsOf = (event: EventName) => Object.keys((dataSchema(event, 'input').properties ?? {}) as object);

/** What is changed about a payload: fields of its `data`, or of itself, which get another value or none. */
const changes = (event: EventName) =>
  fc.array(
    fc.oneof(
      fc.record({
        field: fc.constantFrom(...fieldsOf(event), 'more'),
        inData: fc.constant(true),
        value: fc.option(awkwardValue, { nil: undefined }),
      }),
      fc.record({
        field: fc.constantFrom('event', 'data', 'timestamp', 'webhookId', 'more'),
        inData: fc.constant(false),
        value: fc.option(fc.oneof(awkwardValue, fc.constantFrom(...eventNames)), { nil: undefined }),
      }),
      fc.record({ field: fc.constant('timestamp'), inData: fc.constant(false), value: awkwardTime }),
    ),
    { minLength: 1, maxLength: 3 },
  );

test.each(eventNames)('the schema of %s is valid exactly where a payload is such an event', (event) => {
  const samples = readSamples().filter((sample) => sample.event === event);
  const seen = { valid: 0, invalid: 0 };
  fc.assert(
    fc.property(fc.constantFrom(...samples), changes(event), ({ payload }, changed) => {
      const data: Record<string, unknown> = { ...(payload.data as object) };
      const whole: Record<string, unknown> = { ...payload, data };
      for (const { field, inData, value } of changed) (inData ? data : whole)[field] = value;
      const text = JSON.stringify(whole);
      const parsed = parsePayloadText(text);
      const isEvent = parsed.kind === 'event' && parsed.event.event === event;
      const sent = JSON.parse(text) as Payload;
      const isValid = validators.get(event)?.(withoutIgnored(sent, event)) === true;
      const isBeyond = Object.values(beyondTheSchema).some((applies) => applies(sent, event));
      expect({ isEvent, text }).toEqual({ isEvent: isValid && !isBeyond, text });
      seen[isEvent ? 'valid' : 'invalid'] += 1;
    }),
    { numRuns: 400 },
  );
  // So that neither side is compared with nothing.
  expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(20);
});

test('every sample is valid, and what is handed on of it is what the other side of the schema says', () => {
  for (const { event, payload } of readSamples()) {
    const name = event as EventName;
    expect(validators.get(name)?.(payload)).toBe(true);
    const output = JSON.parse(JSON.stringify(catalogue[name].data.parse(payload.data)));
    expect(ajv.validate(dataSchema(name, 'output'), output)).toBe(true);
  }
});

const schemaOf = (field: z.ZodMiniType) =>
  jsonSchema(z.object({ door_id: field }), 'input', 'door.opened: data');

describe('generation ends with the event and the field where the schema of a field is', () => {
  test.each([
    { what: "a schema of the kind 'transform'", field: z.union([z.string(), z.transform(Number)]) },
    { what: "a schema of the kind 'custom'", field: z.custom<string>(() => true) },
    { what: "a schema of the kind 'catch'", field: z.catch(z.string(), '') },
    { what: "a schema of the kind 'any'", field: z.any() },
    { what: "a schema of the kind 'date'", field: z.date() },
    { what: "a schema of the kind 'pipe'", field: z.pipe(z.string(), z.string()) },
    { what: "a check 'custom'", field: z.string().check(z.refine(() => true)) },
    { what: "a check 'max_length'", field: z.string().check(z.maxLength(5)) },
    { what: "a check 'overwrite'", field: z.string().check(z.trim()) },
    { what: "a schema of the kind 'object'", field: z.strictObject({}) },
    { what: "a schema of the kind 'custom'", field: z.union([z.string(), z.custom<number>(() => true)]) },
    { what: "a schema of the kind 'array'", field: z.array(z.string()).check(z.minLength(2)) },
  ])('$what', ({ what, field }) => {
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

const page = (text: string) =>
  `<main></main>\n<script type="application/json" id="document">${text}</script>\n<script>draw()</script>\n`;

const inside = (filled: string) => /id="document">([^<]*)<\/script>/.exec(filled)?.[1] ?? '';

test('a page gets another description, and stays as it is otherwise', () => {
  const filled = fillDocument(page('{"old":1}'), '{\n  "new": 2\n}\n');
  expect(filled).toBe(page('{"new":2}'));
});

test('no description ends the script that it is in, or stands for something in a replacement', () => {
  const description = { title: "</script><script>alert('$1 $& $`')</script><!-- <script>" };
  const filled = fillDocument(page(''), JSON.stringify(description));
  expect(filled.match(/<\/?script/g)).toEqual(page('').match(/<\/?script/g));
  expect(JSON.parse(inside(filled))).toEqual(description);
});

test('a page without a place for a description is refused', () => {
  expect(() => fillDocument('<main></main>', '{}')).toThrow(
    'The page has no <script type="application/json" id="document">',
  );
});
