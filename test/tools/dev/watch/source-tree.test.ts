import { mkdir, mkdtemp, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SourceTree } from '../../../../tools/dev/watch/source-tree.ts';
import { eventually } from '../../../support/eventually.ts';

const FILE = 'lambda/events/shop-updated/consumer.ts';
const OTHER = 'lambda/hash.ts';

const before = process.cwd();
let folder: string;
let tree: SourceTree;
/** Each time that something was told, what. */
let told: string[][];
let problems: string[];

const newTree = () => new SourceTree((problem) => problems.push(problem));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-source-tree-'));
  process.chdir(folder);
  for (const name of ['bin', 'lib', 'lambda/events/shop-updated', 'lambda/consumer'])
    await mkdir(name, { recursive: true });
  for (const file of [FILE, OTHER, 'cdk.json', 'package.json']) await writeFile(file, 'as it was');
  told = [];
  problems = [];
  tree = newTree();
});

afterEach(async () => {
  tree.close();
  process.chdir(before);
  await rm(folder, { recursive: true });
});

const listen = () => tree.watch((files) => told.push([...files].sort()));

/** Saves another file, and waits until it is told: whatever was done before has been looked at by then. */
async function toldUntilNow(): Promise<string[]> {
  await writeFile('lib/last.ts', String(Math.random()));
  await eventually(async () => told.flat().includes('lib/last.ts') || undefined);
  return told.flat().filter((file) => file !== 'lib/last.ts');
}

const telling = (file: string) => eventually(async () => told.flat().includes(file) || undefined);

test.each([FILE, 'bin/app.ts', 'lib/queries/lag.sql', 'cdk.json', 'package.json'])(
  '%s is told when it is saved',
  async (file) => {
    await mkdir('lib/queries');
    listen();
    await writeFile(file, 'saved');
    await telling(file);
    expect(await toldUntilNow()).toEqual([file]);
  },
);

test('what was saved before anybody listened is told, too', async () => {
  await writeFile(FILE, 'saved');
  listen();
  expect(told).toEqual([[FILE]]);
});

test('a file is told in a folder that is new', async () => {
  listen();
  await mkdir('lambda/new/newer', { recursive: true });
  await writeFile('lambda/new/newer/first.ts', 'new');
  await telling('lambda/new/newer/first.ts');
  await writeFile('lambda/new/newer/first.ts', 'saved');
  await eventually(async () => told.length === 2 || undefined);
});

test('a file that is saved by way of another one is told once', async () => {
  listen();
  await rename(FILE, `${FILE}~`);
  await writeFile('lambda/consumer/.shop-updated.ts.swp', 'an editor’s own');
  await writeFile(FILE, 'saved');
  await rm(`${FILE}~`);
  await telling(FILE);
  expect(await toldUntilNow()).toEqual([FILE]);
});

test.each([
  ['is written as it was', () => writeFile(FILE, 'as it was')],
  ['gets another date', () => utimes(FILE, 1, 1)],
  [
    'is away for a moment',
    async () => {
      await rename(FILE, `${FILE}~`);
      await toldUntilNow();
      await rename(`${FILE}~`, FILE);
    },
  ],
  [
    'is empty for a moment',
    async () => {
      await truncate(FILE);
      await toldUntilNow();
      await writeFile(FILE, 'as it was');
    },
  ],
])('of a file that %s nothing is told', async (_, change) => {
  listen();
  await change();
  told = [];
  expect(await toldUntilNow()).toEqual([]);
});

test('a file that stays away is told in the end', async () => {
  listen();
  await rm(OTHER);
  await telling(OTHER);
});

test('a file that stays empty is told in the end', async () => {
  listen();
  await truncate(OTHER);
  await telling(OTHER);
});

test('a link to a folder is no source, and holds up none', async () => {
  await symlink('consumers', 'lambda/linked');
  tree = newTree();
  listen();
  await symlink('consumers', 'lambda/later');
  await writeFile(FILE, 'saved');
  await telling(FILE);
  expect(problems).toEqual([]);
});

test('a folder that becomes a file is told as what it is by then', async () => {
  listen();
  await rm('lambda/events/shop-updated', { recursive: true });
  await writeFile('lambda/events/shop-updated', 'a file');
  await telling(FILE);
  expect(told.flat()).toContain('lambda/events/shop-updated');
  expect(problems).toEqual([]);
});

test('what the system refuses is told once, and the rest is told when it is saved', async () => {
  // Leads to itself, which nobody may open, root included.
  await symlink('loop.ts', 'lambda/loop.ts');
  tree = newTree();
  listen();
  await writeFile(FILE, 'saved');
  await telling(FILE);
  await toldUntilNow();
  expect(problems).toEqual([expect.stringMatching(/^ELOOP: .*'lambda\/loop\.ts'\. /)]);
});
