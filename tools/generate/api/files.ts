import { existsSync, readdirSync } from 'node:fs';
import type { DerivedFile } from '../derived-file.ts';
import { DRAFT, describedEvents, payloadSchema, schemaId } from './event-schemas.ts';
import { openApiDocument } from './openapi.ts';

/** Where the descriptions of our interfaces are. */
export const API_FOLDER = 'docs/api';

const SCHEMAS_FOLDER = `${API_FOLDER}/schemas`;

const jsonText = (document: object) => `${JSON.stringify(document, undefined, 2)}\n`;

/** `docs/api/openapi.json`: what the partner sends, and what is answered. */
export const openApiText = () => jsonText(openApiDocument());

/** Every description, and what is left of an event that is gone, which must go, too. */
export function apiFiles(): DerivedFile[] {
  const schemas = new Map(
    describedEvents().map((event) => [
      `${event.name}.json`,
      jsonText({ $schema: DRAFT, $id: schemaId(event.event), ...payloadSchema(event) }),
    ]),
  );
  const there = existsSync(SCHEMAS_FOLDER) ? readdirSync(SCHEMAS_FOLDER) : [];
  const files = new Set([...schemas.keys(), ...there]);
  return [
    { file: `${API_FOLDER}/openapi.json`, text: openApiText() },
    ...[...files].map((file) => ({ file: `${SCHEMAS_FOLDER}/${file}`, text: schemas.get(file) })),
  ];
}
