import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { BUNDLE_LIST } from '../../../lib/bundle-list.ts';
import type { TakenOver } from '../../../local/local-stack.ts';
import { describeStack, Workspace } from '../../../tools/operate/local-folder.ts';
import { SourceTree } from '../../../tools/watch/source-tree.ts';
import type { Watch } from '../../../tools/watch/watch.ts';
import { eventually } from '../../support/eventually.ts';

const FIRST = 'lambda/first.ts';
const SECOND = 'lambda/second.ts';
const STACK = 'lib/stack.ts';
const bundles = {
  first: { entry: FIRST, sources: [FIRST] },
  second: { entry: SECOND, sources: [SECOND] },
};

const before = process.cwd();
let folder: string;
let workspace: Workspace;
let watching: Watch;
/** What was said of each save. */
let said: string[];
/** Folders that were synthesised to, and those that were there when they were taken over. */
let synthesised: string[];
let takenOver: string[];
/** Ends a synthesis. */
let synthesis: () => Promise<void>;

// One for all tests: esbuild works in the folder that it is loaded in.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-watch-'));
  process.chdir(folder);
});

afterAll(async () => {
  process.chdir(before);
  await rm(folder, { recursive: true });
});

beforeEach(async () => {
  for (const name of ['bin', 'lib', 'lambda']) await mkdir(name, { recursive: true });
  await writeFile('bin/app.ts', "import '../lib/stack.ts';\n");
  for (const file of [FIRST, SECOND, STACK]) await save(file);
  [said, synthesised, takenOver] = [[], [], []];
  synthesis = async () => {};
  const stack = {
    name: 'Stack',
    outputs: {},
    functions: new Map(),
    codeDirectories: new Set<string>(),
    replaceCode: async () => undefined,
    async takeOver(assembly: string): Promise<TakenOver> {
      if (existsSync(join(assembly, BUNDLE_LIST))) takenOver.push(assembly);
      return { resources: [], functions: [], failed: new Map(), left: [] };
    },
  };
  workspace = await Workspace.open();
  await workspace.publish(describeStack(stack));
  await writeAssembly(workspace.assembly);
  const { Watch } = await import('../../../tools/watch/watch.ts');
  watching = new Watch({
    stack,
    workspace,
    sources: new SourceTree((problem) => said.push(problem)),
    readable: new Set(),
    async synthesise(to) {
      synthesised.push(to);
      await writeAssembly(to);
      await synthesis();
    },
    onNotice: ({ text }) => said.push(text),
  });
});

afterEach(async () => {
  await watching[Symbol.asyncDispose]();
  await workspace[Symbol.asyncDispose]();
});

async function writeAssembly(to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await writeFile(join(to, BUNDLE_LIST), JSON.stringify(bundles));
}

const save = (file: string) => writeFile(file, `export const saved = ${Math.random()};\n`);

const until = (holds: () => boolean) => eventually(async () => holds() || undefined);

/** Saves a function's source, and waits until it is rebuilt. */
async function rebuild(file: string): Promise<void> {
  const count = said.length;
  await save(file);
  await until(() => said.length > count);
}

test('what is saved during a synthesis leaves it the folder that it writes to', async () => {
  const release = Promise.withResolvers<void>();
  synthesis = () => release.promise;
  await save(STACK);
  await until(() => synthesised.length === 1);
  for (let count = 0; count < 3; count += 1) await rebuild(FIRST);
  release.resolve();
  await until(() => said.length === 4);
  expect(takenOver).toEqual(synthesised);
});

test('a synthesis that failed is tried again with the next save, whatever it is of', async () => {
  synthesis = async () => {
    synthesis = async () => {};
    throw new Error('no space left');
  };
  await save(STACK);
  await until(() => said.some((text) => text.includes('no space left')));
  await save(FIRST);
  await until(() => takenOver.length === 1);
});

test('a function whose entry file is gone does not hold up what removes it from the stack', async () => {
  await rm(SECOND);
  await until(() => takenOver.length === 1);
  expect(said.join('\n')).not.toContain('ERROR');
});
