import { readdirSync } from 'node:fs';
import { toJsonSchema } from '@valibot/to-json-schema';
import type { ArchiveRecord } from '../../lambda/archive/record.ts';
import { recordSchema } from '../../lambda/archive/record-schema.ts';
import type { DerivedFile } from '../generate/derived-file.ts';
import {
  type DescribedEvent,
  DRAFT,
  describedEvents,
  eventId,
  eventIdOf,
  payloadSchema,
  REQUEST_ID,
  requestId,
  schemaId,
} from './event-schemas.ts';
import type { JsonSchema } from './json-schema.ts';
import { notificationDocument } from './notifications.ts';
import { openApiDocument } from './openapi.ts';

export const API_FOLDER = 'docs/api';

const SCHEMAS_FOLDER = `${API_FOLDER}/schemas`;

const jsonText = (document: object) => `${JSON.stringify(document, undefined, 2)}\n`;

/** `docs/api/openapi.json`: the partner's requests, and the answers. */
export const openApiText = () => jsonText(openApiDocument());

/**
 * Every generated file of `docs/api/`. The schema of a removed event is included without text, so that its file is
 * deleted.
 */
export function apiFiles(): DerivedFile[] {
  const events = describedEvents();
  const schemas = new Map([
    ...events.map((event) => {
      const schema = { $schema: DRAFT, $id: schemaId(event.event), ...payloadSchema(event) };
      return [`${event.name}.json`, jsonText(schema)] as const;
    }),
    ['notification.json', jsonText(notificationDocument(events))],
    ['archive-record.json', jsonText(archiveRecordDocument(events))],
  ]);
  const files = new Set([...schemas.keys(), ...readdirSync(SCHEMAS_FOLDER)]);
  return [
    { file: `${API_FOLDER}/openapi.json`, text: openApiText() },
    ...[...files].map((file) => ({ file: `${SCHEMAS_FOLDER}/${file}`, text: schemas.get(file) })),
  ];
}

const { properties, required } = toJsonSchema(recordSchema, { ignoreActions: ['check'] });

/** `docs/api/schemas/archive-record.json`: a line of an archive object. */
const archiveRecordDocument = (events: readonly DescribedEvent[]): JsonSchema => ({
  $schema: DRAFT,
  $id: schemaId('archive-record'),
  title: 'archive record',
  description:
    'The outcome of one message: a line of JSON in the archive. A message that was received twice has two lines. More fields may be added.',
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
