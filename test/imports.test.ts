import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

test('the lint is on: imports run one way, and no two files import each other, not even types', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-imports-'));
  try {
    await copyFile('biome.json', join(folder, 'biome.json'));
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    const files = {
      'lambda/one.ts': "export const load = () => import('../local/three.ts');\n",
      'lib/two.ts': "export { three } from '../tools/stage/three.ts';\n",
      'local/three.ts': 'export const three = 3;\n',
      'tools/stage/three.ts': 'export const three = 3;\n',
      'tools/measure/load/four.ts': "export { three } from '../../stage/three.ts';\n",
      'lambda/a.ts': "import type { B } from './b.ts';\nexport interface A {\n  b: B;\n}\n",
      'lambda/b.ts': "import type { A } from './a.ts';\nexport interface B {\n  a: A;\n}\n",
    };
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    }
    const report = await new Promise<string>((done) => {
      const biome = resolve('node_modules/@biomejs/biome/bin/biome');
      execFile(process.execPath, [biome, 'lint', '--reporter=json', '.'], { cwd: folder }, (_, out) =>
        done(out),
      );
    });
    const found = JSON.parse(report).diagnostics.map(
      ({ category, location }: { category: string; location: { path: string } }) =>
        `${location.path} ${category}`,
    );
    expect(found.sort()).toEqual([
      'lambda/a.ts lint/suspicious/noImportCycles',
      'lambda/b.ts lint/suspicious/noImportCycles',
      'lambda/one.ts lint/style/noRestrictedImports',
      'lib/two.ts lint/style/noRestrictedImports',
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
