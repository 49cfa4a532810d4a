import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toJsonSchema } from '@valibot/to-json-schema';
import { runSynthesis } from '../../bin/synthesise.ts';
import { recordSchema } from '../../lambda/archive/record-schema.ts';
import { catalogue, eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { dataSchema, eventId, type JsonSchema, payloadSchema, requestId } from '../api/event-schemas.ts';
import { notificationSchema } from '../api/notifications.ts';
import { openApiDocument } from '../api/openapi.ts';
import { configurationDocument } from './configuration-document.ts';
import { eventIndex, type GeneratedFile } from './event-index.ts';
import { markdownTable, permissionsDocument } from './permissions-document.ts';
import { statefulResources } from './stateful-resources.ts';

/** Stages that generated files are made from. */
export const generatedFrom = ['prod', 'every-setting', 'encrypted'] as const;

/** Folders of cloud assemblies, by stage. */
export type Assemblies = Readonly<Record<(typeof generatedFrom)[number], string>>;

/** Functions that make the files which depend on the stack, by path. */
const OF_STACK: Readonly<Record<string, (assemblies: Assemblies) => string>> = {
  'test/lib/snapshots/stateful-resources.txt': (all) => statefulResources([all.prod, all['every-setting']]),
  'docs/permissions.md': (all) => permissionsDocument(all.prod, all['every-setting'], all.encrypted),
  'docs/configuration.md': configurationDocument,
  'docs/partner.md': () =>
    fillSection(readFileSync('docs/partner.md', 'utf8'), 'partner-events', partnerEventsTable()),
};

/**
 * Every generated file, from the current code and samples.
 * @param assemblies of each stage. @default those of the current code, synthesised in one process
 */
export async function allGeneratedFiles(assemblies?: Assemblies): Promise<GeneratedFile[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'partner-webhooks-generate-'));
  const folders = assemblies ?? foldersIn(folder.path);
  if (assemblies === undefined)
    await runSynthesis('tools/generate/synthesise-stages.ts', {
      ASSEMBLIES: folder.path,
      STAGES: generatedFrom.join(' '),
    });
  const ofStack = Object.entries(OF_STACK).map(([file, make]) => ({ file, text: make(folders) }));
  return [eventIndex(), ...apiFiles(), ...ofStack];
}

function apiFiles(): GeneratedFile[] {
  const documents: Readonly<Record<string, JsonSchema>> = {
    openapi: openApiDocument(),
    ...Object.fromEntries(
      eventNames.map((event) => [`schemas/${kebabCase(event)}`, schemaDocument(event, payloadSchema(event))]),
    ),
    'schemas/notification': schemaDocument('notification', notificationSchema),
    'schemas/archive-record': schemaDocument('archive-record', archiveRecordSchema()),
  };
  return Object.entries(documents).map(([name, document]) => ({
    file: `docs/api/${name}.json`,
    text: `${JSON.stringify(document, undefined, 2)}\n`,
  }));
}

/** @param name part of its `$id`, an identifier that is never fetched */
const schemaDocument = (name: string, schema: JsonSchema): JsonSchema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: `urn:partner-webhooks:schema:${name}`,
  ...schema,
});

/** A line of an archive object. */
function archiveRecordSchema(): JsonSchema {
  const { properties, required } = toJsonSchema(recordSchema, { ignoreActions: ['check'] });
  return {
    title: 'archive record',
    description:
      'The outcome of one message: a line of JSON in the archive. A message that was received twice has two lines. More fields may be added.',
    type: 'object',
    properties: { ...properties, eventId, requestId },
    required,
  };
}

const foldersIn = (folder: string) =>
  Object.fromEntries(generatedFrom.map((stage) => [stage, join(folder, stage)])) as Assemblies;

/**
 * Replaces the text between `<!-- name -->` and `<!-- /name -->` in a document.
 * @throws Error if the document has no such marks
 */
export function fillSection(document: string, name: string, text: string): string {
  const section = new RegExp(`<!-- ${name} -->\\n[^]*?<!-- /${name} -->`);
  if (!section.test(document)) throw new Error(`The document has no <!-- ${name} --> … <!-- /${name} -->`);
  return document.replace(section, () => `<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->`);
}

/**
 * A table for `docs/partner.md`: every event with each field of `data` that is read. Fields of one type are listed
 * together.
 */
function partnerEventsTable(): string {
  const rows = eventNames.map((event) => {
    const { properties, required = [] } = dataSchema(event);
    const byType = Map.groupBy(Object.entries(properties), ([, schema]) => typeText(schema));
    const fields = [...byType].map(([type, named]) => {
      const names = named.map(([name]) => `\`${name}${required.includes(name) ? '' : '?'}\``);
      return `${names.join(', ')}: ${type}`;
    });
    return [`\`${event}\``, catalogue[event].meaning, fields.join('; ')];
  });
  return markdownTable(['`event`', 'When', '`data`'], rows);
}

function typeText(schema: JsonSchema): string {
  const { type: ofItems } = (schema.items ?? {}) as JsonSchema;
  if (ofItems !== undefined) return `array of ${ofItems}`;
  const alternatives = (schema.oneOf ?? schema.anyOf ?? [schema]) as readonly JsonSchema[];
  return alternatives.map(({ type }) => type).join(' or ');
}
