import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  /** Comes inside the archive of another package, whose integrity covers it. */
  readonly inBundle?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const { dependencies, devDependencies, allowScripts } = read('package.json');
const locked = Object.entries(read('package-lock.json').packages as Record<string, Locked>).filter(
  ([path]) => path !== '',
);
const pathsOf = (fits: (item: Locked) => boolean) =>
  locked.filter(([, item]) => fits(item)).map(([path]) => path);

test('every dependency is of one exact version', () => {
  const versions = Object.entries({ ...dependencies, ...devDependencies });
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([]);
});

test('every package of the lock file has a SHA-512 that npm checks, and none is a link', () => {
  expect(pathsOf(({ integrity, inBundle }) => !inBundle && !integrity?.startsWith('sha512-'))).toEqual([]);
  expect(pathsOf(({ link }) => link === true)).toEqual([]);
});

test('of all install scripts that of `node` alone may run, and each of the others is refused by name', () => {
  const scripted = pathsOf((item) => item.hasInstallScript === true).map((path) =>
    path.replace(/^.*node_modules\//, ''),
  );
  expect(Object.keys(allowScripts)).toEqual(expect.arrayContaining(scripted));
  expect(Object.keys(allowScripts).filter((name) => allowScripts[name] !== false)).toEqual(['node']);
});

test('what is deployed has a licence that asks for no more than its notice', () => {
  const free = new Set(['MIT', 'MIT-0', 'Apache-2.0', '0BSD']);
  expect(pathsOf(({ dev, license }) => !dev && !free.has(license ?? ''))).toEqual([]);
});

test('no package has a copyleft licence, or none', () => {
  // A choice such as `(MIT OR GPL-3.0-or-later)` leaves MIT.
  // axe-core looks at the console in a browser: nothing of it is changed, or given to anybody.
  const ofTestsAlone = ['node_modules/axe-core'];
  const restricted = ({ license = 'none' }: Locked) =>
    /GPL|MPL|EPL|SSPL|BUSL|UNLICENSED|^none$/.test(license) && !/MIT OR/.test(license);
  expect(pathsOf(restricted)).toEqual(ofTestsAlone);
});

describe('what checks the descriptions of our interfaces, which is installed for .ci/check-api alone', () => {
  const manifest = JSON.parse(readFileSync('.ci/api/package.json', 'utf8'));
  const lock = readFileSync('.ci/api/package-lock.json', 'utf8');
  const items = Object.entries(JSON.parse(lock).packages as Record<string, Locked>).filter(
    ([path]) => path !== '',
  );
  const of = (fits: (item: Locked) => boolean) =>
    items.filter(([, item]) => fits(item)).map(([path]) => path);

  test('is of exact versions, which npm checks, and of no registry', () => {
    const versions: string[] = Object.values(manifest.devDependencies);
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    expect(manifest.dependencies).toBeUndefined();
    expect(of(({ integrity, inBundle }) => !inBundle && !integrity?.startsWith('sha512-'))).toEqual([]);
    expect(lock).not.toContain('"resolved"');
  });

  test('has no copyleft licence, or none', () => {
    // Their manifests name no licence in a way that npm reads; the files beside them are the MIT licence.
    const inFilesAlone = ['node_modules/decko', 'node_modules/stickyfill'];
    // Of a choice such as `(MPL-2.0 OR Apache-2.0)` the other one is taken.
    const restricted = ({ license = 'none' }: Locked) =>
      /GPL|MPL|EPL|SSPL|BUSL|UNLICENSED|^none$/.test(license) && !/(MIT OR|OR Apache-2\.0)/.test(license);
    expect(of(restricted)).toEqual(inFilesAlone);
  });
});
