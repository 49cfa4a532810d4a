import { readdirSync } from 'node:fs';
import { toJsonSchema } from '@valibot/to-json-schema';
import { recordSchema } from '../../lambda/archive/record-schema.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import type { GeneratedFile } from '../generate/generated-file.ts';
import { DRAFT, describedEvents, eventId, payloadSchema, requestId, schemaId } from './event-schemas.ts';
import type { JsonSchema } from './json-schema.ts';
import { notificationDocument } from './notifications.ts';
import { openApiDocument } from './openapi.ts';

const API_FOLDER = 'docs/api';

const SCHEMAS_FOLDER = `${API_FOLDER}/schemas`;

const jsonText = (document: object) => `${JSON.stringify(document, undefined, 2)}\n`;

/** `docs/api/openapi.json`: the partner's requests, and the answers. */
export const openApiText = () => jsonText(openApiDocument());

/**
 * Every generated file of `docs/api/`. The schema of a removed event is included without text, so that its file is
 * deleted.
 */
export function apiFiles(): GeneratedFile[] {
  const events = describedEvents();
  const schemas = new Map([
    ...events.map((event) => {
      const schema = { $schema: DRAFT, $id: schemaId(event.event), ...payloadSchema(event) };
      return [`${kebabCase(event.event)}.json`, jsonText(schema)] as const;
    }),
    ['notification.json', jsonText(notificationDocument(events))],
    ['archive-record.json', jsonText(archiveRecordDocument())],
  ]);
  const files = new Set([...schemas.keys(), ...readdirSync(SCHEMAS_FOLDER)]);
  return [
    { file: `${API_FOLDER}/openapi.json`, text: openApiText() },
    ...[...files].map((file) => ({ file: `${SCHEMAS_FOLDER}/${file}`, text: schemas.get(file) })),
  ];
}

/** `docs/api/schemas/archive-record.json`: a line of an archive object. */
function archiveRecordDocument(): JsonSchema {
  const { properties, required } = toJsonSchema(recordSchema, { ignoreActions: ['check'] });
  return {
    $schema: DRAFT,
    $id: schemaId('archive-record'),
    title: 'archive record',
    description:
      'The outcome of one message: a line of JSON in the archive. A message that was received twice has two lines. More fields may be added.',
    type: 'object',
    properties: { ...properties, eventId, requestId },
    required,
  };
}
