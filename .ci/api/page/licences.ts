import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly version: string;
  readonly license?: string;
}

/** What Redoc's build leaves in its script. These packages bring half of webpack, and so are not installed. */
const LOADERS: Readonly<Record<string, string>> = {
  'css-loader': 'MIT, Copyright JS Foundation and other contributors',
  'style-loader': 'MIT, Copyright JS Foundation and other contributors',
  '@redocly/workerize-loader': 'MIT, Copyright Jason Miller',
};

const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)/g;

/** Redoc, and every package that is in its script: the source maps beside it name them. */
export function packagesOf(modules: string): readonly string[] {
  const maps = globSync('{redoc.standalone,*.worker}.js.map', { cwd: join(modules, 'redoc/bundles') });
  const sources = maps.flatMap((map): string[] => {
    return JSON.parse(readFileSync(join(modules, 'redoc/bundles', map), 'utf8')).sources;
  });
  const names = sources.flatMap((source) => [...source.matchAll(PACKAGE)].at(-1)?.[1] ?? []);
  return [...new Set(['redoc', ...names])].sort();
}

/**
 * The packages' notices, as their licences want them kept, each text once. Some bring none.
 * @throws Error if a package is not installed
 */
export function licencesOf(packages: readonly string[], modules: string): string {
  const holders = new Map<string, string[]>();
  for (const name of packages) {
    const loader = LOADERS[name];
    const { title, text } =
      loader === undefined ? noticeOf(name, modules) : { title: `${name} (${loader})`, text: '' };
    holders.set(text, [...(holders.get(text) ?? []), title]);
  }
  return [...holders].map(([text, titles]) => `${titles.join('\n')}\n\n${text}`.trim()).join('\n\n----\n\n');
}

/** A package's licence, of a choice the first one (others are `LICENSE-MPL`), and its notice (Apache-2.0, 4.d). */
function noticeOf(name: string, modules: string): { readonly title: string; readonly text: string } {
  const folder = [join(modules, 'redoc/node_modules', name), join(modules, name)].find(existsSync);
  if (folder === undefined) throw new Error(`${name} is in Redoc’s script: install it for its licence`);
  const { version, license = 'see the text' }: Manifest = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice)(\.\w+)?$/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return { title: `${name} ${version} (${license})`, text: texts.join('\n\n') };
}
