import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** The packages' notices, as their licences want them kept, each text once. @param folders of the packages */
export function licencesOf(folders: Iterable<string>): string {
  const holders = new Map<string, string[]>();
  for (const folder of [...new Set(folders)].sort()) {
    const { license = 'see the text' } = manifestOf(folder);
    const text = noticesOf(folder).join('\n\n');
    holders.set(text, [...(holders.get(text) ?? []), `${nameOf(folder)} (${license})`]);
  }
  return [...holders]
    .map(([text, packages]) => `${packages.join('\n')}\n\n${text}`.trim())
    .join('\n\n----\n\n');
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** A package's name with its version. */
export function nameOf(folder: string): string {
  const { name, version } = manifestOf(folder);
  return `${name} ${version}`;
}

/** What packages of this licence, some of which bring no copy of it, are given with: it names nobody. */
const APACHE = readFileSync(new URL('../node_modules/@asyncapi/specs/LICENSE', import.meta.url), 'utf8');

/**
 * The licence of a package, and what Apache-2.0 (4.d) wants passed on with it. Of a choice this is the first one:
 * others have names such as `LICENSE-MPL`.
 * @throws Error where it brings none
 */
export function noticesOf(folder: string): string[] {
  const files = readdirSync(folder);
  const textsOf = (kind: RegExp) =>
    files.filter((file) => kind.test(file)).map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const licences = textsOf(/^licen[cs]e(\.\w+)?$/i);
  if (licences.length === 0) {
    if (manifestOf(folder).license !== 'Apache-2.0') throw new Error(`${nameOf(folder)} brings no licence`);
    licences.push(APACHE.trim());
  }
  return [...licences, ...textsOf(/^notice(\.\w+)?$/i)];
}
