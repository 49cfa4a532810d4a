import { readFileSync } from 'node:fs';
import { apiFiles } from '../api/files.ts';
import { alarmsTable } from './alarms-table.ts';
import type { Assemblies } from './assemblies.ts';
import { configurationDocument } from './configuration-document.ts';
import type { DerivedFile } from './derived-file.ts';
import { eventIndex } from './event-index.ts';
import { eventsTable, partnerEventsTable } from './events-table.ts';
import { limitsTable } from './limits-table.ts';
import { permissionsDocument } from './permissions-document.ts';
import { statefulResources } from './stateful-resources.ts';

const COMMANDS_DOCUMENT = 'docs/commands.md';

/** Functions that make the files which depend on the stack, by path. */
const OF_STACK: Readonly<Record<string, (assemblies: Assemblies) => string>> = {
  'test/lib/snapshots/stateful.txt': (all) => statefulResources([all.prod, all['every-setting']]),
  'docs/permissions.md': (all) => permissionsDocument(all.prod, all['every-setting'], all.encrypted),
  'docs/configuration.md': configurationDocument,
  'docs/alarms.md': () =>
    filled('docs/alarms.md', { alarms: alarmsTable(readFileSync('docs/operations.md', 'utf8')) }),
  'docs/partner.md': () => filled('docs/partner.md', { 'partner-events': partnerEventsTable() }),
  'docs/how-it-works.md': () =>
    filled('docs/how-it-works.md', { events: eventsTable(), limits: limitsTable() }),
};

/**
 * Every generated file, from the current code and samples.
 * @param commands text of `docs/commands.md`; the caller gives the text, because commands import this module
 */
export function derivedFiles(assemblies: Assemblies, commands: string): DerivedFile[] {
  const ofStack = Object.entries(OF_STACK).map(([file, make]) => ({ file, text: make(assemblies) }));
  const ofCommands = { file: COMMANDS_DOCUMENT, text: commands };
  return [eventIndex(), ...apiFiles(), ofCommands, ...ofStack];
}

const filled = (file: string, texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).reduce(
    (document, [name, text]) => fillSection(document, name, text),
    readFileSync(file, 'utf8'),
  );

/**
 * Replaces the text between `<!-- name -->` and `<!-- /name -->` in a document.
 * @throws Error if the document has no such marks
 */
export function fillSection(document: string, name: string, text: string): string {
  const section = new RegExp(`<!-- ${name} -->\\n[^]*?<!-- /${name} -->`);
  if (!section.test(document)) throw new Error(`The document has no <!-- ${name} --> … <!-- /${name} -->`);
  return document.replace(section, () => `<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->`);
}
