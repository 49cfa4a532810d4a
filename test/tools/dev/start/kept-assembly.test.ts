import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { KeptAssemblies } from '../../../../tools/dev/start/kept-assembly.ts';

let root: string;
let syntheses: number;
let whileSynthesising: () => void;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kept-assembly-'));
  mkdirSync(join(root, 'lambda/receiver'), { recursive: true });
  save('export const answer = 1;');
  syntheses = 0;
  whileSynthesising = () => {};
});

afterEach(() => rmSync(root, { recursive: true }));

const save = (text: string, file = 'lambda/receiver/handler.ts') => writeFileSync(join(root, file), text);

const kept = () =>
  new KeptAssemblies({ folder: join(root, 'kept'), madeOf: [join(root, 'lambda')], synthesise });

/** Its assembly is the source, in a folder of the assembly. */
async function synthesise(folder: string, overrides: object): Promise<void> {
  syntheses += 1;
  mkdirSync(join(folder, 'asset'), { recursive: true });
  const source = readFileSync(join(root, 'lambda/receiver/handler.ts'), 'utf8');
  whileSynthesising();
  writeFileSync(join(folder, 'asset/index.mjs'), `${source}${JSON.stringify(overrides)}`);
}

/** @returns the assembly's one file */
async function start(name: string, overrides = {}): Promise<string> {
  await kept().write(join(root, name), overrides);
  return readFileSync(join(root, name, 'asset/index.mjs'), 'utf8');
}

it('synthesises once what has not changed', async () => {
  const first = await start('first');
  expect(await start('second')).toBe(first);
  expect(syntheses).toBe(1);
});

it('synthesises anew when a source is saved, and not when that is taken back', async () => {
  const first = await start('first');
  save('export const answer = 2;');
  expect(await start('second')).toContain('answer = 2');
  save('export const answer = 1;');
  expect(await start('third')).toBe(first);
  expect(syntheses).toBe(2);
});

it('synthesises anew when a source is added, though nothing imports it yet', async () => {
  await start('first');
  save('', 'lambda/receiver/answers.ts');
  await start('second');
  expect(syntheses).toBe(2);
});

it('keeps what the context says apart', async () => {
  await start('first');
  expect(await start('second', { gateway: 'rest' })).toContain('rest');
  expect(syntheses).toBe(2);
});

it('synthesises anew for another region of the environment', async () => {
  const { CDK_DEFAULT_REGION: before } = process.env;
  try {
    await start('first');
    process.env.CDK_DEFAULT_REGION = 'eu-central-1';
    await start('second');
    expect(syntheses).toBe(2);
  } finally {
    if (before === undefined) delete process.env.CDK_DEFAULT_REGION;
    else process.env.CDK_DEFAULT_REGION = before;
  }
});

it('keeps nothing of sources that were saved while they were synthesised', async () => {
  whileSynthesising = () => save('export const answer = 2;');
  await start('first');
  save('export const answer = 1;');
  await start('second');
  expect(syntheses).toBe(2);
});

it.each([
  ['cut short', (bytes: Buffer) => bytes.subarray(0, -1)],
  ['empty', () => Buffer.of()],
  ['changed', (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -1), Buffer.from('x')])],
])('synthesises anew where what was kept is %s', async (_how, damage) => {
  const first = await start('first');
  const [name = ''] = readdirSync(join(root, 'kept'));
  const file = join(root, 'kept', name);
  writeFileSync(file, damage(readFileSync(file)));
  expect(await start('second')).toBe(first);
  expect(await start('third')).toBe(first);
  expect(syntheses).toBe(2);
});

it('lets two start at once, and keeps one assembly', async () => {
  const [first, second] = await Promise.all([start('first'), start('second')]);
  expect(second).toBe(first);
  expect(await start('third')).toBe(first);
  expect(readdirSync(join(root, 'kept'))).toHaveLength(1);
  expect(syntheses).toBe(2);
});

it('starts where nothing can be kept', async () => {
  writeFileSync(join(root, 'kept'), 'a file, and no folder');
  expect(await start('first')).toContain('answer = 1');
});

it('lets what was used longest ago go', async () => {
  for (const answer of [1, 2, 3, 4]) {
    save(`export const answer = ${answer};`);
    await start(String(answer));
  }
  expect(readdirSync(join(root, 'kept'))).toHaveLength(3);
});
