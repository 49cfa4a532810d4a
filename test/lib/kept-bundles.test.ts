import { appendFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KeptBundles } from '../../lib/kept-bundles.ts';

const before = process.cwd();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kept-bundles-'));
  await cp('lambda', join(folder, 'lambda'), { recursive: true });
  await symlink(resolve('lib'), join(folder, 'lib'));
  for (const file of ['package-lock.json', 'tsconfig.json']) await cp(file, join(folder, file));
  await mkdir(join(folder, 'from'));
  await writeFile(join(folder, 'from/bundle.mjs'), 'bundled');
  process.chdir(folder);
});
afterAll(async () => {
  process.chdir(before);
  await rm(folder, { recursive: true });
});

const find = () => KeptBundles.find({ PARTNER_WEBHOOKS_KEPT_BUNDLES: join(folder, 'kept') });

test('what is kept is there for the same code, and for no other', async () => {
  expect(await find()?.copyTo('to')).toBe(false);
  await Promise.all([find()?.keep(['bundle.mjs'], 'from'), find()?.keep(['bundle.mjs'], 'from')]);
  expect(await find()?.copyTo('to')).toBe(true);
  expect(await readFile('to/bundle.mjs', 'utf8')).toBe('bundled');
  await appendFile('lambda/consumers/consume.ts', '\n');
  expect(await find()?.copyTo('to')).toBe(false);
});

test('what is kept is not there for other packages', async () => {
  await find()?.keep(['bundle.mjs'], 'from');
  expect(await find()?.copyTo('to')).toBe(true);
  await appendFile('package-lock.json', '\n');
  expect(await find()?.copyTo('to')).toBe(false);
});

test('nothing is kept that was bundled while somebody saved', async () => {
  const source = 'lambda/consumers/retry.ts';
  const text = await readFile(source, 'utf8');
  const kept = find();
  await writeFile(source, `${text}\n`);
  await kept?.keep(['bundle.mjs'], 'from');
  await writeFile(source, text);
  expect(await find()?.copyTo('to')).toBe(false);
});

test('nothing is kept where nobody says where', () => {
  expect(KeptBundles.find({})).toBeUndefined();
});
