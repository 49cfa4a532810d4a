import { describeProblems } from '../../../lambda/contract/envelope.ts';
import type { Messages } from './channel.ts';
import { type DescribedEvent, otherPayload } from './event-schemas.ts';
import type { JsonSchema } from './field-schemas.ts';
import { eventIdOf } from './ids.ts';
import {
  attributesSchema,
  exampleAttributes,
  receivedAttributes,
  sentAttributes,
} from './message-attributes.ts';
import { exampleProblems, fieldProblems } from './problems.ts';
import { schemaRef } from './schema-reference.ts';

const common = {
  contentType: 'application/json',
  correlationId: { location: '$message.header#/eventId', description: 'The delivery that it comes from.' },
};

const JSON_TEXT =
  'The body is the partner’s JSON text as it was sent, but for U+FFFE and U+FFFF, which are escaped.';

const STORED = 'too large for a message: what the partner sent is in the payload bucket, byte for byte';

export const storedPayloadSchema: JsonSchema = {
  title: 'stored payload',
  description: 'Says where a payload is that is too large for a message.',
  type: 'object',
  properties: { payloadKey: { type: 'string', description: 'Its key in the payload bucket.' } },
  required: ['payloadKey'],
};

/** A payload that is not usable, as it is kept (decision D4). */
export const quarantinedSchema: JsonSchema = {
  title: 'quarantined payload',
  description: 'What was signed and is not a usable event, byte for byte, and why.',
  type: 'object',
  properties: {
    problems: fieldProblems,
    bodyBase64: {
      type: 'string',
      contentEncoding: 'base64',
      description: 'The bytes that were sent. Absent where they are too large for a message.',
    },
    payloadKey: {
      type: 'string',
      description: 'Where the bytes are in the payload bucket, if they are too large for a message.',
    },
  },
  required: ['problems'],
  oneOf: [{ required: ['bodyBase64'] }, { required: ['payloadKey'] }],
};

/** The messages of an event's queue, and of its dead-letter queue. */
export function eventMessages({ event, name, schemaName, meaning, samples }: DescribedEvent) {
  const stored = (payload: object) => ({ payloadKey: `${event}/${eventIdOf(payload)}` });
  const queued: Messages = {
    [schemaName]: {
      name,
      title: event,
      summary: meaning,
      description: JSON_TEXT,
      ...common,
      headers: attributesSchema(event, sentAttributes, ['requestId', 'replay']),
      payload: schemaRef(schemaName),
      examples: samples.map(({ name: sample, payload }) => ({
        name: sample,
        summary: meaning,
        headers: exampleAttributes({ event, eventId: eventIdOf(payload) }),
        payload,
      })),
    },
    [`${schemaName}Stored`]: {
      name: `${name}-stored`,
      title: `${event}, stored`,
      summary: `${meaning}: ${STORED}`,
      ...common,
      headers: attributesSchema(event, [...sentAttributes, 'payloadKey'], ['requestId', 'replay']),
      payload: schemaRef('StoredPayload'),
      examples: samples.slice(0, 1).map(({ name: sample, payload }) => ({
        name: `${sample}-stored`,
        summary: STORED,
        headers: exampleAttributes({ event, eventId: eventIdOf(payload), ...stored(payload) }),
        payload: stored(payload),
      })),
    },
  };
  const dead: Messages = {
    [`${schemaName}DeadLetter`]: {
      name: `${name}-dead-letter`,
      title: `${event}, dead letter`,
      summary: 'A message that could not be processed, as it was, and why',
      description:
        'A message that SQS itself has moved, after a consumer that died, has neither `failureReason` nor `failedAt`; one that somebody sent by hand may lack any other.',
      ...common,
      headers: attributesSchema(
        event,
        [],
        [...receivedAttributes, 'payloadKey', 'replay', 'failureReason', 'failedAt'],
      ),
      payload: { anyOf: [schemaRef(schemaName), schemaRef('StoredPayload')] },
      examples: samples.map(({ name: sample, payload }) => ({
        name: sample,
        summary: 'a dead letter',
        headers: exampleAttributes({ event, eventId: eventIdOf(payload) }, ['failureReason', 'failedAt']),
        payload,
      })),
    },
  };
  return { queued, dead };
}

/** The message of an event of an unknown kind. */
export const parkedMessages: Messages = {
  OtherEvent: {
    name: 'other-event',
    title: 'Event of an unknown kind',
    summary: 'A usable event of a kind that is not in the catalogue',
    description: JSON_TEXT,
    ...common,
    headers: attributesSchema(undefined, receivedAttributes, ['payloadKey']),
    payload: { anyOf: [schemaRef('OtherEvent'), schemaRef('StoredPayload')] },
    examples: [
      {
        name: 'other-event',
        summary: 'an event of an unknown kind',
        headers: exampleAttributes({ event: otherPayload.event, eventId: eventIdOf(otherPayload) }),
        payload: otherPayload,
      },
    ],
  },
};

const unusable = { event: 'shop.updated', data: {}, timestamp: '2026-01-31T09:35:00Z' };

/** The message of a payload that is not usable. */
export const quarantineMessages: Messages = {
  Unusable: {
    name: 'unusable',
    title: 'Unusable payload',
    summary: 'What was signed and is not a usable event, with the reason',
    ...common,
    headers: attributesSchema('unusable', [...receivedAttributes, 'reason'], ['payloadKey']),
    payload: schemaRef('Quarantined'),
    examples: [
      {
        name: 'unusable',
        summary: describeProblems(exampleProblems),
        headers: exampleAttributes({ event: 'unusable', eventId: eventIdOf(unusable) }, ['reason']),
        payload: {
          problems: exampleProblems,
          bodyBase64: Buffer.from(JSON.stringify(unusable)).toString('base64'),
        },
      },
    ],
  },
};
