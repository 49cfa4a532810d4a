import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type ArchiveRecord, archiveLine } from '../../../../lambda/archive/record.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import type { TestAws } from '../../../../test/support/test-aws.ts';
import { ArchiveObject } from '../../../stage/archive/archive-object.ts';
import { countFailedObjects, listArchive, readArchive } from '../../../stage/archive/read-archive.ts';
import { matches, requireWindow } from '../../../stage/archive/record-filter.ts';
import { readRecords } from '../../../stage/history/records.ts';
import type { ProgressStep } from '../../../terminal/block.ts';
import { type Operator, replied, startedOperator } from '../queues/support.ts';
import { all, archived, emptyArchive, objectKey, putObject, putRecords } from './support.ts';

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
const watchedClient = (before: (command: string, input: { Prefix?: string; MaxKeys?: number }) => unknown) =>
  replied(s3Client(), async (command, input) => {
    await before(command, input);
  });

type Options = NonNullable<Parameters<typeof readArchive>[1]>;

async function readAll(options: Options = {}, stage = operator.stack) {
  const reading = readArchive(stage, options);
  const objects: { key: string; lines: number[] }[] = [];
  const records: ArchiveRecord[] = [];
  for await (const object of reading) {
    const read = await all(object.records());
    objects.push({ key: object.key, lines: read.map(({ line }) => line) });
    records.push(...read.map(({ record }) => record));
  }
  return { reading, objects, records };
}

const found = async (window: Parameters<typeof listArchive>[1], stage = operator.stack) =>
  (await all(listArchive(stage, window))).map(({ key }) => key);

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

  test.each([1, 8])('is by event, then by time, with %d objects open at a time', async (parallel) => {
    const { objects, reading } = await readAll({ ...WINDOW, parallel });
    expect(objects).toEqual([...shops, ...users].map((key) => ({ key, lines: [1, 2] })));
    expect(reading).toMatchObject({ objects: 6, records: 12, damaged: [] });
  });

  test('requests the next objects before the first one is read', async () => {
    let asked = 0;
    const s3 = watchedClient((command) => {
      if (command === 'GetObjectCommand') asked += 1;
    });
    for await (const _ of readArchive(operator.stack.with({ s3 }), { ...WINDOW, parallel: 4 })) break;
    s3.destroy();
    expect(asked).toBe(4);
  });

  test('has at most 32 MiB of objects open', async () => {
    const requested: string[] = [];
    const Contents = shops.map((Key) => ({ Key, Size: 12 * 1024 * 1024 }));
    const s3 = replied(s3Client(), (command, { Key }) => {
      if (command === 'ListObjectsV2Command') return { Contents };
      requested.push(Key);
      return undefined;
    });
    const options: Options = { ...WINDOW, events: ['shop.updated'] };
    for await (const _ of readArchive(operator.stack.with({ s3 }), options)) break;
    s3.destroy();
    expect(requested).toEqual(shops.slice(0, 2));
  });

  test.each([1, 8])('that is aborted ends within its object, with %d open', async (parallel) => {
    const abort = new AbortController();
    const reading = readArchive(operator.stack, { ...WINDOW, parallel, signal: abort.signal });
    const lines: number[] = [];
    for await (const object of reading) {
      for await (const { line } of object.records()) {
        lines.push(line);
        if (lines.length === 3) abort.abort();
      }
    }
    expect(lines).toEqual([1, 2, 1]);
    expect(reading).toMatchObject({ objects: 1, records: 2 });
  });

  test('that is abandoned counts what was read', async () => {
    const reading = readArchive(operator.stack, WINDOW);
    for await (const object of reading) {
      await all(object.records());
      break;
    }
    expect(reading).toMatchObject({ objects: 1, records: 2 });
  });

  test('reports its progress and the total', async () => {
    const shown: string[] = [];
    const progress = {
      show: ({ doing, done, total, unit }: ProgressStep) => shown.push(`${doing} ${done}/${total} ${unit}`),
      end: () => shown.push('end'),
    };
    await readAll({ ...WINDOW, events: ['user.updated'], progress, doing: 'Searching' });
    expect(shown).toEqual([1, 2, 3].map((done) => `Searching ${done}/3 objects`).concat('end'));
  });

  test('fails like S3', async () => {
    const stage = operator.stack.with({ archiveBucket: 'no-such-bucket' });
    await expect(readAll({}, stage)).rejects.toMatchObject({ name: 'NoSuchBucket' });
  });

  describe('for a history', () => {
    const byTime = [2, 1, 0].flatMap((hour) => [String(shops[hour]), String(users[hour])]);

    async function readNewest(options: Parameters<typeof readRecords>[1] = {}, stage = operator.stack) {
      const { read = new Map<string, string | undefined>() } = options;
      const counts = await readRecords(stage, { ...WINDOW, ...options, read }, () => {});
      return { keys: [...read.keys()], ...counts };
    }

    test('begins with the newest object of all events', async () => {
      const newest = objectKey('b', 'shop.updated', HOURS[2]);
      await putRecords(operator.stack, newest, [archived()]);
      const { keys, unread } = await readNewest();
      expect(keys).toEqual([newest, ...byTime]);
      expect(unread).toBeUndefined();
    });

    test('up to a limit of objects or of bytes names the newest unread object', async () => {
      const objects = await all(listArchive(operator.stack, WINDOW));
      const half = objects.reduce((sum, { bytes }) => sum + bytes, 0) / 2;
      const noLimits = { objects: 6, bytes: Number.POSITIVE_INFINITY };
      for (const limit of [{ objects: 2 }, { bytes: half - 1 }]) {
        const { keys, unread } = await readNewest({ limits: { ...noLimits, ...limit } });
        expect(keys).toEqual(byTime.slice(0, 2));
        expect(unread).toBe(byTime[2]);
      }
    });

    test('lists nothing more after it is aborted', async () => {
      const abort = new AbortController();
      const listed: unknown[] = [];
      const s3 = watchedClient((_, { Prefix }) => {
        listed.push(Prefix);
        abort.abort();
      });
      const until = new Date('2026-03-01T15:30:00Z');
      const { keys, unread } = await readNewest(
        { until, signal: abort.signal, events: ['shop.updated', 'user.updated'] },
        operator.stack.with({ s3 }),
      );
      s3.destroy();
      expect(keys).toEqual([]);
      expect(listed).toEqual(['event=shop.updated/date=']);
      expect(unread).toContain('/date=2026-03-01/hour=15');
    });

    test('reads what it has read again only if it was rewritten', async () => {
      const read = new Map<string, string | undefined>();
      await readNewest({ read });
      await putRecords(operator.stack, String(users[1]), [archived()]);
      expect((await readNewest({ read })).objects).toBe(1);
    });

    test('that is aborted during a download reads that object again next time', async () => {
      const abort = new AbortController();
      const s3 = watchedClient(async (command) => {
        if (command !== 'GetObjectCommand') return;
        await sleep(50);
        abort.abort();
      });
      const read = new Map<string, string | undefined>();
      const counts: number[] = [];
      for (const stage of [operator.stack.with({ s3 }), operator.stack]) {
        const signal = counts.length === 0 ? abort.signal : undefined;
        const { records } = await readNewest({ read, signal }, stage);
        counts.push(records);
      }
      s3.destroy();
      expect(counts).toEqual([0, 12]);
    });
  });
});

describe('an object', () => {
  const KEY = objectKey('a', 'girl.deleted');

  test('of an older version lacks fields, and one of a later version keeps additional ones', async () => {
    const { eventId, event, receivedAt, outcome, attempt, settledAt } = archived();
    const older = { eventId, event, receivedAt, outcome, attempt, settledAt };
    const later = { ...archived(), added: [1] };
    await putRecords(operator.stack, KEY, [older, later]);
    expect((await readAll()).records).toEqual([older, later]);
  });

  test('of several gzip members, such as joined objects, is read completely', async () => {
    const member = gzipSync(archiveLine(archived()));
    await putObject(operator.stack, KEY, Buffer.concat([member, member]));
    const { objects, reading } = await readAll();
    expect(objects).toEqual([{ key: KEY, lines: [1, 2] }]);
    expect(reading.damaged).toEqual([]);
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
});

describe('a damaged object is named with its line, and other objects are read', () => {
  const KEY = objectKey('a', 'girl.deleted');
  const SOUND = objectKey('sound', 'girl.deleted', '2026-01-31T10');
  const lines = [1, 2, 3].map((number) => archiveLine(archived({ eventId: `event-${number}` })));

  /** Reads the damaged object, and an intact one after it. */
  async function readDamaged(bytes: Buffer) {
    await putObject(operator.stack, KEY, bytes);
    await putRecords(operator.stack, SOUND, [archived()]);
    const { objects, records, reading } = await readAll();
    expect(objects[1]).toEqual({ key: SOUND, lines: [1] });
    expect(reading).toMatchObject({ objects: 2, damaged: [{ name: 'DamagedObjectError', key: KEY }] });
    return {
      read: objects[0]?.lines,
      ids: records.slice(0, -1).map(({ eventId }) => eventId),
      damage: reading.damaged[0],
    };
  }

  test.each([
    { wrong: 'no JSON', text: '{"eventId":' },
    { wrong: 'an empty line', text: '' },
    { wrong: 'another outcome', text: JSON.stringify({ ...archived(), outcome: 'Lost' }) },
    { wrong: 'another event', text: JSON.stringify({ ...archived(), event: 'example.unknown' }) },
    { wrong: 'no time', text: JSON.stringify({ ...archived(), settledAt: 'yesterday' }) },
  ])('$wrong: the lines around it are returned', async ({ text }) => {
    const { read, damage } = await readDamaged(
      gzipSync(`${lines[0]}${text}\n${lines[1]}${text}\n${lines[2]}`),
    );
    expect(read).toEqual([1, 3, 5]);
    expect(damage).toMatchObject({ line: 2, message: `${KEY}: line 2 is not a record, the first of 2` });
  });

  test('truncated: the lines before are returned', async () => {
    // Random ids, so that the last compressed bytes belong to the end of the text.
    const many = Array.from({ length: 2_000 }, () => archived({ eventId: crypto.randomUUID() }));
    const bytes = gzipSync(many.map(archiveLine).join(''));
    const { ids, damage } = await readDamaged(bytes.subarray(0, bytes.length / 2));
    expect(ids.length).toBeGreaterThan(500);
    expect(ids).toEqual(many.slice(0, ids.length).map(({ eventId }) => eventId));
    const line = ids.length + 1;
    expect(damage).toMatchObject({ line, message: `${KEY}: cut off from line ${line} on` });
  });

  test('no gzip: nothing is returned', async () => {
    const { read, damage } = await readDamaged(Buffer.from(lines.join('')));
    expect(read).toEqual([]);
    expect(damage).toMatchObject({ line: 1, message: `${KEY}: not gzip, or damaged from line 1 on` });
  });
});

describe('an object whose connection is lost', () => {
  const bytes = gzipSync(archiveLine(archived()));
  let server: Server;
  let s3: S3Client;
  let requests = 0;
  /** Number of requests that lose their connection. */
  let losses = 0;

  beforeAll(async () => {
    server = createServer((_, response) => {
      requests += 1;
      response.writeHead(200, { 'content-length': bytes.length });
      if (requests > losses) response.end(bytes);
      else response.write(bytes.subarray(0, 10), () => response.destroy());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    s3 = s3Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterAll(() => {
    s3.destroy();
    server.closeAllConnections();
    server.close();
  });

  const read = (lost: number) => {
    [requests, losses] = [0, lost];
    const { signal } = new AbortController();
    return all(new ArchiveObject(operator.stack.with({ s3 }), { key: 'a', bytes: 0 }, signal).records());
  };

  test('is requested again, three times at most', async () => {
    expect(await read(2)).toEqual([{ line: 1, record: archived() }]);
    expect(requests).toBe(3);
    await expect(read(3)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(requests).toBe(3);
  });
});

describe('a filter', () => {
  const record = archived({ eventId: 'abcdef0123456789', requestId: 'request-1' });
  const settledAt = new Date(record.settledAt);
  const later = new Date(settledAt.getTime() + 1);

  test.each([
    {},
    { events: ['girl.created', 'shop.updated'] as const },
    { since: settledAt },
    { until: later },
    { shop: 'shop-1' },
    { ids: ['none', 'abcdef01'] },
    { ids: ['request'] },
    { outcomes: ['Stale', 'Processed'] as const },
  ])('%j matches the record', (filter) => {
    expect(matches(filter, record)).toBe(true);
  });

  test.each([
    { events: ['girl.created'] as const },
    { until: settledAt },
    { since: later },
    { shop: 'shop' },
    { ids: ['none', 'request-11'] },
    { outcomes: ['Stale'] as const },
  ])('%j does not match the record', (filter) => {
    expect(matches(filter, record)).toBe(false);
  });

  test('finds a shop whose id is too long for a key', () => {
    const shop = 's'.repeat(2_049);
    const long = archived({ shopId: `sha256:${sha256Hex(shop)}` });
    expect(matches({ shop }, long)).toBe(true);
    expect(matches({ shop: long.shopId }, long)).toBe(true);
    expect(matches({ shop: `${shop}s` }, long)).toBe(false);
  });

  test('refuses an empty or negative window', () => {
    const check = (until: Date) => () => requireWindow({ since: settledAt, until });
    expect(check(settledAt)).toThrow(/^--until must be after --since: /);
    expect(check(later)).not.toThrow();
  });
});
