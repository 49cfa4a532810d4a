import { mkdir, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../../local/local-stack.ts';
import { startTestStack } from '../../../support/test-stack.ts';
import { freePort, Project } from './project.ts';

let project: Project;
let stack: LocalStack;

beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

beforeEach(async () => {
  // Jest finds no tests behind a symbolic link.
  project = await Project.create({ copied: ['test'] });
});
afterEach(() => project.remove());

const NOT_RUNNING = 'The local stack is not running. Start it with: npm start';

/** What a running stack leaves. */
async function publish(name: string, outputs: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(project.path('.local'));
  await writeFile(project.path('.local/outputs.json'), JSON.stringify({ [name]: outputs }));
}

test('acceptance checks the stack that npm start runs, whatever AWS settings the shell has', async () => {
  await publish(stack.name, stack.outputs);
  const settings = { AWS_PROFILE: 'production', AWS_REGION: 'eu-central-1' };
  const { code, stdout, stderr } = await project.run(['acceptance'], settings);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    new RegExp(`passed: ${stack.name} in us-east-1 at .* ${stack.outputs.WebhookUrl}\n$`),
  );
});

test('acceptance says that no stack runs', async () => {
  const stderr = `${NOT_RUNNING}. Or name a deployed stack: --outputs FILE\n`;
  expect(await project.run(['acceptance'])).toEqual({ code: 1, stdout: '', stderr });
});

test('acceptance says that a stack which was killed does not run', async () => {
  const QuarantineQueueUrl = `http://localhost:${await freePort()}/queue`;
  await publish(stack.name, { ...stack.outputs, QuarantineQueueUrl });
  expect(await project.run(['acceptance'])).toEqual({ code: 1, stdout: '', stderr: `${NOT_RUNNING}\n` });
});
