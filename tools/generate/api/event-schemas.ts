import { readSamples, type Sample } from '../../../events/samples.ts';
import { catalogue, type EventName, eventNames } from '../../../lambda/contract/catalogue.ts';
import { kebabCase, pascalCase } from '../../../lambda/contract/event-names.ts';
import { UTC_DATE_TIME } from '../../../lambda/contract/timestamp.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { JsonSchema } from './field-schemas.ts';
import { dataSchema } from './json-schema.ts';

export const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** What names a schema of ours: never fetched. */
export const schemaId = (name: string) => `urn:partner-webhooks:schema:${name}`;

/** An event by the names it has in the documents. */
export interface DescribedEvent {
  readonly event: EventName;
  /** Of files, operations and messages: `shop-updated`. */
  readonly name: string;
  /** Of schemas: `ShopUpdated`. */
  readonly schemaName: string;
  readonly meaning: string;
  /** What we do about it, as part of a sentence: `invalidate the shop cache`. */
  readonly processing: string;
  readonly samples: readonly Sample[];
}

/** Every event of the catalogue, with its samples. @throws CommandError where one has no sample */
export function describedEvents(): DescribedEvent[] {
  const samples = readSamples();
  return eventNames.map((event) => {
    const { meaning, processing } = catalogue[event];
    const own = samples.filter((sample) => sample.event === event);
    if (own.length === 0)
      throw new CommandError(`events/ has no sample of ${event}, which would be its example`);
    return {
      event,
      name: kebabCase(event),
      schemaName: pascalCase(event),
      meaning,
      processing: processing.charAt(0).toLowerCase() + processing.slice(1),
      samples: own,
    };
  });
}

const timestamp = {
  type: 'string',
  format: 'date-time',
  // Elsewhere `\d` has the digits of every script.
  pattern: UTC_DATE_TIME.source.replaceAll('\\d', '[0-9]'),
  description:
    'When it happened: a date and time of RFC 3339 in UTC, with `Z` or `+00:00`, and as many digits of a second as there are; nine are used. It must be a moment that exists: 30 February, 24:00 and a leap second (`:60`) are refused. Of two events about the same thing the later `timestamp` wins.',
};

const webhookId = {
  description: 'Yours to use: whatever it is, it is kept with the event, and nothing is decided by it.',
};

/** The whole of a payload, as the partner sends it. */
export function payloadSchema({ event, meaning, processing, samples }: DescribedEvent): JsonSchema {
  return {
    title: event,
    description: `${meaning}. What follows from it: ${processing}. Fields that are not named here may be sent, too.`,
    type: 'object',
    properties: {
      event: { type: 'string', const: event, description: 'What kind of event it is.' },
      data: { ...dataSchema(event, 'input'), description: 'What the event is about.' },
      timestamp,
      webhookId,
    },
    required: ['event', 'data', 'timestamp'],
    examples: samples.map(({ payload }) => payload),
  };
}

/** A payload of a kind that is not in the catalogue: it is taken and kept, and somebody is told (decision D5). */
export const otherPayloadSchema = (events: readonly DescribedEvent[]): JsonSchema => ({
  title: 'any other event',
  description:
    'An event of a kind that is not described here. It is parked: kept, without any effect, until somebody has looked at it.',
  type: 'object',
  properties: {
    event: {
      type: 'string',
      minLength: 1,
      not: { enum: events.map(({ event }) => event) },
      description: 'What kind of event it is.',
    },
    data: { type: 'object', description: 'What the event is about, in any form.' },
    timestamp,
    webhookId,
  },
  required: ['event', 'data', 'timestamp'],
  examples: [otherPayload],
});

/** A payload that is parked. */
export const otherPayload = {
  event: 'example.unknown',
  data: { example_id: 'example-1' },
  timestamp: '2026-01-31T09:30:00Z',
};
