import * as z from 'zod/mini';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { recordSchema } from '../../../lambda/archive/record-schema.ts';
import { type DescribedEvent, DRAFT, schemaId } from './event-schemas.ts';
import type { JsonSchema } from './field-schemas.ts';
import { eventId, eventIdOf, REQUEST_ID, requestId } from './ids.ts';

const { properties, required } = z.toJSONSchema(recordSchema, { io: 'input' });

/** `docs/api/schemas/archive-record.json`: a line of an object of the archive. */
export const archiveRecordDocument = (events: readonly DescribedEvent[]): JsonSchema => ({
  $schema: DRAFT,
  $id: schemaId('archive-record'),
  title: 'archive record',
  description:
    'What became of one message: a line of JSON in the archive. A message that came twice has two. More fields may come.',
  type: 'object',
  properties: { ...properties, eventId, requestId },
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
