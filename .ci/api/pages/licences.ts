import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** The packages' notices, as their licences want them kept, each text once. @param folders of the packages */
export function licencesOf(folders: Iterable<string>): string {
  const holders = new Map<string, string[]>();
  for (const folder of [...new Set(folders)].sort()) {
    const { name, version, license = 'see the text' } = manifestOf(folder);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
    const of = `${name} ${version} (${license})`;
    holders.set(text, [...(holders.get(text) ?? []), of]);
  }
  return [...holders]
    .map(([text, packages]) => `${packages.join('\n')}\n\n${text}`.trim())
    .join('\n\n----\n\n');
}

/** A package and all that it depends on. */
export function withDependencies(folder: string, found = new Set<string>()): Set<string> {
  if (found.has(folder)) return found;
  found.add(folder);
  for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
    withDependencies(packageSeenFrom(folder, name), found);
  }
  return found;
}

/** As Node.js finds it: the nearest `node_modules` upwards that has it. */
function packageSeenFrom(folder: string, name: string): string {
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    const place = join(at, 'node_modules', name);
    if (existsSync(place)) return place;
  }
  throw new Error(`${folder} depends on ${name}, which is not installed`);
}
