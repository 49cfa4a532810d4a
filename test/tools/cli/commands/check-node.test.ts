import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Project } from './project.ts';

let project: Project;

beforeEach(async () => {
  project = await Project.create({ neededNode: '99.1.0' });
});
afterEach(() => project.remove());

/** As an older Node.js, it cannot read TypeScript. */
const run = (args: readonly string[]) => project.spawn([process.execPath, '--no-strip-types', ...args]).ended;
const found = `Node.js 99 is needed, this is ${process.versions.node}.`;

describe('on another major version of Node.js than the one that Lambda runs', () => {
  test.each([
    ['a command', 'tools/cli/commands/entry.js', 'start'],
    ['the CDK app', resolve('node_modules/tsx/dist/cli.mjs'), 'bin/app.ts'],
    ['Jest', resolve('node_modules/jest/bin/jest.js')],
  ])('%s says in one line that Node.js is not installed, and how to install it', async (_, ...args) => {
    await rm(project.path('node_modules'));
    const line = `${found} An install script of the package node installs it. Run: npm ci --ignore-scripts=false\n`;
    expect(await run(args)).toEqual({ code: 1, stdout: '', stderr: line });
  });

  test('a command that is typed without npm says where Node.js is', async () => {
    const line = `${found} It is in node_modules/.bin. npm and npx use it: type "npm run", "npm test" or "npx".\n`;
    expect(await run(['tools/cli/commands/entry.js', 'start'])).toEqual({
      code: 1,
      stdout: '',
      stderr: line,
    });
  });
});
