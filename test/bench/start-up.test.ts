import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

test('npm run bench starts the receiver in each variant of its bundle', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--import',
    'tsx',
    'bench/start-up.ts',
    '--rounds',
    '1',
  ]);
  const rows = stdout.split('\n').filter((line) => /^│ (as|in|from|with|without) /.test(line));
  expect(rows).toHaveLength(7);
  for (const row of rows) expect(row).toMatch(/│ \d+ +│ \d+ +│ [\d.]+ +│ [\d.]+ +│$/);
}, 60_000);
