import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const COUNTER = 'export const counter = { value: 0 };';
const ALONE = `
import { expect, jest, test } from '@jest/globals';
import { counter } from './counter.ts';

test('is alone in its process', () => {
  const { ADDED, REPLACED } = process.env;
  expect({ counter: counter.value, ADDED, REPLACED, mocked: process.uptime() === 0 })
    .toEqual({ counter: 0, mocked: false });
  counter.value += 1;
  process.env.ADDED = 'yes';
  process.env = { REPLACED: 'yes' };
  process.exitCode = 1;
  jest.spyOn(process, 'uptime').mockReturnValue(0);
});
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-runtime-'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
});
afterEach(() => rm(folder, { recursive: true }));

/**
 * Runs Jest on files.
 * @returns its report
 * @throws Error with the report if Jest ends with another code than 0
 */
async function runJest(files: Record<string, string>): Promise<string> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const config = {
    rootDir: folder,
    runtime: resolve('test/support/node-runtime.ts'),
    injectGlobals: false,
    testMatch: ['**/*.test.ts'],
    transform: {},
  };
  const args = ['node_modules/jest/bin/jest.js', '--runInBand', '--config', JSON.stringify(config)];
  return (await promisify(execFile)(process.execPath, args)).stderr;
}

test('test files of one process do not see each other', async () => {
  const files = { 'counter.ts': COUNTER, 'a.test.ts': ALONE, 'b.test.ts': ALONE };
  expect(await runJest(files)).toContain('Tests:       2 passed');
});

test('a test that ends its process fails', async () => {
  const text = "import { test } from '@jest/globals';\ntest('ends', () => process.exit(0));\n";
  await expect(runJest({ 'a.test.ts': text })).rejects.toThrow(`${join(folder, 'a.test.ts')} was running`);
});
