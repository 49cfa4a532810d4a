import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { eventNames } from '../../../lambda/contract/catalogue.ts';
import { REPLAY_NAME, type Replay, replayModes } from '../../../lambda/queue/replay.ts';
import { type DescribedEvent, DRAFT, schemaId } from './event-schemas.ts';
import type { JsonSchema } from './field-schemas.ts';
import { eventId, eventIdOf, REQUEST_ID, requestId } from './ids.ts';

const outcomes = {
  Processed: 'it had its effect',
  Stale: 'a newer event is stored',
  Duplicate: 'this event was processed before',
  DeadLettered: 'it could not be processed, and waits for somebody',
} as const satisfies Record<ArchiveRecord['outcome'], string>;

const time = (description: string) => ({ type: 'string', format: 'date-time', description });

const replayFields: Readonly<Record<keyof Replay, JsonSchema>> = {
  name: { type: 'string', pattern: REPLAY_NAME.source },
  mode: { type: 'string', enum: replayModes },
  notify: { type: 'boolean', description: 'Whether people are told again.' },
};

const fields: Readonly<Record<keyof ArchiveRecord, JsonSchema>> = {
  eventId,
  event: { type: 'string', enum: eventNames, description: 'The kind of event.' },
  shopId: {
    type: 'string',
    description:
      'The shop, where the event names one; one of more than 2,048 bytes as `sha256:` and its hash.',
  },
  receivedAt: time('When the receiver got the delivery.'),
  requestId,
  timestamp: time('The partner’s, always with nanoseconds. Absent where the event could not be read.'),
  outcome: {
    type: 'string',
    enum: Object.keys(outcomes),
    description: `What the message came to: ${Object.entries(outcomes)
      .map(([outcome, meaning]) => `\`${outcome}\`: ${meaning}`)
      .join('; ')}.`,
  },
  failureReason: { type: 'string', description: 'What made it a dead letter.' },
  attempt: { type: 'integer', minimum: 1, description: '1 for the first receive.' },
  settledAt: time('When it came to that.'),
  replay: {
    type: 'object',
    properties: replayFields,
    required: Object.keys(replayFields),
    description: 'Of a message that a replay sent: it has neither `body` nor `payloadKey`.',
  },
  body: { type: 'string', description: 'The partner’s JSON text.' },
  payloadKey: {
    type: 'string',
    description: 'Of a payload that is too large for a message: its key in the payload bucket.',
  },
  forgottenAt: time('When a person’s data was taken out: neither `body` nor `payloadKey` is left.'),
};

const required = ['eventId', 'event', 'receivedAt', 'outcome', 'attempt', 'settledAt'] as const;

/** `docs/api/schemas/archive-record.json`: a line of an object of the archive. */
export const archiveRecordDocument = (events: readonly DescribedEvent[]): JsonSchema => ({
  $schema: DRAFT,
  $id: schemaId('archive-record'),
  title: 'archive record',
  description:
    'What became of one message: a line of JSON in the archive. A message that came twice has two. More fields may come.',
  type: 'object',
  properties: fields,
  required,
  examples: archiveRecordExamples(events),
});

const archiveRecordExamples = (events: readonly DescribedEvent[]): ArchiveRecord[] =>
  events.slice(0, 1).flatMap(({ event, samples }) =>
    samples.map(({ payload }) => ({
      eventId: eventIdOf(payload),
      event,
      receivedAt: '2026-01-31T09:30:00.123Z',
      requestId: REQUEST_ID,
      outcome: 'Processed',
      attempt: 1,
      settledAt: '2026-01-31T09:30:00.456Z',
      body: JSON.stringify(payload),
    })),
  );
