import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { incompleteEvents } from '../../../tools/generate/incomplete-events.ts';

const CATALOGUE = 'lambda/events/catalogue.ts';
const ENTRY = "  'girl.schedule_changed': {\n";

const before = process.cwd();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-events-'));
  for (const name of ['lambda', 'events']) await cp(name, join(folder, name), { recursive: true });
  process.chdir(folder);
});

afterAll(async () => {
  process.chdir(before);
  await rm(folder, { recursive: true });
});

test('the events of this project lack nothing', () => {
  expect(incompleteEvents()).toEqual([]);
});

test.each([
  ['schema', 'lambda/events/girl-schedule-changed/schema.ts'],
  ['consumer', 'lambda/events/girl-schedule-changed/consumer.ts'],
  ['sample', 'events/girl-schedule-changed.json'],
])('an event without its %s is found', async (part, path) => {
  await rename(path, 'aside');
  expect(incompleteEvents()).toEqual([`girl.schedule_changed has no ${part} (${path})`]);
  await rename('aside', path);
});

test('an event that was only added to the catalogue lacks all of it, in one line', async () => {
  const catalogue = await readFile(CATALOGUE, 'utf8');
  await writeFile(CATALOGUE, catalogue.replace(ENTRY, `  'example.unknown': {\n  },\n${ENTRY}`));
  expect(incompleteEvents()).toEqual([
    'example.unknown has no schema (lambda/events/example-unknown.ts), no consumer (lambda/consumer/example-unknown.ts), no sample (events/example-unknown.json)',
  ]);
  await writeFile(CATALOGUE, catalogue);
});

test('the files of an event that the catalogue does not have are found, and no others', async () => {
  const catalogue = await readFile(CATALOGUE, 'utf8');
  expect(catalogue).toContain(ENTRY);
  await writeFile(CATALOGUE, catalogue.replace(ENTRY, ''));
  expect(incompleteEvents()).toEqual(
    [
      'lambda/events/girl-schedule-changed/schema.ts',
      'lambda/events/girl-schedule-changed/consumer.ts',
      'events/girl-schedule-changed.json',
    ].map((path) => `${path} belongs to no event: ${CATALOGUE} has no such entry`),
  );
  await writeFile(CATALOGUE, catalogue);
});
