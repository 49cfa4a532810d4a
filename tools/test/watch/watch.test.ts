import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { BUNDLE_LIST } from '../../../lib/release/function-bundles.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { describeStack, Workspace } from '../../stage/local-folder.ts';
import { SourceTree } from '../../watch/source-tree.ts';
import { Watch } from '../../watch/watch.ts';

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

let said: string[];
/** Folder of each synthesis so far. */
let synthesised: string[];
let restarted: { assembly: string; files: readonly string[] }[];
/** Number of queues in the template of a synthesis. */
let queues: number;
let synthesis: () => Promise<void>;
/** Folder of the last stack that was tried, if the folder existed. */
let tried: string;
/** Saved files that the watch has noticed. */
let noticed: string[];
/** Called instead of starting the new stack on other ports as a trial. */
let trial: () => Promise<void>;
/** Resolves when a function's code may be replaced. */
let replacement: () => Promise<undefined>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-watch-'));
  const modules = resolve('node_modules');
  for (const file of ['tsconfig.json', 'tools/watch/tsconfig.sources.json'])
    await cp(file, join(folder, file));
  process.chdir(folder);
  await writeFile('package.json', '{ "type": "module" }');
  await symlink(modules, 'node_modules');
});

afterAll(async () => {
  process.chdir(before);
  await rm(folder, { recursive: true });
});

beforeEach(async () => {
  for (const name of ['bin', 'lib', 'lambda']) await mkdir(name, { recursive: true });
  await writeFile('bin/app.ts', "import '../lib/stack.ts';\n");
  for (const file of [FIRST, SECOND, STACK]) await save(file);
  [said, synthesised, restarted, noticed, queues] = [[], [], [], [], 1];
  synthesis = async () => {};
  trial = async () => {};
  replacement = async () => undefined;
  workspace = await Workspace.open();
  const stack = {
    name: 'Stack',
    outputs: {},
    functions: new Map(
      Object.keys(bundles).map((name) => [name, { definition: { codeDirectory: workspace.assembly } }]),
    ) as never,
    codeDirectories: new Set<string>(),
    replaceCode: () => replacement(),
  };
  await workspace.publish(describeStack(stack));
  await writeAssembly(workspace.assembly);
  const sources = new SourceTree((problem) => said.push(problem));
  const watchSources = sources.watch.bind(sources);
  sources.watch = (onSaved) =>
    watchSources((files) => {
      noticed.push(...files);
      onSaved(files);
    });
  watching = new Watch({
    stack,
    workspace,
    sources,
    readable: new Set(),
    async synthesise(to) {
      synthesised.push(to);
      await writeAssembly(to);
      await synthesis();
    },
    async tryStack(assembly) {
      tried = existsSync(join(assembly, BUNDLE_LIST)) ? assembly : '';
      await trial();
    },
    restart: (files) => restarted.push({ assembly: tried, files }),
    onNotice: ({ text }) => said.push(text),
  });
});

afterEach(async () => {
  await watching[Symbol.asyncDispose]();
  await workspace[Symbol.asyncDispose]();
});

async function writeAssembly(to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const templateFile = 'Stack.template.json';
  const Queue = { Type: 'AWS::SQS::Queue' };
  const names = Array.from({ length: queues }, (_, index) => [`Queue${index}`, Queue]);
  const files: Record<string, object> = {
    [BUNDLE_LIST]: bundles,
    'manifest.json': {
      artifacts: { Stack: { type: 'aws:cloudformation:stack', properties: { templateFile } } },
    },
    'Stack.assets.json': { files: {} },
    [templateFile]: { Resources: Object.fromEntries(names) },
  };
  for (const [file, content] of Object.entries(files)) {
    await writeFile(join(to, file), JSON.stringify(content));
  }
}

const save = (file: string) => writeFile(file, `export const saved = ${Math.random()};\n`);

const until = (holds: () => boolean) => eventually(async () => holds() || undefined);

/** Saves a function's source and waits until the function is rebuilt. */
async function rebuild(file: string): Promise<void> {
  const count = rebuilds();
  await save(file);
  await until(() => rebuilds() > count);
}

const hasSaid = (notice: RegExp) => said.some((text) => notice.test(text));

const rebuilds = () => said.filter((text) => text.startsWith('Rebuilt')).length;

test('a save in lib restarts the stack, even if the template stays the same', async () => {
  await save(STACK);
  await until(() => restarted.length === 1);
  expect(restarted[0]?.files).toEqual([STACK]);
  await until(() => !existsSync(restarted[0]?.assembly ?? ''));
});

describe('a save in lambda of a file that the synthesis reads', () => {
  const SHARED = 'lambda/shared.ts';
  const notice = (text: string) => said.some((one) => one.startsWith(text));

  beforeEach(async () => {
    await save(SHARED);
    await writeFile(STACK, "import '../lambda/shared.ts';\n");
    await until(() => restarted.length > 0);
    restarted = [];
  });

  test('restarts the stack if its resources change', async () => {
    queues = 2;
    await save(SHARED);
    await until(() => restarted.length === 1);
    expect(restarted[0]?.files).toEqual([SHARED]);
  });

  test('keeps it running if they stay the same', async () => {
    await save(SHARED);
    await until(() => notice('Synthesised in'));
    expect(restarted).toEqual([]);
  });
});

test('a save during a synthesis does not touch its output folder, and is synthesised before a restart', async () => {
  const release = Promise.withResolvers<void>();
  synthesis = () => release.promise;
  await save(STACK);
  await until(() => synthesised.length === 1);
  for (let count = 0; count < 3; count += 1) await rebuild(FIRST);
  await save('lib/later.ts');
  await until(() => existsSync(synthesised[0] ?? ''));
  await new Promise((resolve) => setTimeout(resolve, 500));
  release.resolve();
  await until(() => restarted.length === 1);
  expect(synthesised).toHaveLength(2);
  expect(restarted).toEqual([{ assembly: synthesised[1], files: ['lib/later.ts', STACK] }]);
});

test.each([
  {
    what: 'synthesis',
    fail: (error: Error) => {
      synthesis = async () => {
        synthesis = async () => {};
        throw error;
      };
    },
  },
  {
    what: 'restart',
    fail: (error: Error) => {
      trial = async () => {
        trial = async () => {};
        throw error;
      };
    },
  },
])('after a failed $what the stack stays, and the next save of any file tries again', async ({ fail }) => {
  fail(new Error('no space left'));
  await save(STACK);
  await until(() => said.some((text) => text.includes('no space left')));
  expect(said.at(-1)).toBe('no space left\nThe stack keeps running unchanged.');
  restarted = [];
  await save(FIRST);
  await until(() => restarted.length === 1);
});

test('a save during the trial of the new stack is synthesised before the restart', async () => {
  trial = async () => {
    trial = async () => {};
    await save('lib/later.ts');
    await until(() => noticed.includes('lib/later.ts'));
  };
  await save(STACK);
  await until(() => restarted.length === 1);
  expect(restarted).toEqual([{ assembly: synthesised[1], files: ['lib/later.ts', STACK] }]);
});

test('an error in a file that functions share is reported once, and its fix rebuilds them', async () => {
  const [SHARED, GONE] = ['lambda/shared.ts', 'lambda/gone.ts'];
  await save(SHARED);
  for (const file of [FIRST, SECOND]) await writeFile(file, "export * from './shared.ts';\n");
  await until(() => ['first', 'second'].every((name) => hasSaid(new RegExp(`^Rebuilt .*${name}`))));
  said.length = 0;
  await writeFile(SHARED, "\nimport './gone.ts';\n");
  await until(() => hasSaid(/The last good code keeps running/));
  expect(said.join('\n').match(/✘ \[ERROR\]/g)).toHaveLength(1);
  expect(said.at(-1)).toContain('lambda/shared.ts:2:7:');
  // The missing file is in no bundle yet.
  await save(GONE);
  await until(() => hasSaid(/^Rebuilt first and second in/));
  for (const file of [SHARED, GONE]) await rm(file);
});

test('of functions that are saved together, those that build are rebuilt', async () => {
  await writeFile(SECOND, 'export const = 1;\n');
  await save(FIRST);
  await until(() => hasSaid(/lambda\/second\.ts:1:13:/) && hasSaid(/^Rebuilt first in/));
  expect(hasSaid(/^Rebuilt .*second/)).toBe(false);
});

test('a function whose entry file is gone does not prevent a restart without it', async () => {
  queues = 2;
  await rm(SECOND);
  await until(() => restarted.length === 1);
  expect(said.join('\n')).not.toContain('ERROR');
});

describe('types are checked in the background', () => {
  /** Saves a function's source and waits for a notice. */
  async function saying(text: string, notice: string): Promise<string | undefined> {
    const count = said.length;
    await writeFile(FIRST, text);
    const found = () => said.slice(count).find((one) => one.includes(notice));
    await until(() => found() !== undefined);
    return found();
  }

  test('an error is reported with file and line, after the rebuild', async () => {
    const notice = await saying("\nexport const name: string = 1;\nexport const id: number = '';\n", 'Type');
    expect(notice).toBe(`Type errors in the saved code:
  lambda/first.ts:2:14: Type 'number' is not assignable to type 'string'. (TS2322)
  lambda/first.ts:3:14: Type 'string' is not assignable to type 'number'. (TS2322)`);
    expect(said[0]).toMatch(/^Rebuilt first in/);
  });

  // Takes 8 s: the types are checked after each of five saves.
  test('only code that builds and has correct types is reported as fixed', async () => {
    await saying('export const = 1;\n', 'The last good code keeps running');
    await saying('export const name: string = 1;\n', 'Type errors');
    await saying('export const = 2;\n', 'The last good code keeps running');
    await saying('export const name: string = 1;\n', 'Type errors');
    expect(said.join('\n')).not.toContain('Fixed');
    await saying(
      "export const name: string = '';\n",
      'Fixed: all saved code builds, and its types are correct',
    );
  });

  test('only the newest save is checked', async () => {
    await rebuild(FIRST);
    await saying('export const name: string = 1;\n', 'Rebuilt first');
    await saying('export const size: string = 2;\n', 'Type errors');
    expect(said.join('\n')).not.toContain('name');
    expect(said.filter((text) => text.includes('Type errors'))).toHaveLength(1);
  });

  test('of many errors the first ones are reported', async () => {
    const lines = Array.from({ length: 7 }, (_, index) => `export const name${index}: string = ${index};\n`);
    const notice = await saying(lines.join(''), 'Type errors');
    expect(notice?.match(/TS2322/g)).toHaveLength(5);
    expect(notice).toContain('2 more: npm run check shows all');
  });
});

test('a rebuild or synthesis of more than two seconds is reported as running', async () => {
  const rebuilding = Promise.withResolvers<undefined>();
  replacement = () => rebuilding.promise;
  await save(FIRST);
  await until(() => said.includes('Rebuilding first …'));
  rebuilding.resolve(undefined);
  await until(() => rebuilds() === 1);
  const synthesising = Promise.withResolvers<void>();
  synthesis = () => synthesising.promise;
  await save(STACK);
  await until(() => said.includes('Synthesising the stack …'));
  synthesising.resolve();
  await until(() => restarted.length === 1);
});
