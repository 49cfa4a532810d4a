import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stageAssembly } from '../../../test/lib/stage-assembly.ts';
import {
  type Assemblies,
  allGeneratedFiles,
  fillSection,
  generatedFrom,
} from '../../generate/all-generated-files.ts';
import { EVENT_INDEX, eventIndex, incompleteEvents, isUpToDate } from '../../generate/event-index.ts';

test('every generated file is up to date', async () => {
  const assemblies = Object.fromEntries(
    await Promise.all(generatedFrom.map(async (stage) => [stage, await stageAssembly(stage)] as const)),
  ) as Assemblies;
  const outdated = (await allGeneratedFiles(assemblies))
    .filter((file) => !isUpToDate(file))
    .map(({ file }) => file);
  if (outdated.length > 0) {
    throw new Error(
      `Out of date: ${outdated.join(', ')}. Bring them up to date, and look at what changes: npm run generate`,
    );
  }
});

test('a document must have a place for a generated part', () => {
  expect(() => fillSection('<!-- events -->\n<!-- /events -->', 'limits', '')).toThrow(
    'The document has no <!-- limits -->',
  );
});

describe('the index of events', () => {
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

  test.each([
    { part: 'definition', path: 'lambda/events/girl-schedule-changed/event.ts' },
    { part: 'consumer', path: 'lambda/events/girl-schedule-changed/consumer.ts' },
    { part: 'sample', path: SAMPLE },
  ])('reports an event without its $part', async ({ part, path }) => {
    expect(incompleteEvents()).toEqual([]);
    await rename(path, 'aside');
    expect(incompleteEvents()).toEqual([`girl-schedule-changed has no ${part} (${path})`]);
    await rename('aside', path);
  });

  test('reports a sample without a folder, unless it is the sample of another event', async () => {
    await writeFile('events/example-unknown.json', await readFile(SAMPLE));
    expect(incompleteEvents()).toEqual([
      'example-unknown has no definition (lambda/events/example-unknown/event.ts), no consumer (lambda/events/example-unknown/consumer.ts)',
      'events/example-unknown.json is of girl.schedule_changed, whose files are named girl-schedule-changed',
    ]);
    await rm('events/example-unknown.json');
  });

  test('lists each folder with the name of its event, in the order of the samples', async () => {
    const { file, text } = eventIndex();
    expect({ file, text }).toEqual({ file: EVENT_INDEX, text: await readFile(EVENT_INDEX, 'utf8') });
    const sample = await readFile(SAMPLE, 'utf8');
    await writeFile(SAMPLE, sample.replace('2026-', '2027-'));
    expect(eventIndex().text).toMatch(/ {2}'girl\.schedule_changed': girlScheduleChanged,\n} as const;\n$/);
    await writeFile(SAMPLE, sample);
  });
});
