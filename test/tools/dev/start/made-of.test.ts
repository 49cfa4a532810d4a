import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { BUNDLE_LIST, type BundleList } from '../../../../lib/release/function-bundles.ts';
import { readContext } from '../../../../local/template/synthesise.ts';
import { MADE_OF } from '../../../../tools/dev/start/kept-assembly.ts';

const folder = mkdtempSync(join(tmpdir(), 'made-of-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes down what a process reads: modules, and files, in each way that `fs` has. What esbuild reads is in its list. */
const RECORDER = `
  import fs from 'node:fs';
  import { registerHooks, syncBuiltinESMExports } from 'node:module';
  import { resolve } from 'node:path';
  import { fileURLToPath } from 'node:url';
  const read = new Set();
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) read.add(fileURLToPath(url));
      return next(url, context);
    },
  });
  for (const files of [fs, fs.promises]) {
    for (const name of Object.keys(files).filter((name) => /^(readFile|createReadStream|open|copyFile|cp)(Sync)?$/.test(name))) {
      const original = files[name];
      files[name] = (path, ...rest) => {
        if (typeof path === 'string') read.add(resolve(path));
        return original(path, ...rest);
      };
    }
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
  const bundles: BundleList = JSON.parse(readFileSync(join(folder, 'cdk.out', BUNDLE_LIST), 'utf8'));
  const files = [
    ...(JSON.parse(readFileSync(read, 'utf8')) as string[]).map((path) => relative('.', path)),
    ...Object.values(bundles).flatMap(({ sources }) => sources),
  ];
  expect(files).toEqual(
    expect.arrayContaining(['lib/partner-webhooks-stack.ts', 'lambda/receiver/handler.ts']),
  );
  const ours = files.filter((path) => !/^(\.\.|node_modules|\.local)(\/|$)/.test(path));
  const covered = (path: string) => MADE_OF.some((made) => path === made || path.startsWith(`${made}/`));
  expect(ours.filter((path) => !covered(path))).toEqual([]);
});
