import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EVENT_INDEX, eventIndex, incompleteEvents } from '../../../tools/generate/event-index.ts';

const SAMPLE = 'events/girl-schedule-changed.json';

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
  ['definition', 'lambda/events/girl-schedule-changed/event.ts'],
  ['consumer', 'lambda/events/girl-schedule-changed/consumer.ts'],
  ['sample', SAMPLE],
])('an event without its %s is found', async (part, path) => {
  await rename(path, 'aside');
  expect(incompleteEvents()).toEqual([`girl-schedule-changed has no ${part} (${path})`]);
  await rename('aside', path);
});

test('a sample without a folder lacks all of it, in one line, and is not the sample of another event', async () => {
  await writeFile('events/example-unknown.json', await readFile(SAMPLE));
  expect(incompleteEvents()).toEqual([
    'example-unknown has no definition (lambda/events/example-unknown/event.ts), no consumer (lambda/events/example-unknown/consumer.ts)',
    'events/example-unknown.json is of girl.schedule_changed, whose files are named girl-schedule-changed',
  ]);
  await rm('events/example-unknown.json');
});

test('the index lists each folder by the name of its event, in the order of the samples', async () => {
  const { file, text } = eventIndex();
  expect({ file, text }).toEqual({ file: EVENT_INDEX, text: await readFile(EVENT_INDEX, 'utf8') });
  const sample = await readFile(SAMPLE, 'utf8');
  await writeFile(SAMPLE, sample.replace('2026-', '2027-'));
  expect(eventIndex().text).toMatch(/ {2}'girl\.schedule_changed': girlScheduleChanged,\n} as const;\n$/);
  await writeFile(SAMPLE, sample);
});
