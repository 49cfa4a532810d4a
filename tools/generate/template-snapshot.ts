import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCloudAssembly } from '../../local/template/cloud-assembly.ts';

/**
 * Changes with the functions’ code: the keys of assets, and the logical ids of versions. What is before
 * the hash of an id may end in digits, which could be of the hash: it is known by its end.
 */
const CODE_HASH = /[0-9a-f]{64}|(?<=CurrentVersion[0-9A-F]{8})[0-9a-f]{32}(?![0-9a-f])/g;

/** The template of an assembly, without what only the functions' code or the CDK's own book-keeping changes. */
export function templateSnapshot(assembly: string): string {
  const file = join(assembly, `${readCloudAssembly(assembly).name}.template.json`);
  const template = JSON.parse(readFileSync(file, 'utf8').replaceAll(CODE_HASH, 'HASH'));
  for (const resource of Object.values<{ Metadata?: unknown }>(template.Resources)) delete resource.Metadata;
  return `${JSON.stringify(template, null, 2)}\n`;
}
