import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { archiveLine } from '../../../../lambda/archive/archive.ts';
import type { ArchiveRecord } from '../../../../lambda/archive/record-schema.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import type { TestAws } from '../../../../test/support/test-aws.ts';
import { downloadObject } from '../../../stage/archive/archive-object.ts';
import { type CountGroup, exportRecords } from '../../../stage/archive/export-records.ts';
import { countFailedObjects, listArchive, readArchive } from '../../../stage/archive/read-archive.ts';
import { matches, type RecordFilter } from '../../../stage/archive/record-filter.ts';
import { findRecords, readRecords } from '../../../stage/history/records.ts';
import type { ProgressStep } from '../../../terminal/progress.ts';
import { Project } from '../../commands/project.ts';
import { type Operator, refusalOf, replied, startedOperator } from '../queues/support.ts';
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

const s3Client = (endpoint = aws.operator.endpoint) =>
  new S3Client({ ...aws.operator, endpoint, forcePathStyle: true });

/** A client that calls back before each of its calls. */
const watchedClient = (before: (command: string, input: { Prefix?: string }) => unknown) =>
  replied(s3Client(), async (command, input) => {
    await before(command, input);
  });

type Options = NonNullable<Parameters<typeof readArchive>[1]>;

async function readAll(options: Options = {}, stage = operator.stack) {
  const reading = readArchive(stage, options);
  const objects: { key: string; count: number }[] = [];
  const records: ArchiveRecord[] = [];
  for await (const object of reading) {
    const read = [...object.records()];
    objects.push({ key: object.key, count: read.length });
    records.push(...read);
  }
  return { reading, objects, records };
}

const found = async (window: Parameters<typeof listArchive>[1], stage = operator.stack) =>
  (await Array.fromAsync(listArchive(stage, window))).map(({ key }) => key);

describe('the objects of a window', () => {
  const hours = ['30T00', '30T01', '30T23', '31T00', '31T01', '31T02', '31T03'].map(
    (hour) => `2026-01-${hour}`,
  );
  const keysOf = (event: string) => hours.map((hour) => objectKey('a', event, hour));
  const put = async (keys: readonly string[]) => {
    for (const key of keys) await putObject(operator.stack, key, Buffer.of(1, 2));
  };

  test('without a window are all, by event, then by time; those that Firehose could not deliver are counted apart', async () => {
    await put([...keysOf('user.updated'), ...keysOf('shop.updated'), objectKey('a', 'user.banned')]);
    await put(['event=shop.updated/failed=processing-failed/a', 'queries/a.csv']);
    expect(await found({})).toEqual([...keysOf('shop.updated'), ...keysOf('user.updated')]);
    expect(await found({ events: 'every' })).toContain(objectKey('a', 'user.banned'));
    expect(await found({ events: 'every' })).toHaveLength(2 * hours.length + 1);
    expect(await countFailedObjects(operator.stack, {})).toBe(1);
    expect(await countFailedObjects(operator.stack, { events: ['user.updated'] })).toBe(0);
  });

  test.each([
    { since: '2026-01-31T01:30:00Z', until: '2026-01-31T01:31:00Z', expected: hours.slice(1, 6) },
    { since: '2026-01-31T00:00:00Z', until: '2026-01-31T00:10:00Z', expected: hours.slice(0, 5) },
    { since: '2026-02-02T01:00:00Z', until: '2026-02-09T00:00:00Z', expected: [] },
  ])(
    'from $since to $until start a day before, because Firehose may be late, and end an hour after',
    async ({ since, until, expected }) => {
      await put(keysOf('shop.updated'));
      const window = { since: new Date(since), until: new Date(until) };
      expect(await found({ events: ['shop.updated'], ...window })).toEqual(
        expected.map((hour) => objectKey('a', 'shop.updated', hour)),
      );
    },
  );

  test('are listed in pages', async () => {
    await put(keysOf('girl.created'));
    const s3 = watchedClient((_, input) => Object.assign(input, { MaxKeys: 3 }));
    expect(await found({ events: ['girl.created'] }, operator.stack.with({ s3 }))).toEqual(
      keysOf('girl.created'),
    );
    s3.destroy();
  });
});

describe('reading', () => {
  const HOURS = ['2026-03-01T00', '2026-03-01T01', '2026-03-01T02'] as const;
  const WINDOW = { since: new Date('2026-03-01T12:00:00Z') };
  const users = HOURS.map((hour) => objectKey('a', 'user.updated', hour));
  const shops = HOURS.map((hour) => objectKey('a', 'shop.updated', hour));

  beforeEach(async () => {
    for (const key of [...users, ...shops]) await putRecords(operator.stack, key, [archived(), archived()]);
  });

  test.each([1, 8])('is by event, then by time, with progress and %d objects open', async (parallel) => {
    const shown: string[] = [];
    const progress = {
      show: ({ doing, done, total }: ProgressStep) => shown.push(`${doing} ${done}/${total}`),
      end: () => shown.push('end'),
    };
    const { objects, reading } = await readAll({ ...WINDOW, parallel, progress });
    expect(objects).toEqual([...shops, ...users].map((key) => ({ key, count: 2 })));
    expect(reading).toMatchObject({ objects: 6, records: 12, damaged: [] });
    expect(shown).toEqual([1, 2, 3, 4, 5, 6].map((done) => `Reading ${done}/6`).concat('end'));
  });

  test.each([1, 8])('that is aborted ends within its object, with %d open', async (parallel) => {
    const abort = new AbortController();
    const reading = readArchive(operator.stack, { ...WINDOW, parallel, signal: abort.signal });
    let count = 0;
    for await (const object of reading) {
      for (const _ of object.records()) {
        count += 1;
        if (count === 3) abort.abort();
      }
    }
    expect(count).toBe(3);
    expect(reading).toMatchObject({ objects: 1, records: 2 });
  });

  describe('for a history', () => {
    const byTime = [2, 1, 0].flatMap((hour) => [String(shops[hour]), String(users[hour])]);

    async function readNewest(options: Parameters<typeof readRecords>[1] = {}, stage = operator.stack) {
      const { read = new Map<string, string | undefined>() } = options;
      const counts = await readRecords(stage, { ...WINDOW, ...options, read }, () => {});
      return { keys: [...read.keys()], ...counts };
    }

    test('begins with the newest object of all events, and reads an object again only if it was rewritten', async () => {
      const newest = objectKey('b', 'shop.updated', HOURS[2]);
      await putRecords(operator.stack, newest, [archived()]);
      const read = new Map<string, string | undefined>();
      expect((await readNewest({ read })).keys).toEqual([newest, ...byTime]);
      await putRecords(operator.stack, String(users[1]), [archived()]);
      expect((await readNewest({ read })).objects).toBe(1);
    });

    test('ends with the object in which all is found', async () => {
      let objects = 0;
      const isEnough = () => {
        objects += 1;
        return objects === 2;
      };
      expect((await readNewest({ isEnough })).keys).toEqual(byTime.slice(0, 2));
    });

    test('that is aborted after two objects says how far back it was read', async () => {
      const abort = new AbortController();
      const progress = { show: ({ done }: ProgressStep) => void (done === 2 && abort.abort()), end() {} };
      const options = { ...WINDOW, signal: abort.signal, progress };
      const { source } = await findRecords(operator.stack, options, () => true);
      const hour = /date=[^/]+\/hour=\d+/.exec(String(byTime[2]))?.[0];
      expect(source.text).toBe(`Archive: 4 records read in 2 objects. It was read back to ${hour} only.`);
    });

    test('that is aborted during a download reads that object again next time', async () => {
      const abort = new AbortController();
      const s3 = watchedClient(async (command) => {
        if (command !== 'GetObjectCommand') return;
        await sleep(50);
        abort.abort();
      });
      const read = new Map<string, string | undefined>();
      const first = await readNewest({ read, signal: abort.signal }, operator.stack.with({ s3 }));
      s3.destroy();
      expect([first.records, (await readNewest({ read })).records]).toEqual([0, 12]);
    });
  });
});

describe('an object', () => {
  const KEY = objectKey('a', 'girl.deleted');
  const SOUND = objectKey('sound', 'girl.deleted', '2026-01-31T10');
  const lines = [1, 2, 3].map((number) => archiveLine(archived({ eventId: `event-${number}` })));
  const joined = (text: string) => gzipSync(`${lines[0]}${text}\n${lines[1]}${text}\n${lines[2]}`);
  // Random ids, so that the last compressed bytes belong to the end of the text.
  const many = Array.from({ length: 2_000 }, () => archiveLine(archived({ eventId: crypto.randomUUID() })));
  const whole = gzipSync(many.join(''));
  const notRecord = 'line 2 is not a record, the first of 2';

  test.each([
    ['with a line that is no JSON', joined('{"eventId":'), 3, notRecord],
    ['with another outcome', joined(JSON.stringify({ ...archived(), outcome: 'Lost' })), 3, notRecord],
    ['that is no gzip', Buffer.from(lines.join('')), 0, 'not gzip, or damaged from line NEXT on'],
    ['that is cut off', whole.subarray(0, whole.length / 2), expect.any(Number), 'cut off from line NEXT on'],
    [
      'of joined gzip members',
      Buffer.concat([gzipSync(`${lines[0]}`), gzipSync(`${lines[1]}`)]),
      2,
      undefined,
    ],
  ])(
    '%s is read up to its damage, which is named, and the next object is read',
    async (_, bytes, read, damage) => {
      await putObject(operator.stack, KEY, bytes);
      await putRecords(operator.stack, SOUND, [archived()]);
      const { objects, reading } = await readAll();
      expect(objects).toEqual([
        { key: KEY, count: read },
        { key: SOUND, count: 1 },
      ]);
      const message = `${KEY}: ${damage?.replace('NEXT', String(Number(objects[0]?.count) + 1))}`;
      expect(reading.damaged).toEqual(damage === undefined ? [] : [message]);
    },
  );

  test('of an older version lacks fields, and one of a later version keeps additional ones', async () => {
    const { eventId, event, receivedAt, outcome, attempt, settledAt } = archived();
    const older = { eventId, event, receivedAt, outcome, attempt, settledAt };
    const later = { ...archived(), added: [1] };
    await putRecords(operator.stack, KEY, [older, later]);
    expect((await readAll()).records).toEqual([older, later]);
  });

  test('that expires after it was listed has no records', async () => {
    await putRecords(operator.stack, KEY, [archived()]);
    const s3 = watchedClient((command) =>
      command === 'GetObjectCommand' ? emptyArchive(operator.stack) : undefined,
    );
    const { records, reading } = await readAll({}, operator.stack.with({ s3 }));
    s3.destroy();
    expect(records).toEqual([]);
    expect(reading).toMatchObject({ objects: 1, records: 0, damaged: [] });
  });

  test('whose connection is lost is requested again, three times at most', async () => {
    let [requests, losses] = [0, 2];
    const server = createServer((_, response) => {
      requests += 1;
      response.writeHead(200, { 'content-length': whole.length });
      if (requests > losses) response.end(whole);
      else response.write(whole.subarray(0, 10), () => response.destroy());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const s3 = s3Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const download = () => downloadObject(operator.stack.with({ s3 }), 'a');
    expect((await download())?.bytes).toHaveLength(whole.length);
    [requests, losses] = [0, 3];
    await expect(download()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(requests).toBe(3);
    s3.destroy();
    server.closeAllConnections();
    server.close();
  });
});

describe('a filter', () => {
  const record = archived({ eventId: 'abcdef0123456789', requestId: 'request-1' });
  const settledAt = new Date(record.settledAt);
  const later = new Date(settledAt.getTime() + 1);
  const shop = 's'.repeat(2_049);
  const long = archived({ shopId: `sha256:${sha256Hex(shop)}` });

  test.each<[RecordFilter, boolean, ArchiveRecord?]>([
    [{}, true],
    [{ events: ['girl.created', 'shop.updated'] }, true],
    [{ events: ['girl.created'] }, false],
    [{ since: settledAt }, true],
    [{ since: later }, false],
    [{ until: later }, true],
    [{ until: settledAt }, false],
    [{ shop: 'shop-1' }, true],
    [{ shop: 'shop' }, false],
    [{ ids: ['none', 'abcdef01'] }, true],
    [{ ids: ['request'] }, true],
    [{ ids: ['none', 'request-11'] }, false],
    [{ outcomes: ['Stale', 'Processed'] }, true],
    [{ outcomes: ['Stale'] }, false],
    // An id that is too long for a key is stored as its hash.
    [{ shop }, true, long],
    [{ shop: long.shopId }, true, long],
    [{ shop: `${shop}s` }, false, long],
  ])('number %#', (filter, expected, of = record) => {
    expect(matches(filter, of)).toBe(expected);
  });
});
