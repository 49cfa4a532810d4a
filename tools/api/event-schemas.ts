import { readSamples } from '../../events/samples.ts';
import { catalogue, type EventName, eventNames } from '../../lambda/events/catalogue.ts';
import { UTC_DATE_TIME } from '../../lambda/events/timestamp.ts';
import { sha256Hex } from '../../lambda/hash.ts';
import { dataSchema, type JsonSchema } from './json-schema.ts';

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
