import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { limits } from '../../../../tools/dev/prose/advice.ts';
import { lintProse, proseFiles } from '../../../../tools/dev/prose/lint.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'partner-webhooks-prose-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What the lint says of a document: its path in the first line, then one line for each piece of advice. */
async function report(text: string, name = 'document.md'): Promise<string[]> {
  const file = join(folder, name);
  writeFileSync(file, text);
  return (await lintProse([file]))
    .replace(file, name)
    .split('\n')
    .map((line) => line.trim().replaceAll(/ {2,}/g, ' '));
}

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(' ');

test('plain sentences are accepted', async () => {
  expect(
    await report(
      '# Title\n\nThe receiver verifies the signature. It answers 401 if the signature is wrong.\n',
    ),
  ).toEqual(['']);
});

describe('the lint names the line and gives advice', () => {
  test.each([
    ['a phrase', 'Fine.\n\nWhoever reads this is lost.', '3:1 warning “Whoever”: name the person'],
    [
      'a phrase across lines',
      'There are ten, of\nwhich one is read.',
      '1:16 warning “of which”: split the sentence',
    ],
    ['a phrase in a table', '| Queue |\n|---|\n| It is told |', '3:6 warning “is told”: write "is notified"'],
    [
      'a condition without "if"',
      'A queue.\nIs it empty, nothing is wrong.',
      '2:1 warning “Is it”: begin with the',
    ],
    ['a long sentence', `${words(41)}.`, 'warning A sentence of 41 words: split it, at most 40'],
    ['a repeated word', 'It is is here.', 'warning Unexpected repeated `is`'],
  ])('for %s', async (_, text, expected) => {
    expect(await report(text)).toContainEqual(expect.stringContaining(expected));
  });
});

test.each([
  ['a block of code', '```text\nwhoever mends it anew\n```'],
  ['code in a sentence', 'The option is `whoever`.'],
  ['a question', 'Is it empty?'],
  ['a sentence that begins with code', `W${words(24)}. \`npm start\` ${words(24)}.`],
])('%s is accepted', async (_, text) => {
  expect(await report(text)).toEqual(['']);
});

test('sentences must be short on average', async () => {
  const lines = await report(`W${words(30)}. W${words(24)}.`);
  expect(lines).toContainEqual('warning 27.0 words per sentence on average: at most 25');
});

test('a document must be short, and the README shorter', async () => {
  const text = 'Word.\n'.repeat(limits.lines + 1);
  expect((await report(text)).join('\n')).toContain('301:1 warning 301 lines: at most 300');
  mkdirSync(join(folder, 'root'));
  writeFileSync(join(folder, 'root/README.md'), 'Word.\n'.repeat(111));
  const before = process.cwd();
  process.chdir(join(folder, 'root'));
  const said = await lintProse(['README.md']).finally(() => process.chdir(before));
  expect(said).toContain('111 lines: at most 110');
});

test('it reads the README, the documents and those of the examples, and nothing installed', () => {
  const files = proseFiles();
  expect(files).toEqual(
    expect.arrayContaining(['README.md', 'docs/operations.md', 'examples/signing/README.md']),
  );
  expect(files.filter((file) => file.includes('node_modules'))).toEqual([]);
});
