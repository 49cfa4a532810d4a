import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-npm-'));
  await copyFile('.npmrc', join(folder, '.npmrc'));
  await mkdir(join(folder, 'later'));
  const later = { name: 'later', version: '1.0.0', engines: { node: '>=99' } };
  await writeFile(join(folder, 'later/package.json'), JSON.stringify(later));
});
afterEach(() => rm(folder, { recursive: true }));

/** What npm says when it installs these packages. */
async function install(dependencies: Readonly<Record<string, string>>): Promise<string> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ dependencies }));
  return new Promise((done) => {
    const options = [
      '--offline',
      '--no-audit',
      '--no-update-notifier',
      // Only the settings of the project.
      `--userconfig=${join(folder, 'no-user')}`,
      `--globalconfig=${join(folder, 'no-global')}`,
    ];
    execFile('npm', ['install', ...options], { cwd: folder }, (_, __, stderr) => done(stderr));
  });
}

test('npm says nothing of packages that want a later Node.js than it runs on', async () => {
  expect(await install({ later: 'file:later' })).toBe('');
});

test('npm says what fails', async () => {
  expect(await install({ none: '1.0.0' })).toContain('npm error');
});
