import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KeptBundles } from '../../lib/release/kept-bundles.ts';

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

const SOURCES = ['lambda/consumer/consume.ts', 'lambda/consumer/retry.ts'];

const find = (entry = 'lambda/first.ts') =>
  KeptBundles.find(entry, { PARTNER_WEBHOOKS_KEPT_BUNDLES: join(folder, 'kept') });

test('what is kept is there for the same function of the same sources, and for no other', async () => {
  expect(await find()?.copyTo('to')).toBeUndefined();
  await Promise.all([find()?.keep('from', SOURCES), find()?.keep('from', SOURCES)]);
  await appendFile('lambda/events/girl-created/consumer.ts', '\n');
  expect(await find()?.copyTo('to')).toEqual(SOURCES);
  expect(await readFile('to/bundle.mjs', 'utf8')).toBe('bundled');
  expect(await find('lambda/second.ts')?.copyTo('to')).toBeUndefined();
  await appendFile('lambda/consumer/consume.ts', '\n');
  expect(await find()?.copyTo('to')).toBeUndefined();
});

test('what is kept is not there for other packages', async () => {
  await find()?.keep('from', SOURCES);
  expect(await find()?.copyTo('to')).toEqual(SOURCES);
  await appendFile('package-lock.json', '\n');
  expect(await find()?.copyTo('to')).toBeUndefined();
});

test('a bundle of sources that were taken back is there again, and what was used longest ago goes', async () => {
  const states = Array.from({ length: 9 }, (_, state) => `${state}`.padEnd(10));
  for (const state of states) {
    await writeFile('lambda/consumer/retry.ts', state);
    await find()?.keep('from', SOURCES);
    await sleep(10);
  }
  const isThere = async (state = '') => {
    await writeFile('lambda/consumer/retry.ts', state);
    return (await find()?.copyTo('to')) !== undefined;
  };
  expect(await isThere(states[1])).toBe(true);
  expect(await isThere(states[8])).toBe(true);
  expect(await isThere(states[0])).toBe(false);
});

test('nothing is kept that was bundled while somebody saved', async () => {
  const source = 'lambda/consumer/retry.ts';
  const text = await readFile(source, 'utf8');
  const kept = find();
  await writeFile(source, `${text}\n`);
  await kept?.keep('from', SOURCES);
  await writeFile(source, text);
  expect(await find()?.copyTo('to')).toBeUndefined();
  await writeFile(source, `${text}\n`);
  expect(await find()?.copyTo('to')).toBeUndefined();
});

test('what another process has let go is bundled anew', async () => {
  await find()?.keep('from', SOURCES);
  for (const name of await readdir('kept', { recursive: true })) {
    if (name.endsWith('/bundle')) await rm(join('kept', name), { recursive: true });
  }
  await rm('to', { recursive: true, force: true });
  expect(await find()?.copyTo('to')).toBeUndefined();
});

test('nothing is kept where nobody says where', () => {
  expect(KeptBundles.find('lambda/first.ts', {})).toBeUndefined();
});
