import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BUNDLE_LIST, type BundleList } from '../../../lib/release/function-bundles.ts';
import { testAssembly } from '../../../test/support/test-assembly.ts';
import { SYNTHESIS_INPUTS, writeAssembly } from '../../start/assembly-cache.ts';
import { appModules } from '../../start/saved-code.ts';

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
  const cached = { cache: join(root, 'cache'), inputs: [join(root, 'lambda')], synthesise };
  await writeAssembly(join(root, name), overrides, cached);
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

test('the digest covers every module of the app and of the functions', async () => {
  const bundles: BundleList = JSON.parse(readFileSync(join(testAssembly(), BUNDLE_LIST), 'utf8'));
  const files = [...(await appModules()), ...Object.values(bundles).flatMap(({ sources }) => sources)];
  expect(files).toEqual(
    expect.arrayContaining(['lib/partner-webhooks-stack.ts', 'lambda/receiver/handler.ts']),
  );
  const isCovered = (path: string) =>
    /^(\.\.|node_modules)\//.test(path) ||
    SYNTHESIS_INPUTS.some((input) => path === input || path.startsWith(`${input}/`));
  expect(files.filter((path) => !isCovered(path))).toEqual([]);
});
