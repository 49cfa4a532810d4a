import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip, gzipSync } from 'node:zlib';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type ArchiveRecord, archiveLine } from '../../../../lambda/archive/record.ts';
import type { Step } from '../../../../tools/cli/terminal/block.ts';
import { ArchiveObject } from '../../../../tools/stage/archive/object.ts';
import { countFailedObjects, listArchive, readArchive } from '../../../../tools/stage/archive/reader.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { Operator } from '../queues/support.ts';
import { all, archived, deleteObjects, objectKey, putObject, putRecords } from './support.ts';

let aws: TestAws;
let operator: Operator;

beforeAll(async () => {
  aws = await startTestAws();
  operator = await Operator.create(aws);
});
afterAll(async () => {
  await operator.close();
  await aws.close();
});

type Options = NonNullable<Parameters<typeof readArchive>[1]>;

/** Reads some objects, and says what was read of each and what the reading says of it. */
async function readAll({ keys, ...options }: Options & { readonly keys?: readonly string[] } = {}) {
  const skip = (key: string) => keys !== undefined && !keys.includes(key);
  const reading = readArchive(operator.stack, { skip, ...options });
  const read: [key: string, ...lines: number[]][] = [];
  const records: ArchiveRecord[] = [];
  for await (const object of reading) {
    const lines: number[] = [];
    for await (const { line, record } of object.records()) {
      lines.push(line);
      records.push(record);
    }
    read.push([object.key, ...lines]);
  }
  return { reading, read, records };
}

describe('the objects of a window', () => {
  const hours = [
    '2026-01-30T00',
    '2026-01-30T01',
    '2026-01-30T23',
    '2026-01-31T00',
    '2026-01-31T01',
    '2026-01-31T02',
    '2026-01-31T03',
    '2026-02-01T00',
  ];

  beforeAll(async () => {
    for (const event of ['user.updated', 'shop.updated']) {
      for (const hour of hours) await putObject(operator.stack, objectKey('a', event, hour), Buffer.of(1, 2));
    }
    await putObject(operator.stack, 'event=shop.updated/failed=processing-failed/a', Buffer.of());
    await putObject(operator.stack, 'queries/a.csv', Buffer.of());
  });

  const found = async (filter: Parameters<typeof listArchive>[1]) =>
    (await all(listArchive(operator.stack, filter))).map(({ key }) => key);

  test('without one are all, by event, then by time, and no results of queries or failures', async () => {
    expect(await found({})).toEqual(
      ['shop.updated', 'user.updated'].flatMap((event) => hours.map((hour) => objectKey('a', event, hour))),
    );
  });

  test('have their size', async () => {
    expect(await all(listArchive(operator.stack, { events: ['user.updated'] }))).toContainEqual({
      key: objectKey('a', 'user.updated', '2026-01-31T00'),
      bytes: 2,
    });
  });

  test('of every event are also those of an event that has left the catalogue', async () => {
    const key = objectKey('a', 'user.banned');
    await putObject(operator.stack, key, Buffer.of());
    const every = await found({ events: 'every' });
    expect(every).toContain(key);
    expect(every.filter((other) => other !== key)).toEqual(await found({}));
    await deleteObjects(operator.stack, [{ key }]);
  });

  test.each([
    ['2026-01-31T01:30:00Z', '2026-01-31T01:31:00Z', hours.slice(1, 6)],
    ['2026-01-31T00:00:00Z', '2026-01-31T00:10:00Z', hours.slice(0, 5)],
    ['2026-02-01T02:00:00Z', '2026-02-01T20:00:00Z', hours.slice(5)],
    ['2026-02-02T01:00:00Z', '2026-02-09T00:00:00Z', []],
  ])(
    'from %s to %s begin a day before, as Firehose may lag, and end an hour after it',
    async (since, until, expected) => {
      expect(
        await found({ events: ['shop.updated'], since: new Date(since), until: new Date(until) }),
      ).toEqual(expected.map((hour) => objectKey('a', 'shop.updated', hour)));
    },
  );

  test('are listed page by page', async () => {
    const names = Array.from({ length: 1_001 }, (_, index) => String(index).padStart(4, '0'));
    await Promise.all(
      names.map((name) => putObject(operator.stack, objectKey(name, 'girl.created'), Buffer.of())),
    );
    expect(await found({ events: ['girl.created'] })).toEqual(
      names.map((name) => objectKey(name, 'girl.created')),
    );
  });

  test('are apart from what Firehose could not deliver, which is counted', async () => {
    expect(await countFailedObjects(operator.stack, {})).toBe(1);
    expect(await countFailedObjects(operator.stack, { events: ['user.updated'] })).toBe(0);
  });
});

/** A client that calls back before each GetObject. */
function watchedClient(beforeGet: () => unknown): S3Client {
  const client = new S3Client({ ...aws.operator, forcePathStyle: true });
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName === 'GetObjectCommand') await beforeGet();
        return next(args);
      },
    { step: 'initialize' },
  );
  return client;
}

describe('a reading', () => {
  const HOURS = ['2026-03-01T00', '2026-03-01T01', '2026-03-01T02'] as const;
  const WINDOW = { since: new Date('2026-03-01T12:00:00Z') };
  const users = HOURS.map((hour) => objectKey('a', 'user.updated', hour));
  const shops = HOURS.map((hour) => objectKey('a', 'shop.updated', hour));
  let bytes = 0;

  beforeAll(async () => {
    for (const key of [...users, ...shops]) {
      await putRecords(operator.stack, key, [archived(), archived()]);
    }
    for await (const object of listArchive(operator.stack, WINDOW)) bytes += object.bytes;
  });
  afterAll(async () =>
    deleteObjects(
      operator.stack,
      [...users, ...shops].map((key) => ({ key })),
    ),
  );

  const keysOf = (read: readonly (readonly [string, ...number[]])[]) => read.map(([key]) => key);

  test.each([1, 2, 8])('by event, then by time, with %d open at a time', async (parallel) => {
    const { read, reading } = await readAll({ ...WINDOW, parallel });
    expect(read).toEqual([...shops, ...users].map((key) => [key, 1, 2]));
    expect(reading).toMatchObject({ objects: 6, records: 12, bytes, damaged: [], unread: undefined });
  });

  test('asks for the next objects before the first one is read', async () => {
    let asked = 0;
    const s3 = watchedClient(() => {
      asked += 1;
    });
    for await (const _ of readArchive(operator.stack.with({ s3 }), { ...WINDOW, parallel: 4 })) break;
    s3.destroy();
    expect(asked).toBe(4);
  });

  test('the newest hour first, for all events together', async () => {
    const { read, reading } = await readAll({ ...WINDOW, order: 'newest-first' });
    expect(keysOf(read)).toEqual([2, 1, 0].flatMap((hour) => [shops[hour], users[hour]]));
    expect(reading.total).toBe(6);
  });

  test('the newest hour first, that is aborted while objects are listed, lists no more', async () => {
    const abort = new AbortController();
    const listed: unknown[] = [];
    const s3 = new S3Client({ ...aws.operator, forcePathStyle: true });
    s3.middlewareStack.add((next) => (args) => {
      listed.push((args.input as { Prefix?: string }).Prefix);
      abort.abort();
      return next(args);
    });
    const until = new Date('2026-03-01T15:30:00Z');
    const window = { ...WINDOW, until, events: ['shop.updated', 'user.updated'] as const };
    const reading = readArchive(operator.stack.with({ s3 }), {
      ...window,
      order: 'newest-first',
      signal: abort.signal,
    });
    expect(await all(reading)).toEqual([]);
    s3.destroy();
    expect(listed).toEqual(['event=shop.updated/date=']);
    expect(reading.unread?.key).toContain('/date=2026-03-01/hour=15');
  });

  test('without the objects that are skipped', async () => {
    const { read, reading } = await readAll({ ...WINDOW, skip: (key) => !users.includes(key) });
    expect(keysOf(read)).toEqual(users);
    expect(reading).toMatchObject({ objects: 3, unread: undefined });
  });

  test.each([
    ['objects', { objects: 2, bytes: Number.POSITIVE_INFINITY }],
    ['bytes', () => ({ objects: 6, bytes: Math.floor(bytes / 2) - 1 })],
  ])('up to a limit of %s names the first object that is left unread', async (_name, given) => {
    const limits = typeof given === 'function' ? given() : given;
    const { read, reading } = await readAll({ ...WINDOW, limits });
    expect(keysOf(read)).toEqual(shops.slice(0, 2));
    expect(reading).toMatchObject({ objects: 2, unread: { key: shops[2] } });
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
    expect(reading).toMatchObject({ objects: 1, records: 2, unread: { key: shops[1] } });
  });

  test('that was aborted before it began reads nothing', async () => {
    const { read, reading } = await readAll({ ...WINDOW, signal: AbortSignal.abort() });
    expect(read).toEqual([]);
    expect(reading).toMatchObject({ objects: 0, unread: { key: shops[0] } });
  });

  test('that nobody continues counts what was read', async () => {
    const reading = readArchive(operator.stack, WINDOW);
    for await (const object of reading) {
      await all(object.records());
      break;
    }
    expect(reading).toMatchObject({ objects: 1, records: 2 });
  });

  test('shows how far it has come, of how many', async () => {
    const shown: string[] = [];
    const progress = {
      show: ({ doing, done, total, unit }: Step) => shown.push(`${doing} ${done}/${total} ${unit}`),
      end: () => shown.push('end'),
    };
    await readAll({ ...WINDOW, events: ['user.updated'], progress, doing: 'Searching' });
    expect(shown).toEqual([1, 2, 3].map((done) => `Searching ${done}/3 objects`).concat('end'));
  });

  test('fails as S3 does', async () => {
    const stage = operator.stack.with({ archiveBucket: 'no-such-bucket' });
    await expect(all(readArchive(stage))).rejects.toMatchObject({ name: 'NoSuchBucket' });
  });
});

describe('an object', () => {
  const KEY = objectKey('sound', 'girl.deleted');
  afterEach(() => deleteObjects(operator.stack, [{ key: KEY }]));

  test('is read record by record', async () => {
    await putRecords(operator.stack, KEY, [archived(), archived({ shopId: 'shop-2' })]);
    const { records } = await readAll({ keys: [KEY] });
    expect(records).toEqual([archived(), archived({ shopId: 'shop-2' })]);
  });

  test('of an older version lacks fields, and one of a later version keeps what that added', async () => {
    const { eventId, event, receivedAt, outcome, attempt, settledAt } = archived();
    const older = { eventId, event, receivedAt, outcome, attempt, settledAt };
    const later = { ...archived(), added: [1] };
    await putRecords(operator.stack, KEY, [older, later]);
    expect((await readAll({ keys: [KEY] })).records).toEqual([older, later]);
  });

  test('of several gzip members, such as joined objects, is read to its end', async () => {
    const member = gzipSync(archiveLine(archived()));
    await putObject(operator.stack, KEY, Buffer.concat([member, member]));
    const { read, reading } = await readAll({ keys: [KEY] });
    expect(read).toEqual([[KEY, 1, 2]]);
    expect(reading.damaged).toEqual([]);
  });

  test('that expires after it was listed has no records', async () => {
    await putRecords(operator.stack, KEY, [archived()]);
    const s3 = watchedClient(() => deleteObjects(operator.stack, [{ key: KEY }]));
    const reading = readArchive(operator.stack.with({ s3 }), { skip: (key) => key !== KEY });
    for await (const object of reading) expect(await all(object.records())).toEqual([]);
    expect(reading).toMatchObject({ objects: 1, records: 0, damaged: [] });
    s3.destroy();
  });
});

describe('a damaged object is named with its line, and ends nothing else', () => {
  const KEY = objectKey('damaged', 'girl.deleted');
  const SOUND = objectKey('sound', 'girl.deleted', '2026-01-31T10');
  const records = [1, 2, 3].map((number) => archived({ eventId: `event-${number}` }));
  const lines = records.map(archiveLine);

  beforeAll(() => putRecords(operator.stack, SOUND, [archived()]));
  afterAll(() => deleteObjects(operator.stack, [{ key: KEY }, { key: SOUND }]));

  /** Reads the damaged object, and a sound one behind it. */
  async function readDamaged(bytes: Buffer) {
    await putObject(operator.stack, KEY, bytes);
    const { read, records, reading } = await readAll({ keys: [KEY, SOUND] });
    expect(read.at(-1)).toEqual([SOUND, 1]);
    expect(reading).toMatchObject({ objects: 2, damaged: [{ name: 'DamagedObjectError', key: KEY }] });
    const [damage] = reading.damaged;
    return { lines: read[0]?.slice(1), ids: records.slice(0, -1).map(({ eventId }) => eventId), damage };
  }

  test.each([
    ['no JSON', '{"eventId":'],
    ['an empty line', ''],
    ['another outcome', JSON.stringify({ ...archived(), outcome: 'Lost' })],
    ['another event', JSON.stringify({ ...archived(), event: 'example.unknown' })],
    ['no time', JSON.stringify({ ...archived(), settledAt: 'yesterday' })],
  ])('%s: the lines around it are delivered', async (_name, wrong) => {
    const text = `${lines[0]}${wrong}\n${lines[1]}${wrong}\n${lines[2]}`;
    const { lines: read, damage } = await readDamaged(gzipSync(text));
    expect(read).toEqual([1, 3, 5]);
    expect(damage).toMatchObject({ line: 2, message: `${KEY}: line 2 is no record, the first of 2` });
  });

  test('cut off: what stands before is delivered', async () => {
    // Without a pattern, so that the end of the compressed bytes is the end of the text.
    const many = Array.from({ length: 2_000 }, () => archived({ eventId: crypto.randomUUID() }));
    const bytes = gzipSync(many.map(archiveLine).join(''));
    const { ids, damage } = await readDamaged(bytes.subarray(0, bytes.length / 2));
    expect(ids.length).toBeGreaterThan(500);
    expect(ids).toEqual(many.slice(0, ids.length).map(({ eventId }) => eventId));
    const line = ids.length + 1;
    expect(damage).toMatchObject({ line, message: `${KEY}: cut off from line ${line} on` });
  });

  test('no gzip', async () => {
    const { lines: read, damage } = await readDamaged(Buffer.from(lines.join('')));
    expect(read).toEqual([]);
    expect(damage).toMatchObject({ line: 1, message: `${KEY}: not gzip, or damaged from line 1 on` });
  });

  test('a line without an end: it is not collected', async () => {
    const { lines: read, damage } = await readDamaged(gzipSync(Buffer.alloc(50 * 1024 * 1024, 'a')));
    expect(read).toEqual([]);
    expect(damage).toMatchObject({ line: 1 });
  });
});

/** S3 for one bucket with one object, and counts the bytes that were sent. */
describe('a large object', () => {
  const COUNT = 50_000;
  let server: Server;
  let s3: S3Client;
  /** Bytes of records that the server has compressed for the answer under way. */
  let compressed = 0;
  let requests = 0;
  /** Resolved once the client or the server has closed the answer under way. */
  let closed: Promise<unknown>;
  /** Bytes after which the connection is lost, for each request in turn. */
  let losses: number[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url?.includes('list-type=2')) {
        response.setHeader('content-type', 'application/xml');
        response.end(
          '<ListBucketResult><Contents><Key>event=shop.updated/date=a</Key><Size>1</Size></Contents></ListBucketResult>',
        );
        return;
      }
      requests += 1;
      closed = once(response, 'close');
      compressed = 0;
      const loseAfter = losses.shift() ?? Number.POSITIVE_INFINITY;
      const gzip = createGzip({ level: 0 });
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      response.flushHeaders();
      gzip.pipe(response);
      const send = async () => {
        for (let number = 1; number <= COUNT; number += 1) {
          const line = archiveLine(archived({ eventId: String(number) }));
          compressed += line.length;
          if (compressed > loseAfter) response.destroy();
          if (response.destroyed) return;
          if (!gzip.write(line)) await once(gzip, 'drain');
        }
        gzip.end();
      };
      void send();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    s3 = new S3Client({ ...aws.operator, endpoint: `http://127.0.0.1:${port}`, forcePathStyle: true });
  });
  afterAll(() => {
    s3.destroy();
    server.closeAllConnections();
    server.close();
  });

  async function* records() {
    const reading = readArchive(operator.stack.with({ s3 }), { events: ['shop.updated'] });
    for await (const object of reading) yield* object.records();
  }

  test('of 50,000 records is streamed: no more is fetched than is read', async () => {
    const sizeOfOne = archiveLine(archived()).length;
    let furthest = 0;
    let read = 0;
    for await (const { line } of records()) {
      read += 1;
      furthest = Math.max(furthest, compressed - line * sizeOfOne);
    }
    expect(read).toBe(COUNT);
    // The object is 25 MB. What is under way stands in buffers of sockets and streams.
    expect(furthest).toBeLessThan(8 * 1024 * 1024);
  });

  test('is not fetched any further if only its first record is read', async () => {
    const { signal } = new AbortController();
    const object = new ArchiveObject(operator.stack.with({ s3 }), 'large', 0, signal);
    for await (const _ of object.records()) break;
    await closed;
    expect(compressed).toBeLessThan(8 * 1024 * 1024);
  }, 20_000);

  test('continues behind its last line if the connection is lost', async () => {
    requests = 0;
    losses = [5_000_000, 5_000_000, 12_000_000];
    let expected = 1;
    for await (const { line, record } of records()) {
      if (record.eventId !== String(expected) || line !== expected) break;
      expected += 1;
    }
    expect(expected - 1).toBe(COUNT);
    expect(requests).toBe(4);
  });

  test('that brings nothing any more is given up', async () => {
    requests = 0;
    losses = [1_000, 1_000, 1_000, 1_000];
    await expect(all(records())).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(requests).toBe(3);
  });
});
