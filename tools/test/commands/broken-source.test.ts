import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.ts';
import { Project } from './project.ts';

const CONSUMER = 'lambda/events/girl-created/consumer.ts';
const SCHEMA = 'lambda/events/girl-created/event.ts';
/** A file that all consumers import. */
const SHARED = 'lambda/consumer/consume.ts';

let project: Project;
let sources: Map<string, string>;

beforeAll(async () => {
  project = await Project.create({ copied: ['lambda', 'tools'] });
  await project.checkNoTypes();
  // The cached assembly must be one of sources without mistakes.
  await project.cacheAssembly();
  const texts = [CONSUMER, SCHEMA, SHARED].map(async (file) => [file, await readFile(file, 'utf8')] as const);
  sources = new Map(await Promise.all(texts));
});
afterAll(() => project.remove());

/** Inserts lines at the beginning of files. Files that are not named get their original text again. */
async function prepend(lines: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of sources) {
    await writeFile(project.path(file), file in lines ? `${lines[file]}\n${text}` : text);
  }
}

const withoutSpaceAtLineEnds = (text: string) => text.replaceAll(/ +$/gm, '');

test('start prints a syntax error in code shared by commands and functions in the same form', async () => {
  await prepend({ [SCHEMA]: 'const cast = { girl: };' });
  const { code, stderr } = await project.run(['start', '--port', '0', '--aws-port', '0']);
  expect(code).toBe(1);
  expect(stderr).toBe(`${SCHEMA}:1: Expression expected

const cast = { girl: };
                     ^
import type { EventDefinition } from '../definition.ts';
`);
});

test('a warning of esbuild is printed once, and the functions are bundled', async () => {
  await prepend({ [SHARED]: 'console.log({ girl: 1, girl: 2 });' });
  const code = `
    import { bundleFunctions } from './lib/release/function-bundles.ts';
    await bundleFunctions('cdk.out');`;
  const ended = await project.spawn([process.execPath, '--input-type=module', '--eval', code]).ended;
  expect({ code: ended.code, warnings: ended.stderr.match(/WARNING/g) }).toEqual({
    code: 0,
    warnings: ['WARNING'],
  });
  expect(ended.stderr).toContain('lambda/consumer/consume.ts:1:23:');
  expect(existsSync(project.path('cdk.out/bundles/girl-created/index.mjs'))).toBe(true);
});

// Starts as if a save of `lib/config.ts` had restarted the stack.
test('mistakes in functions that are saved during a restart are printed once with their places, and their correction starts the stack', async () => {
  await prepend({
    [SHARED]: "import { gone } from './gone.ts';\ngone();",
    [CONSUMER]: 'const cast = { girl: };',
  });
  const restarted = JSON.stringify({ files: ['lib/config.ts'], at: Date.now(), hasMistake: false });
  const stack = project.start(['start', '--port', '0', '--aws-port', '0'], { RESTARTED_STACK: restarted });
  await eventually(async () => /does not run/.test(stack.stderr()) || undefined);
  expect(withoutSpaceAtLineEnds(stack.stderr())).toBe(`✘ [ERROR] Could not resolve "./gone.ts"

    lambda/consumer/consume.ts:1:21:
      1 │ import { gone } from './gone.ts';
        ╵                      ~~~~~~~~~~~

✘ [ERROR] Unexpected "}"

    lambda/events/girl-created/consumer.ts:1:21:
      1 │ const cast = { girl: };
        ╵                      ^
The stack does not run. Save a correction, and it starts.
`);
  await prepend({});
  await eventually(async () => /restarted, empty/.test(stack.stdout()) || undefined);
  stack.interrupt();
  expect((await stack.ended).code).toBe(0);
});
