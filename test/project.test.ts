import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  /** Part of the archive of another package, whose integrity hash covers it. */
  readonly inBundle?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const { dependencies, devDependencies, allowScripts, workspaces } = read('package.json');
const localAws = read('local-aws/package.json');
const tools = read('tools/package.json');
/** Our own packages are not from a registry. */
const OWN = ['', ...workspaces, `node_modules/${localAws.name}`, `node_modules/${tools.name}`];
const locked = Object.entries(read('package-lock.json').packages as Record<string, Locked>).filter(
  ([path]) => !OWN.includes(path),
);
const pathsOf = (fits: (item: Locked) => boolean) =>
  locked.filter(([, item]) => fits(item)).map(([path]) => path);

test('every dependency has one exact version', () => {
  const versions = Object.entries({
    ...dependencies,
    ...devDependencies,
    ...localAws.dependencies,
    ...tools.devDependencies,
  });
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([]);
});

test('every package of the lock file has a SHA-512 that npm checks, and none is a link', () => {
  expect(pathsOf(({ integrity, inBundle }) => !inBundle && !integrity?.startsWith('sha512-'))).toEqual([]);
  expect(pathsOf(({ link }) => link === true)).toEqual([]);
});

test('what only tools need is declared by them, and nothing of it is deployed', () => {
  expect(tools.dependencies).toBeUndefined();
  const names = Object.keys({ ...dependencies, ...devDependencies, ...localAws.dependencies });
  expect(Object.keys(tools.devDependencies).filter((name) => names.includes(name))).toEqual([]);
});

test('only the install script of `node` may run, and each of the others is refused by name', () => {
  const scripted = pathsOf((item) => item.hasInstallScript === true).map((path) =>
    path.replace(/^.*node_modules\//, ''),
  );
  expect(Object.keys(allowScripts)).toEqual(expect.arrayContaining(scripted));
  expect(Object.keys(allowScripts).filter((name) => allowScripts[name] !== false)).toEqual(['node']);
});

test('deployed code, and local-aws, have a licence that asks only for its notice', () => {
  const free = new Set(['MIT', 'MIT-0', 'Apache-2.0', '0BSD', 'ISC', 'BSD-3-Clause']);
  expect(pathsOf(({ dev, license }) => !dev && !free.has(license ?? ''))).toEqual([]);
});

test('no package has a copyleft licence, or none', () => {
  // For a choice such as `(MIT OR GPL-3.0-or-later)`, MIT applies. axe-core only tests the console in a browser: it is
  // not changed or distributed.
  const ofTestsAlone = ['node_modules/axe-core'];
  const restricted = ({ license = 'none' }: Locked) =>
    /GPL|MPL|EPL|SSPL|BUSL|UNLICENSED|^none$/.test(license) && !/MIT OR/.test(license);
  expect(pathsOf(restricted)).toEqual(ofTestsAlone);
});

/** What a folder of `tools/stage` may import: besides all else, only these of its folders. */
const inStage = (folders: string) =>
  new RegExp(`^(bin|lib|lambda|events|tools/terminal)/|^local-aws$|^tools/stage/([^/]+$|(${folders})/)`);

/** What may import what. The first row whose pattern matches the importing file applies. `local-aws` is the package. */
const IMPORTS: readonly (readonly [file: RegExp, imported: RegExp])[] = [
  [/^lambda\/[^/]+$/, /^lambda\/[^/]+$/],
  [/^lambda\/events\/[^/]+\/(consumer|notification)\.ts$/, /^lambda\//],
  [/^lambda\/events\//, /^lambda\/([^/]+$|events\/)/],
  [/^lambda\/queue\//, /^lambda\/([^/]+$|queue\/)/],
  [/^lambda\/archive\//, /^lambda\/([^/]+$|(archive|events|queue)\/)/],
  [/^lambda\/effects\//, /^lambda\/([^/]+$|(effects|events|queue)\/)/],
  [/^lambda\//, /^lambda\//],
  [/^(bin|lib)\//, /^(bin|lib|lambda)\//],
  [/^events\//, /^(events|lambda)\//],
  [/^examples\//, /^examples\//],
  [/^test\//, /^(bin|events|examples|lambda|lib|test)\/|^local-aws$/],
  [/^local-aws\//, /^local-aws($|\/)/],
  [/^tools\/terminal\//, /^(bin|lib|lambda|events|tools\/terminal)\//],
  [/^tools\/stage\/queues\//, inStage('queues')],
  [/^tools\/stage\/archive\//, inStage('queues|archive')],
  [/^tools\/stage\/history\//, inStage('queues|archive|history')],
  [/^tools\/stage\/replay\//, inStage('queues|archive|replay')],
  [/^tools\/stage\/doctor\//, inStage('queues|history|doctor')],
  [/^tools\/stage\//, /^(bin|lib|lambda|events|tools\/(stage|terminal))\/|^local-aws$/],
  // Commands are tested by typing them.
  [/^tools\/test\//, /^(?!local-aws\/|tools\/commands\/(?!page-commands\.ts))/],
  [/^tools\/(commands\/|[^/]+$)/, /^(?!local-aws\/)/],
  [/^tools\//, /^(?!local-aws\/|test\/|tools\/(commands\/|test\/|program\.ts))/],
];

const ROOT_FILES = ['check-node.js', 'jest.config.js'];

/** The imports of a file that {@link IMPORTS} does not allow. */
function wrongImports(file: string, text: string): string[] {
  const imports = /^(?:import|export|\})[^'\n]*'([^']+)'|\bimport\('([^']+)'/gm;
  const names = [...text.matchAll(imports)].map(([, whole, part]) => whole ?? part ?? '');
  const [, allowed] = IMPORTS.find(([pattern]) => pattern.test(file)) ?? [];
  return names
    .filter((name) => /^(\.|local-aws(\/|$))/.test(name))
    .map((name) => (name.startsWith('.') ? join(dirname(file), name) : 'local-aws'))
    .filter((imported) => !ROOT_FILES.includes(imported) && !allowed?.test(imported))
    .map((imported) => `${file} imports ${imported}`);
}

test('imports go one way, and local-aws is imported by its name', () => {
  const files = globSync('{bin,events,examples,lambda,lib,local-aws,test,tools}/**/*.{js,mjs,ts,tsx}', {
    exclude: (name) => name === 'node_modules',
  });
  expect(files.length).toBeGreaterThan(100);
  expect(files.flatMap((file) => wrongImports(file, readFileSync(file, 'utf8')))).toEqual([]);
});
