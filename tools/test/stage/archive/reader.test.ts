import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { S3Client } from '@aws-sdk/client-s3';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { archiveLine } from '../../../../lambda/archive/archive.ts';
import type { ArchiveRecord } from '../../../../lambda/archive/record-schema.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import type { TestAws } from '../../../../test/support/test-aws.ts';
import { downloadObject } from '../../../stage/archive/archive-object.ts';
import { countFailedObjects, listArchive, readArchive } from '../../../stage/archive/read-archive.ts';
import { matches, type RecordFilter } from '../../../stage/archive/record-filter.ts';
import { findRecords, readRecords } from '../../../stage/history/records.ts';
import type { ProgressStep } from '../../../terminal/text.ts';
import { type Operator, replied, startedOperator } from '../queues/support.ts';
import { archived, emptyArchive, objectKey, putObject, putRecords } from './support.ts';

const started = startedOperator();
let aws: TestAws;
let operator: Operator;

beforeAll(() => {
  ({ aws, operator } = started);
});
afterEach(async () => emptyArchive(operator.stack));

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
