import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readContext } from '../../../bin/synthesise.ts';
import { BUNDLE_LIST, type BundleList } from '../../../lib/release/function-bundles.ts';
import { AssemblyCache, SYNTHESIS_INPUTS } from '../../start/assembly-cache.ts';

/**
 * Code that records which files a process reads: modules, and files by each method of `fs`. esbuild itself reports the
 * files that it reads.
 */
const RECORDER = `
  import fs from 'node:fs';
  import { registerHooks, syncBuiltinESMExports } from 'node:module';
  import { resolve } from 'node:path';
  import { fileURLToPath } from 'node:url';
  const read = new Set();
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) read.add(fileURLToPath(url));
      return next(url, context);
    },
  });
  for (const files of [fs, fs.promises]) {
    for (const name of Object.keys(files).filter((name) => /^(readFile|createReadStream|open|copyFile|cp)(Sync)?$/.test(name))) {
      const original = files[name];
      files[name] = (path, ...rest) => {
        if (typeof path === 'string') read.add(resolve(path));
        return original(path, ...rest);
      };
    }
  }
  syncBuiltinESMExports();
  const write = fs.writeFileSync;
  process.on('exit', () => write(process.env.READ, JSON.stringify([...read])));
`;

let root: string;
let syntheses: number;
let whileSynthesising: () => void;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'assembly-cache-'));
  mkdirSync(join(root, 'lambda/receiver'), { recursive: true });
  save('export const answer = 1;');
  syntheses = 0;
  whileSynthesising = () => {};
});

afterEach(() => rmSync(root, { recursive: true }));

const save = (text: string, file = 'lambda/receiver/handler.ts') => writeFileSync(join(root, file), text);

const cache = () =>
  new AssemblyCache({ folder: join(root, 'cache'), inputs: [join(root, 'lambda')], synthesise });

/** Writes an assembly whose only file contains the source. */
async function synthesise(folder: string, overrides: object): Promise<void> {
  syntheses += 1;
  mkdirSync(join(folder, 'asset'), { recursive: true });
  const source = readFileSync(join(root, 'lambda/receiver/handler.ts'), 'utf8');
  whileSynthesising();
  writeFileSync(join(folder, 'asset/index.mjs'), `${source}${JSON.stringify(overrides)}`);
}

/** @returns the text of the assembly's only file */
async function start(name: string, overrides = {}): Promise<string> {
  await cache().write(join(root, name), overrides);
  return readFileSync(join(root, name, 'asset/index.mjs'), 'utf8');
}

test('does not synthesise again if nothing has changed', async () => {
  const first = await start('first');
  expect(await start('second')).toBe(first);
  expect(syntheses).toBe(1);
});

describe('synthesises again', () => {
  test.each<[string, () => unknown]>([
    ['when a source is saved', () => save('export const answer = 2;')],
    ['when a source is added that nothing imports yet', () => save('', 'lambda/receiver/answers.ts')],
    ['for another region of the environment', () => (process.env.CDK_DEFAULT_REGION = 'eu-central-1')],
  ])('%s', async (_, change) => {
    const { CDK_DEFAULT_REGION: before = '' } = process.env;
    process.env.CDK_DEFAULT_REGION = before;
    await start('first');
    change();
    await start('second');
    process.env.CDK_DEFAULT_REGION = before;
    expect(syntheses).toBe(2);
  });

  test('for another context, and stores only this assembly', async () => {
    await start('first');
    expect(await start('second', { gateway: 'rest' })).toContain('rest');
    await start('third', { gateway: 'rest' });
    expect(syntheses).toBe(2);
    expect(readdirSync(join(root, 'cache'))).toHaveLength(1);
  });

  test('if sources were saved during the synthesis', async () => {
    whileSynthesising = () => save('export const answer = 2;');
    await start('first');
    save('export const answer = 1;');
    await start('second');
    expect(syntheses).toBe(2);
  });
});

// Takes 6 s: a synthesis in a separate process, which records the files that it reads.
test('the digest covers every file of this project that a synthesis reads', async () => {
  const read = join(root, 'read.json');
  const app = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(RECORDER)}`, 'bin/app.ts'],
    {
      env: {
        ...process.env,
        READ: read,
        CDK_OUTDIR: join(root, 'cdk.out'),
        CDK_CONTEXT_JSON: JSON.stringify(readContext()),
        CDK_VALIDATION: 'false',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  expect(await once(app, 'close')).toEqual([0, null]);
  const bundles: BundleList = JSON.parse(readFileSync(join(root, 'cdk.out', BUNDLE_LIST), 'utf8'));
  const files = [
    ...(JSON.parse(readFileSync(read, 'utf8')) as string[]).map((path) => relative('.', path)),
    ...Object.values(bundles).flatMap(({ sources }) => sources),
  ];
  expect(files).toEqual(
    expect.arrayContaining(['lib/partner-webhooks-stack.ts', 'lambda/receiver/handler.ts']),
  );
  const ours = files.filter((path) => !/^(\.\.|node_modules|\.local)(\/|$)/.test(path));
  const covered = (path: string) =>
    SYNTHESIS_INPUTS.some((input) => path === input || path.startsWith(`${input}/`));
  expect(ours.filter((path) => !covered(path))).toEqual([]);
});
