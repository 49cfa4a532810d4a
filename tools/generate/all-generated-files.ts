import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSynthesis } from '../../bin/synthesise.ts';
import { apiFiles } from '../api/files.ts';
import { configurationDocument } from './configuration-document.ts';
import { eventIndex } from './event-index.ts';
import type { GeneratedFile } from './generated-file.ts';
import { partnerEventsTable } from './markdown-tables.ts';
import { permissionsDocument } from './permissions-document.ts';
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
    await runSynthesis('tools/generate/synthesise-stages.ts', { ASSEMBLIES: JSON.stringify(folders) });
  const ofStack = Object.entries(OF_STACK).map(([file, make]) => ({ file, text: make(folders) }));
  return [eventIndex(), ...apiFiles(), ...ofStack];
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
