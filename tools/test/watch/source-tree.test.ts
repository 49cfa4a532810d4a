import { mkdir, mkdtemp, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.ts';
import { SourceTree } from '../../watch/source-tree.ts';

const FILE = 'lambda/events/shop-updated/consumer.ts';
const OTHER = 'lambda/hash.ts';

const before = process.cwd();
let folder: string;
let tree: SourceTree;
/** Files in each report of the source tree. */
let reported: string[][];
let problems: string[];

const newTree = () => new SourceTree((problem) => problems.push(problem));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-source-tree-'));
  process.chdir(folder);
  for (const name of ['bin', 'lib', 'lambda/events/shop-updated', 'lambda/consumer'])
    await mkdir(name, { recursive: true });
  for (const file of [FILE, OTHER, 'cdk.json', 'package.json']) await writeFile(file, 'as it was');
  reported = [];
  problems = [];
  tree = newTree();
});

afterEach(async () => {
  tree.close();
  process.chdir(before);
  await rm(folder, { recursive: true });
});

const listen = () => tree.watch((files) => reported.push([...files].sort()));

/** Saves another file and waits for its report. By then, earlier changes have been reported as well. */
async function savedUntilNow(): Promise<string[]> {
  await writeFile('lib/last.ts', String(Math.random()));
  await eventually(async () => reported.flat().includes('lib/last.ts') || undefined);
  return reported.flat().filter((file) => file !== 'lib/last.ts');
}

const reporting = (file: string) => eventually(async () => reported.flat().includes(file) || undefined);

test.each([FILE, 'bin/app.ts', 'lib/queries/lag.sql', 'cdk.json', 'package.json'])(
  '%s is reported when it is saved',
  async (file) => {
    await mkdir('lib/queries');
    listen();
    await writeFile(file, 'saved');
    await reporting(file);
    expect(await savedUntilNow()).toEqual([file]);
  },
);

test('a file that was saved before the first listener is reported, too', async () => {
  await writeFile(FILE, 'saved');
  listen();
  expect(reported).toEqual([[FILE]]);
});

test('a file in a new folder is reported', async () => {
  listen();
  await mkdir('lambda/new/newer', { recursive: true });
  await writeFile('lambda/new/newer/first.ts', 'new');
  await reporting('lambda/new/newer/first.ts');
  await writeFile('lambda/new/newer/first.ts', 'saved');
  await eventually(async () => reported.length === 2 || undefined);
});

test('a file that an editor saves through a temporary file is reported once', async () => {
  listen();
  await rename(FILE, `${FILE}~`);
  await writeFile('lambda/consumer/.shop-updated.ts.swp', 'an editor’s own');
  await writeFile(FILE, 'saved');
  await rm(`${FILE}~`);
  await reporting(FILE);
  expect(await savedUntilNow()).toEqual([FILE]);
});

test.each([
  { change: 'is written as it was', act: () => writeFile(FILE, 'as it was') },
  { change: 'gets another date', act: () => utimes(FILE, 1, 1) },
  {
    change: 'is away for a moment',
    act: async () => {
      await rename(FILE, `${FILE}~`);
      await savedUntilNow();
      await rename(`${FILE}~`, FILE);
    },
  },
  {
    change: 'is empty for a moment',
    act: async () => {
      await truncate(FILE);
      await savedUntilNow();
      await writeFile(FILE, 'as it was');
    },
  },
])('a file that $change is not reported', async ({ act }) => {
  listen();
  await act();
  reported = [];
  expect(await savedUntilNow()).toEqual([]);
});

test.each([
  { change: 'missing', act: () => rm(OTHER) },
  { change: 'empty', act: () => truncate(OTHER) },
])('a file that stays $change is reported after a while', async ({ act }) => {
  listen();
  await act();
  await reporting(OTHER);
});

test('a link to a folder is not a source, and does not stop the watching', async () => {
  await symlink('consumers', 'lambda/linked');
  tree = newTree();
  listen();
  await symlink('consumers', 'lambda/later');
  await writeFile(FILE, 'saved');
  await reporting(FILE);
  expect(problems).toEqual([]);
});

test('a folder that becomes a file is reported as that file', async () => {
  listen();
  await rm('lambda/events/shop-updated', { recursive: true });
  await writeFile('lambda/events/shop-updated', 'a file');
  await reporting(FILE);
  expect(reported.flat()).toContain('lambda/events/shop-updated');
  expect(problems).toEqual([]);
});

test('an error of the system is reported once, and other files are reported when they are saved', async () => {
  // A symbolic link to itself, which nobody can open, not even root.
  await symlink('loop.ts', 'lambda/loop.ts');
  tree = newTree();
  listen();
  await writeFile(FILE, 'saved');
  await reporting(FILE);
  await savedUntilNow();
  expect(problems).toEqual([expect.stringMatching(/^ELOOP: .*'lambda\/loop\.ts'\. /)]);
});
