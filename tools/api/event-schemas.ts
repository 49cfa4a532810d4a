import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { readSamples } from '../../events/samples.ts';
import { catalogue, type EventName, eventNames } from '../../lambda/events/catalogue.ts';
import {
  assumedText,
  identifier,
  identifierOfEitherType,
  text,
  textList,
} from '../../lambda/events/fields.ts';
import { UTC_DATE_TIME } from '../../lambda/events/timestamp.ts';
import { sha256Hex } from '../../lambda/hash.ts';
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
    throw new CommandError(`${path}: ${message} Describe the field in tools/api/event-schemas.ts`);
  }
}

/** Sample payloads of an event, which are its examples. */
export const examplesOf = (event: EventName) =>
  readSamples().flatMap((sample) => (sample.event === event ? [sample.payload] : []));

export const eventId = {
  type: 'string',
  pattern: '^[0-9a-f]{64}$',
  description: 'SHA-256 of the body’s bytes in hex. A repeat of the same bytes has the same id.',
};

/** The event id (SHA-256) of a payload that is sent as JSON without white space. */
export const eventIdOf = (payload: object) => sha256Hex(Buffer.from(JSON.stringify(payload)));

export const requestId = {
  type: 'string',
  description: 'Id of the request. Give it to us if you ask about the event.',
};

export const REQUEST_ID = 'JZ3dXgkWIAMEPlw=';

/** Event id in examples: the id of `{}`. */
export const EVENT_ID = eventIdOf({});

const timestamp = {
  type: 'string',
  // Without `format: date-time`: generated clients would parse the value, and send it with fewer digits or in another
  // time zone. `[0-9]` because in some regular expression engines `\d` matches the digits of every script.
  pattern: UTC_DATE_TIME.source.replaceAll('\\d', '[0-9]'),
  description:
    'Time of the event: an ISO 8601 date and time in UTC, such as `2026-01-31T09:00:00Z`. The basic form `20260131T090000Z` and a space instead of `T` are accepted, and `+00:00` instead of `Z`. Send all the digits of a second that you have; we use nine. The time must exist: 30 February, 24:00 and leap seconds (`:60`) are rejected. Any age is accepted. For the same shop, staff member or user, the later `timestamp` wins.',
};

const webhookId = {
  description: 'For your own use. We store it with the event and ignore it otherwise.',
};

/** Schema of an event whose kind the receiver parks (decision D5). */
export const otherPayloadSchema: JsonSchema = {
  title: 'another kind of event',
  description: 'An event of a kind that we do not support yet. We store it, and it has no effect.',
  type: 'object',
  properties: {
    event: {
      type: 'string',
      minLength: 1,
      not: { enum: eventNames },
      description: 'The kind of event.',
    },
    data: { type: 'object', description: 'Facts about the event.' },
    timestamp,
    webhookId,
  },
  required: ['event', 'data', 'timestamp'],
};

export function payloadSchema(event: EventName): JsonSchema {
  const { meaning, processing } = catalogue[event];
  const processed = processing.charAt(0).toLowerCase() + processing.slice(1);
  return {
    title: event,
    description: `${meaning}. We ${processed}. You may send more fields.`,
    type: 'object',
    properties: {
      event: { type: 'string', const: event, description: 'The kind of event.' },
      data: { ...dataSchema(event), description: 'Facts about the event.' },
      timestamp,
      webhookId,
    },
    required: ['event', 'data', 'timestamp'],
    examples: examplesOf(event),
  };
}
