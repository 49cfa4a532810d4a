import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Ended, Project } from './project.ts';

/** How long a synthesis may take, in milliseconds. */
const PATIENCE = 300_000;

const CONSUMER = 'lambda/events/girl-created/consumer.ts';
const SCHEMA = 'lambda/events/girl-created/event.ts';
/** All consumers import it. */
const SHARED = 'lambda/consumer/consume.ts';

let project: Project;
let sources: Map<string, string>;

beforeAll(async () => {
  project = await Project.create({ copied: ['lambda', 'tools'] });
  const texts = [CONSUMER, SCHEMA, SHARED].map(async (file) => [file, await readFile(file, 'utf8')] as const);
  sources = new Map(await Promise.all(texts));
});
afterAll(() => project.remove());

/** Puts lines before those of some files, and leaves the others as they are. */
async function prepend(lines: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of sources) {
    await writeFile(project.path(file), file in lines ? `${lines[file]}\n${text}` : text);
  }
}

/**
 * Without the `npx tsx` of `cdk.json`: npm has warnings of its own. And without the CDK's own validation: the template is
 * as it always is.
 */
const cdkSynth = () =>
  project.spawn(['cdk', 'synth', '--quiet', '--app', 'node bin/app.ts'], { CDK_VALIDATION: 'false' }).ended;
const withoutSpaceAtLineEnds = ({ stderr }: Ended) => stderr.replaceAll(/ +$/gm, '');

const MISTAKES = [
  [
    'a syntax error in a consumer',
    { [CONSUMER]: 'const cast = { girl: };' },
    `✘ [ERROR] Unexpected "}"

    lambda/events/girl-created/consumer.ts:1:21:
      1 │ const cast = { girl: };
        ╵                      ^
`,
  ],
  [
    'an import that leads nowhere',
    { [CONSUMER]: "import { toRoman } from 'roman-numerals';\ntoRoman(4);" },
    `✘ [ERROR] Could not resolve "roman-numerals"

    lambda/events/girl-created/consumer.ts:1:24:
      1 │ import { toRoman } from 'roman-numerals';
        ╵                         ~~~~~~~~~~~~~~~~
`,
  ],
  [
    'a mistake that all consumers share, once, beside another one',
    { [SHARED]: "import { gone } from './gone.ts';\ngone();", [CONSUMER]: 'const = 1;' },
    `✘ [ERROR] Could not resolve "./gone.ts"

    lambda/consumer/consume.ts:1:21:
      1 │ import { gone } from './gone.ts';
        ╵                      ~~~~~~~~~~~

✘ [ERROR] Expected identifier but found "="

    lambda/events/girl-created/consumer.ts:1:6:
      1 │ const = 1;
        ╵       ^
`,
  ],
] as const;

test.each(MISTAKES)(
  'of %s `start` says what is wrong and where, with exit code 1',
  async (_, lines, message) => {
    await prepend(lines);
    const ended = await project.run(['start', '--port', '0', '--aws-port', '0']);
    expect({ ...ended, stderr: withoutSpaceAtLineEnds(ended) }).toEqual({
      code: 1,
      stdout: 'Beginning empty. --keep would store the state in .local/kept\nSynthesising the stack …\n',
      stderr: message,
    });
  },
  PATIENCE,
);

test(
  'of a syntax error in what commands share with the functions `start` says the same, without a stack',
  async () => {
    await prepend({ [SCHEMA]: 'const cast = { girl: };' });
    const { code, stderr } = await project.run(['start', '--port', '0', '--aws-port', '0']);
    expect(code).toBe(1);
    expect(stderr).toBe(`${SCHEMA}:1: Expression expected

const cast = { girl: };
                     ^
import * as z from 'zod/mini';
`);
    await prepend({});
  },
  PATIENCE,
);

test(
  '`cdk synth` says the same, and how it ended',
  async () => {
    const [[, lines, message]] = MISTAKES;
    await prepend(lines);
    const ended = await cdkSynth();
    expect({ code: ended.code, stderr: withoutSpaceAtLineEnds(ended) }).toEqual({
      code: 1,
      stderr: `${message}node bin/app.ts: Subprocess exited with error 1\n`,
    });
  },
  PATIENCE,
);

test(
  'a warning of esbuild’s is said once, and does not keep the stack from being synthesised',
  async () => {
    await prepend({ [SHARED]: 'console.log({ girl: 1, girl: 2 });' });
    const { code, stderr } = await cdkSynth();
    expect({ code, warnings: stderr.match(/WARNING/g) }).toEqual({ code: 0, warnings: ['WARNING'] });
    expect(stderr).toContain('lambda/consumer/consume.ts:1:23:');
  },
  PATIENCE,
);
