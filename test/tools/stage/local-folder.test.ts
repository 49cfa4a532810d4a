import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { CONSOLE_FILE, FUNCTIONS_FILE, OUTPUTS_FILE, Workspace } from '../../../tools/stage/local-folder.ts';

const before = process.cwd();
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-local-folder-'));
  process.chdir(folder);
});

afterEach(async () => {
  process.chdir(before);
  await rm(folder, { recursive: true });
});

const description = { outputs: { Stack: { WebhookUrl: 'http://localhost:3000' } }, functions: {} };

test('a running stack is found by its outputs, and leaves nothing behind', async () => {
  const workspace = await Workspace.open();
  expect(await workspace.publish(description)).toBe(false);
  expect(JSON.parse(await readFile(OUTPUTS_FILE, 'utf8'))).toEqual(description.outputs);
  expect(JSON.parse(await readFile(FUNCTIONS_FILE, 'utf8'))).toEqual({});
  await workspace[Symbol.asyncDispose]();
  expect(await readdir('.local')).toEqual([]);
});

test('the console is the one of the stack that is found, or none', async () => {
  const console = { url: 'http://localhost:3001/', token: 'token' };
  await otherStack(process.ppid);
  const workspace = await Workspace.open();
  await workspace.publish({ ...description, console });
  expect(JSON.parse(await readFile(CONSOLE_FILE, 'utf8'))).toEqual(console);
  expect((await stat(CONSOLE_FILE)).mode & 0o777).toBe(0o600);
  await workspace[Symbol.asyncDispose]();
  expect(existsSync(CONSOLE_FILE)).toBe(false);
});

test('what a stack leaves is for its owner alone, also in a folder that was open to all', async () => {
  await mkdir('.local', { mode: 0o755 });
  await using _workspace = await Workspace.open();
  for (const opened of ['.local', `.local/${process.pid}`]) {
    expect((await stat(opened)).mode & 0o777).toBe(0o700);
  }
});

/** As another process leaves it that runs a stack. */
async function otherStack(pid: number): Promise<void> {
  await mkdir(`.local/${pid}`, { recursive: true });
  await writeFile(`.local/${pid}/outputs.json`, '{"Other":{}}');
  await writeFile(`.local/${pid}/functions.json`, '{}');
}

test('the one that was started before is found again when a second one stops', async () => {
  await otherStack(process.ppid);
  const workspace = await Workspace.open();
  expect(await workspace.publish(description)).toBe(true);
  expect(JSON.parse(await readFile(OUTPUTS_FILE, 'utf8'))).toEqual(description.outputs);
  await workspace[Symbol.asyncDispose]();
  expect(JSON.parse(await readFile(OUTPUTS_FILE, 'utf8'))).toEqual({ Other: {} });
});

test('what a killed one left is taken away', async () => {
  const killed = spawn(process.execPath, ['-e', '']);
  await once(killed, 'exit');
  await otherStack(killed.pid ?? 0);
  const workspace = await Workspace.open();
  expect(existsSync(`.local/${killed.pid}`)).toBe(false);
  await workspace[Symbol.asyncDispose]();
});
