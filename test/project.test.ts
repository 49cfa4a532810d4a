import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';

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
  [/^tools\/stage\//, /^(bin|lib|lambda|events|tools\/(stage|terminal))\/|^local-aws$/],
  // Commands are tested by typing them.
  [/^tools\/test\//, /^(?!local-aws\/|tools\/commands\/(?!generate\.ts|page-commands\.ts))/],
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

test.each([
  ['lambda/one.ts', "export const load = () => import('local-aws/functions');"],
  ['lib/two.ts', "export { three } from '../tools/stage/three.ts';"],
  ['local-aws/five.ts', "import '../lambda/three.ts';"],
  ['test/six.test.ts', "export { six } from '../local-aws/six.ts';"],
  ['tools/stage/four.ts', "import { four } from '../commands/four.ts';"],
])('%s may not have: %s', (file, text) => {
  expect(wrongImports(file, text)).toHaveLength(1);
});

describe('the lint', () => {
  /** What Biome reports about these files: path and rule. */
  async function findings(files: Readonly<Record<string, string>>): Promise<string[]> {
    const folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-lint-'));
    try {
      await copyFile('biome.json', join(folder, 'biome.json'));
      await mkdir(join(folder, 'tools'), { recursive: true });
      await symlink(resolve('.biome'), join(folder, '.biome'));
      await symlink(resolve('node_modules'), join(folder, 'node_modules'));
      for (const [file, text] of Object.entries(files)) {
        await mkdir(dirname(join(folder, file)), { recursive: true });
        await writeFile(join(folder, file), text);
      }
      const report = await new Promise<string>((done) => {
        const biome = resolve('node_modules/@biomejs/biome/bin/biome');
        execFile(process.execPath, [biome, 'lint', '--reporter=json', '.'], { cwd: folder }, (_, out) =>
          done(out),
        );
      });
      return JSON.parse(report)
        .diagnostics.map(
          ({ category, location }: { category: string; location: { path: string } }) =>
            `${location.path} ${category}`,
        )
        .sort();
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  test('rejects cycles, and promises that a scope with `using` does not await', async () => {
    const scope = (rest: string) =>
      `export async function run() {\n  await using file = open();\n  ${rest}\n}\n`;
    /** Each file's text, and the rule that it breaks. */
    const files: Record<string, [text: string, rule?: string]> = {
      'accepted/await.ts': [scope('return await write(file);')],
      'accepted/function.ts': [scope('await all(() => {\n    return write(file);\n  });')],
      'accepted/value.ts': [scope('return { size: size(file) };')],
      'lambda/a.ts': [
        "import type { B } from './b.ts';\nexport interface A {\n  b: B;\n}\n",
        'lint/suspicious/noImportCycles',
      ],
      'lambda/b.ts': [
        "import type { A } from './a.ts';\nexport interface B {\n  a: A;\n}\n",
        'lint/suspicious/noImportCycles',
      ],
      'rejected/call.ts': [scope('return write(file);'), 'plugin'],
      'rejected/choice.ts': [scope('return file.empty ? undefined : write(file);'), 'plugin'],
      'rejected/nested.ts': [scope('if (file.empty) {\n    return write(file);\n  }'), 'plugin'],
    };
    const expected = Object.entries(files).flatMap(([path, [, rule]]) => (rule ? [`${path} ${rule}`] : []));
    const texts = Object.entries(files).map(([path, [text]]) => [path, text]);
    expect(await findings(Object.fromEntries(texts))).toEqual(expected);
  });
});
