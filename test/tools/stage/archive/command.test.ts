import { readFile, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { archiveLine } from '../../../../lambda/archive/record.ts';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { Project } from '../../cli/commands/project.ts';
import { Operator } from '../queues/support.ts';
import { archived, objectKey, putObject, putRecords } from './support.ts';

const settledAt = new Date().toISOString();
const RECORD = archived({ settledAt });

let aws: TestAws;
let operator: Operator;
let project: Project;
/** Outputs of a stage without an archive. */
let bare: string;

beforeAll(async () => {
  aws = await startTestAws();
  operator = await Operator.create(aws);
  project = await Project.create();
  await putRecords(operator.stack, objectKey('a'), [RECORD]);
  bare = operator.path('bare.json');
  const { ArchiveBucket, ...outputs } = aws.outputs;
  await writeFile(bare, JSON.stringify({ 'PartnerWebhooks-test': outputs }));
});
afterAll(async () => {
  await project.remove();
  await operator.close();
  await aws.close();
});

const archive = (...args: string[]) => project.run(['archive', ...args, '--outputs', operator.outputsFile]);

describe('what it cannot do it says in one line, and exits with 1', () => {
  test.each([
    [[], 'Choose a subcommand: list, export, forget'],
    [['list'], 'The local stack is not running. Start it with: npm start'],
    [
      ['list', 'example.unknown'],
      `Command-argument value 'example.unknown' is invalid for argument 'events'. One of: ${eventNames.join(', ')}`,
    ],
    [
      ['export', '--outcome', 'Lost'],
      "Option '--outcome <outcome>' argument 'Lost' is invalid. One of: Processed, Stale, Duplicate, DeadLettered",
    ],
    [
      ['list', '--since', '2026-01-31', '--until', '2026-01-30'],
      '--until must be after --since: 2026-01-30T00:00:00.000Z is not after 2026-01-31T00:00:00.000Z',
    ],
    [
      ['list', '--id', '1234567'],
      "Option '--id <id>' argument '1234567' is invalid. At least 8 characters: a shorter id is ambiguous.",
    ],
    [['forget'], 'Say who: --user <id> or --girl <id>'],
    [['forget', '--user', ''], "Option '--user <id>' argument '' is invalid. It must not be empty."],
  ])('%j', async (args, line) => {
    expect(await project.run(['archive', ...args])).toEqual({ code: 1, stdout: '', stderr: `${line}\n` });
  });

  test.each([['list'], ['export'], ['forget', '--user', 'user-1', '--yes']])(
    '%s of a stage without an archive',
    async (...args) => {
      expect(await project.run(['archive', ...args, '--outputs', bare])).toEqual({
        code: 1,
        stdout: '',
        stderr: `There is no archive in the stack of ${bare}: its setting archive.days is 0, or it was deployed before there were archives\n`,
      });
    },
  );

  test('to forget where nobody can answer, before it searches anything', async () => {
    const body = JSON.stringify({
      event: 'user.updated',
      data: { user_id: 'user-7' },
      timestamp: '2026-01-31T09:00:00Z',
    });
    const record = archived({ event: 'user.updated', body, settledAt });
    await putRecords(operator.stack, objectKey('a', 'user.updated'), [record]);
    expect(await archive('forget', '--user', 'user-7')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'There is no terminal to confirm this in. Check it with --dry-run, then use --yes\n',
    });
    expect(await archive('forget', '--user', 'user-7', '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Done: 1 record without a payload now.\n'),
    });
  });
});

test('an export goes to a file that only its owner can read, and never over another', async () => {
  const file = operator.path('shops.jsonl');
  const args = ['export', 'shop.updated', '--output', file];
  expect(await archive(...args)).toMatchObject({
    code: 0,
    stdout: '',
    stderr: `Exported 1 record of the stack of ${operator.outputsFile}.\n`,
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).toBe(archiveLine(RECORD));
  expect(await archive(...args)).toMatchObject({ code: 1, stderr: `${file} exists already\n` });
  expect(await archive(...args.slice(0, -1), dirname(file))).toMatchObject({
    code: 1,
    stderr: `${dirname(file)} is a folder, not a file\n`,
  });
  const nowhere = operator.path('none/shops.jsonl');
  expect(await archive('export', '--output', nowhere)).toMatchObject({
    code: 1,
    stderr: `No folder ${operator.path('none')}\n`,
  });
});

test('an export to standard output has records there, and nothing else', async () => {
  expect(await archive('export', 'shop.updated')).toMatchObject({
    code: 0,
    stdout: archiveLine(RECORD),
  });
});

test('a damaged object makes the exit code 1', async () => {
  await putObject(operator.stack, objectKey('damaged', 'girl.created'), Buffer.from('no gzip'));
  expect(await archive('list')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('1 object is damaged'),
    stderr: '',
  });
});
