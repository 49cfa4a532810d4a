import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readCloudAssembly } from '../../../local/template/cloud-assembly.ts';
import { allCommands } from '../../../tools/cli/commands/generate.ts';
import { isUpToDate } from '../../../tools/generate/derived-file.ts';
import { derivedFiles } from '../../../tools/generate/derived-files.ts';
import { EVENT_INDEX, eventIndex, incompleteEvents } from '../../../tools/generate/event-index.ts';
import { fillPlace } from '../../../tools/generate/marked-section.ts';
import { assembliesIn, derivedFrom } from '../../../tools/generate/stages.ts';
import { templateDifferences, templateSnapshot } from '../../../tools/generate/template-snapshot.ts';
import { stageAssembly } from '../../lib/stage-assembly.ts';

test('every generated file is up to date', async () => {
  const folders = new Map(
    await Promise.all(derivedFrom.map(async (stage) => [stage, await stageAssembly(stage)] as const)),
  );
  const assemblies = assembliesIn((stage) => folders.get(stage) ?? '');
  const outdated = derivedFiles(assemblies, await allCommands())
    .filter((file) => !isUpToDate(file))
    .map(({ file }) => file);
  if (outdated.length > 0) {
    throw new Error(
      `Out of date: ${outdated.join(', ')}. Bring them up to date, and look at what changes: npm run generate`,
    );
  }
});

test('a document must have a place for a generated part', () => {
  expect(() => fillPlace('<!-- cost -->\n<!-- /cost -->', 'scale', '')).toThrow(
    'The document has no <!-- scale -->',
  );
});

describe('the snapshot of a template', () => {
  let folder: string;
  let prod: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-snapshot-'));
    prod = await stageAssembly('prod');
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** The assembly of prod with another text in its template. */
  async function changed(pattern: RegExp, text: string): Promise<string> {
    const name = `${readCloudAssembly(prod).name}.template.json`;
    for (const file of [name, 'manifest.json', 'PartnerWebhooks-prod.assets.json'])
      await cp(join(prod, file), join(folder, file));
    const template = await readFile(join(prod, name), 'utf8');
    expect(template).toMatch(pattern);
    await writeFile(join(folder, name), template.replace(pattern, text));
    return folder;
  }

  test.each([
    { what: 'the code of a function', pattern: /"[0-9a-f]{64}\.zip"/, text: `"${'0'.repeat(64)}.zip"` },
    {
      what: 'the version of a function',
      pattern: /(CurrentVersion[0-9A-F]{8})[0-9a-f]{32}/g,
      text: `$1${'0'.repeat(32)}`,
    },
  ])('does not change with $what', async ({ pattern, text }) => {
    expect(templateSnapshot(await changed(pattern, text))).toBe(templateSnapshot(prod));
  });

  test.each([
    {
      what: 'a value',
      pattern: /"MemorySize": 512/,
      text: '"MemorySize": 513',
      line: / MemorySize 512 → 513\n/,
    },
    { what: 'a missing value', pattern: /"MemorySize": 512,/, text: '', line: / MemorySize is missing\n/ },
    { what: 'a new value', pattern: /"MemorySize": 512,/, text: '$&"New": 1,', line: / New → 1\n/ },
    {
      what: 'the name of another stage',
      pattern: /PartnerWebhooks-prod/,
      text: 'PartnerWebhooks-dev',
      line: /-dev/,
    },
  ])('shows $what as a difference between two stages', async ({ pattern, text, line }) => {
    expect(templateDifferences({ from: prod, to: await changed(pattern, text) })).toMatch(line);
  });
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
