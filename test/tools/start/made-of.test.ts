import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { readContext } from '../../../local/template/synthesise.ts';
import { MADE_OF } from '../../../tools/start/kept-assembly.ts';

const folder = mkdtempSync(join(tmpdir(), 'made-of-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes down what a process reads: modules, and files by the one function that all of `fs` here goes through. */
const RECORDER = `
  import fs from 'node:fs';
  import { registerHooks, syncBuiltinESMExports } from 'node:module';
  import { fileURLToPath } from 'node:url';
  const read = new Set();
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) read.add(fileURLToPath(url));
      return next(url, context);
    },
  });
  for (const name of ['readFileSync', 'createReadStream', 'openSync', 'copyFileSync', 'cpSync']) {
    const original = fs[name];
    fs[name] = (path, ...rest) => {
      if (typeof path === 'string') read.add(fs.realpathSync(path));
      return original(path, ...rest);
    };
  }
  syncBuiltinESMExports();
  const write = fs.writeFileSync;
  process.on('exit', () => write(process.env.READ, JSON.stringify([...read])));
`;

test('all that a synthesis reads of this project is what a kept assembly is compared by', async () => {
  const read = join(folder, 'read.json');
  const app = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(RECORDER)}`, 'bin/app.ts'],
    {
      env: {
        ...process.env,
        READ: read,
        CDK_OUTDIR: join(folder, 'cdk.out'),
        CDK_CONTEXT_JSON: JSON.stringify(readContext()),
        CDK_VALIDATION: 'false',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  expect(await once(app, 'close')).toEqual([0, null]);
  const files = (JSON.parse(readFileSync(read, 'utf8')) as string[]).map((path) => relative('.', path));
  expect(files).toContain('lib/partner-webhooks-stack.ts');
  const ours = files.filter((path) => !/^(\.\.|node_modules|\.local)(\/|$)/.test(path));
  const covered = (path: string) => MADE_OF.some((made) => path === made || path.startsWith(`${made}/`));
  expect(ours.filter((path) => !covered(path))).toEqual([]);
});
