import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-imports-'));
  await copyFile('biome.json', join(folder, 'biome.json'));
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
});
afterEach(() => rm(folder, { recursive: true }));

/** What the project's lint says of files: each with the rule that it breaks. */
async function lint(files: Readonly<Record<string, string>>): Promise<string[]> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  const biome = resolve('node_modules/@biomejs/biome/bin/biome');
  const report = await new Promise<string>((done) => {
    execFile(process.execPath, [biome, 'lint', '--reporter=json', '.'], { cwd: folder }, (_, out) =>
      done(out),
    );
  });
  const { diagnostics } = JSON.parse(report) as {
    diagnostics: { category: string; location: { path: string | { file: string } } }[];
  };
  const found = diagnostics.map(({ category, location: { path } }) => {
    return `${typeof path === 'string' ? path : path.file} ${category.replace(/.*\//, '')}`;
  });
  return [...new Set(found)].sort();
}

const EXPORTED = 'export const one = 1;\n';

/** From the top to the bottom: each may import what is below it. */
const ORDER = [
  ['tools/cli/commands', 'test'],
  ['test', 'bench'],
  ['test', 'examples'],
  ['bench', 'tools/stage'],
  ['tools/generate', 'tools/measure/cost'],
  ['tools/dev/watch', 'tools/stage'],
  ['tools/dev/start', 'tools/stage'],
  ['tools/measure/cost', 'tools/cli/terminal'],
  ['tools/cli/terminal', 'local'],
  ['local', 'events'],
  ['events', 'lambda'],
  ['lib', 'lambda'],
] as const;

describe('imports run one way', () => {
  test.each(ORDER)('%s may import %s, and not the other way round', async (upper, lower) => {
    const up = '../'.repeat(upper.split('/').length);
    const down = '../'.repeat(lower.split('/').length);
    const allowed = {
      [`${upper}/a.ts`]: `export { one } from '${up}${lower}/b.ts';\n`,
      [`${lower}/b.ts`]: EXPORTED,
    };
    expect(await lint(allowed)).toEqual([]);
    const refused = {
      [`${upper}/a.ts`]: EXPORTED,
      [`${lower}/b.ts`]: `export { one } from '${down}${upper}/a.ts';\n`,
    };
    expect(await lint(refused)).toEqual([`${lower}/b.ts noRestrictedImports`]);
  });

  test.each(['events', 'local', 'tools/stage', 'bench', 'test'])(
    'what is deployed imports nothing of %s',
    async (other) => {
      const files = {
        [`${other}/a.ts`]: EXPORTED,
        'lambda/b.ts': `export const load = () => import('../${other}/a.ts');\n`,
        'lib/c.ts': `import { one } from '../${other}/a.ts';\nexport const two = one + 1;\n`,
      };
      expect(await lint(files)).toEqual(['lambda/b.ts noRestrictedImports', 'lib/c.ts noRestrictedImports']);
    },
  );
});

test('no two files import each other, not even types', async () => {
  const files = {
    'lambda/a.ts': "import type { B } from './b.ts';\nexport interface A {\n  b: B;\n}\n",
    'lambda/b.ts': "import type { A } from './a.ts';\nexport interface B {\n  a: A;\n}\n",
  };
  expect(await lint(files)).toEqual(['lambda/a.ts noImportCycles', 'lambda/b.ts noImportCycles']);
});
