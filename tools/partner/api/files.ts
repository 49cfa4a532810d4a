import { readdirSync } from 'node:fs';
import type { DerivedFile } from '../../generate/derived-file.ts';
import { archiveRecordDocument } from './archive-record.ts';
import { asyncApiDocument } from './asyncapi.ts';
import { DRAFT, describedEvents, payloadSchema, schemaId } from './event-schemas.ts';
import { notificationDocument } from './notification-schemas.ts';
import { openApiDocument } from './openapi.ts';
import { describedPage } from './page.ts';

/** Where the descriptions of our interfaces are. */
export const API_FOLDER = 'docs/api';

const SCHEMAS_FOLDER = `${API_FOLDER}/schemas`;

const jsonText = (document: object) => `${JSON.stringify(document, undefined, 2)}\n`;

/** `docs/api/openapi.json`: what the partner sends, and what is answered. */
export const openApiText = () => jsonText(openApiDocument());

/** `docs/api/asyncapi.json`: what subscribers of the topics get. */
export const asyncApiText = () => jsonText(asyncApiDocument());

/** Every description, and what is left of an event that is gone, which must go, too. */
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
    { file: `${API_FOLDER}/asyncapi.json`, text: asyncApiText() },
    describedPage(`${API_FOLDER}/webhook.html`, openApiText()),
    ...[...files].map((file) => ({ file: `${SCHEMAS_FOLDER}/${file}`, text: schemas.get(file) })),
  ];
}
