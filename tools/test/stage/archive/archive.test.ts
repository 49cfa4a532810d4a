import { readFile } from 'node:fs/promises';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { archiveLine } from '../../../../lambda/archive/archive.ts';
import type { ArchiveRecord } from '../../../../lambda/archive/record-schema.ts';
import type { TestAws } from '../../../../test/support/test-aws.ts';
import { type CountGroup, exportRecords } from '../../../stage/archive/export-records.ts';
import type { RecordFilter } from '../../../stage/archive/record-filter.ts';
import { Project } from '../../commands/project.ts';
import { type Operator, refusalOf, startedOperator } from '../queues/support.ts';
import { archived, emptyArchive, objectKey, putObject, putRecords } from './support.ts';

const started = startedOperator();
let aws: TestAws;
let operator: Operator;

beforeAll(() => {
  ({ aws, operator } = started);
});
afterEach(() => emptyArchive(operator.stack));

test('a stage without an archive is refused', async () => {
  const { stack } = operator;
  const { ArchiveBucket: _, ...outputs } = stack.outputs;
  const operation = { ...operator.operation(), stack: stack.with({ outputs }) };
  const options = { payloads: false, countBy: undefined, csv: false, write: async () => {} };
  expect(await refusalOf(exportRecords(operation, {}, options))).toBe(
    `There is no archive in ${stack.title}: its setting archive.days is 0, or it was deployed by a version without archives`,
  );
});

describe('export', () => {
  interface Choices extends RecordFilter {
    readonly payloads?: boolean;
    readonly countBy?: readonly CountGroup[];
    readonly csv?: boolean;
    readonly abortAfter?: number;
  }

  async function exporting({ payloads = false, countBy, csv = false, abortAfter, ...filter }: Choices = {}) {
    const abort = new AbortController();
    const operation = operator.operation(abort.signal);
    const lines: string[] = [];
    const write = async (line: string) => {
      if (line === '') return;
      lines.push(line);
      if (lines.length === abortAfter) abort.abort();
    };
    const complete = await exportRecords(operation, filter, { payloads, countBy, csv, write });
    return { complete, lines, said: operation.said.join('\n') };
  }

  test('writes the matching records unchanged, by event, then by time', async () => {
    const at = (hour: string, more: Partial<ArchiveRecord> = {}) =>
      archived({ settledAt: `${hour}:30:00.000Z`, ...more });
    const girl = at('2026-02-01T00', { event: 'girl.created' });
    const [early, late] = [at('2026-01-31T09'), at('2026-01-31T10')];
    await putRecords(operator.stack, objectKey('a', 'shop.updated', '2026-01-31T10'), [late]);
    await putRecords(operator.stack, objectKey('a'), [early, at('2026-01-31T09', { outcome: 'Stale' })]);
    await putRecords(operator.stack, objectKey('a', 'girl.created'), [girl]);
    const { complete, lines, said } = await exporting({ outcomes: ['Processed'] });
    expect(complete).toBe(true);
    expect(lines).toEqual([girl, early, late].map(archiveLine));
    expect(said).toBe(`Exported 3 records of ${operator.stack.title}.`);
  });

  test('with payloads has the bytes of payloadKey, or says that they are gone; a search finds their text', async () => {
    const Bucket = aws.outputs.PayloadBucket;
    const bytes = Buffer.from('\uFEFF{"name":"Aiko"}');
    await operator.stack.s3.send(new PutObjectCommand({ Bucket, Key: 'shop.updated/a', Body: bytes }));
    const records = ['shop.updated/a', 'shop.updated/gone'].map((payloadKey) =>
      archived({ body: undefined, payloadKey }),
    );
    await putRecords(operator.stack, objectKey('a'), [...records, archived()]);
    const { complete, lines, said } = await exporting({ payloads: true });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { payloadKey: 'shop.updated/a', bodyBase64: bytes.toString('base64') },
      { unreadable: 'S3 no longer has it under shop.updated/gone' },
      { body: archived().body },
    ]);
    const missing = '1 record without the payload: see "unreadable".';
    expect({ complete, said }).toEqual({ complete: false, said: expect.stringContaining(missing) });
    expect(await exporting()).toMatchObject({
      complete: true,
      lines: [...records, archived()].map(archiveLine),
    });
    const searched = await exporting({ search: 'aiko' });
    expect(searched.lines).toEqual(records.slice(0, 1).map(archiveLine));
  });

  test('counts records and their different events by what is asked for; replays apart', async () => {
    const replay = { name: 'fix-names', mode: 'repair', notify: false } as const;
    const forgotten = archived({ forgottenAt: '2026-02-02T00:00:00.000Z', body: undefined });
    const stale = archived({ outcome: 'Stale', eventId: 'other', shopId: 'shop, "2"' });
    await putRecords(operator.stack, objectKey('a'), [archived(), forgotten, stale, archived({ replay })]);
    const user = archived({ event: 'user.updated', outcome: 'DeadLettered', shopId: undefined });
    await putRecords(operator.stack, objectKey('b', 'user.updated'), [user]);
    const { complete, lines, said } = await exporting({ countBy: ['event', 'outcome'] });
    expect({ complete, lines: lines.join('') }).toEqual({
      complete: true,
      lines:
        'EVENT         OUTCOME       RECORDS  EVENTS\n' +
        'shop.updated  Processed           2       1\n' +
        'shop.updated  Replayed            1       1\n' +
        'shop.updated  Stale               1       1\n' +
        'user.updated  DeadLettered        1       1\n',
    });
    expect(said).toBe(`Counted 5 records of ${operator.stack.title}.`);
    expect((await exporting({ countBy: ['shop', 'day'], csv: true })).lines.join('')).toBe(
      'shop,day,records,events\r\n' +
        ',2026-01-31,1,1\r\n' +
        'shop-1,2026-01-31,3,1\r\n' +
        '"shop, ""2""",2026-01-31,1,1\r\n',
    );
    const records = (await exporting({ events: ['user.updated'], csv: true })).lines;
    expect(records[0]).toMatch(
      /^eventId,event,shopId,receivedAt,.*,body,payloadKey,forgottenAt,bodyBase64,unreadable\r\n$/,
    );
    expect(records[1]).toContain(`,"${user.body?.replaceAll('"', '""')}",`);
  });

  test('of a window older than the archive says how long records are kept', async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000);
    await expect(exporting({ until: daysAgo(32) })).rejects.toThrow(
      /^No records settled before .* are left: .* keeps records for 30 days$/,
    );
    expect((await exporting({ since: daysAgo(29) })).said).toMatch(/^Exported 0 records/);
    const { said } = await exporting({ since: daysAgo(32) });
    expect(said).toMatch(/Records settled earlier have expired: .* keeps records for 30 days\./);
  });

  test('names and skips a damaged object, counts what Firehose could not deliver, and is incomplete', async () => {
    const damaged = objectKey('damaged', 'girl.created');
    await putObject(operator.stack, damaged, Buffer.from('no gzip'));
    await putObject(operator.stack, 'event=shop.updated/failed=processing-failed/a', Buffer.from('{}'));
    await putRecords(operator.stack, objectKey('a'), [archived()]);
    const { complete, lines, said } = await exporting();
    expect({ complete, count: lines.length }).toEqual({ complete: false, count: 1 });
    expect(said).toContain(`${damaged}: not gzip`);
    expect(said).toContain('Not read: 1 object under failed=, which Firehose could not deliver.');
  });

  test('that is interrupted says how far it got', async () => {
    const records = [archived(), archived(), archived()];
    for (const name of ['a', 'b']) await putRecords(operator.stack, objectKey(name), records);
    const { complete, lines, said } = await exporting({ abortAfter: 4 });
    expect({ complete, count: lines.length, said }).toEqual({
      complete: false,
      count: 4,
      said: 'Interrupted after 1 of 2 objects and 4 records: the export is incomplete.',
    });
  });
});

describe('from the command line', () => {
  let project: Project;
  beforeAll(async () => {
    project = await Project.create();
  });
  afterAll(() => project.remove());

  const RECORD = archived({ settledAt: new Date().toISOString() });
  const archive = (args: readonly string[], file = operator.outputsFile) =>
    project.run(['archive', ...args, '--outputs', file]);

  test('an export is written to a file', async () => {
    await putRecords(operator.stack, objectKey('a'), [RECORD]);
    const file = operator.path('shops.jsonl');
    expect(await archive(['export', 'shop.updated', '--output', file])).toEqual({
      code: 0,
      stdout: '',
      stderr: `Exported 1 record of ${operator.stack.title}.\n`,
    });
    expect(await readFile(file, 'utf8')).toBe(archiveLine(RECORD));
  });

  test('forget is confirmed by --yes', async () => {
    const body = JSON.stringify({
      event: 'user.updated',
      data: { user_id: 'user-7' },
      timestamp: '2026-01-31T09:00:00Z',
    });
    await putRecords(operator.stack, objectKey('a', 'user.updated'), [
      { ...RECORD, event: 'user.updated', body },
    ]);
    expect(await archive(['forget', '--user', 'user-7', '--yes'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^To remove: the payloads of 1 record in 1 object\n(.*\n)*Done\.\n/m),
    });
  });

  test.each([
    [['forget'], 'Name the person: --user <id> or --girl <id>'],
    [['forget', '--user', ''], "Option '--user <id>' argument '' is invalid. It must not be empty."],
    [
      ['forget', '--user', 'user-7'],
      'There is no terminal for the confirmation. Check with --dry-run, then use --yes',
    ],
    [
      ['export', '--id', '1234567'],
      "Option '--id <id>' argument '1234567' is invalid. At least 8 characters: a shorter id is ambiguous.",
    ],
  ])('%j is refused', async (args, line) => {
    expect(await archive(args)).toMatchObject({ stdout: '', stderr: `${line}\n` });
  });
});
