import { toJsonSchema } from '@valibot/to-json-schema';
import { recordSchema } from '../../lambda/archive/record-schema.ts';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import type { GeneratedFile } from '../generate/generated-file.ts';
import { DRAFT, eventId, payloadSchema, requestId, schemaId } from './event-schemas.ts';
import type { JsonSchema } from './json-schema.ts';
import { notificationDocument } from './notifications.ts';
import { openApiDocument } from './openapi.ts';

const jsonText = (document: object) => `${JSON.stringify(document, undefined, 2)}\n`;

/** `docs/api/openapi.json`: the partner's requests, and the answers. */
export const openApiText = () => jsonText(openApiDocument());

/** Every generated file of `docs/api/`. */
export function apiFiles(): GeneratedFile[] {
  const schemas: readonly (readonly [name: string, schema: JsonSchema])[] = [
    ...eventNames.map((event) => {
      const schema = { $schema: DRAFT, $id: schemaId(event), ...payloadSchema(event) };
      return [kebabCase(event), schema] as const;
    }),
    ['notification', notificationDocument()],
    ['archive-record', archiveRecordDocument()],
  ];
  return [
    { file: 'docs/api/openapi.json', text: openApiText() },
    ...schemas.map(([name, schema]) => ({ file: `docs/api/schemas/${name}.json`, text: jsonText(schema) })),
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
