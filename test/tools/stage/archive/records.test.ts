import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip, gzipSync } from 'node:zlib';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { archiveLine } from '../../../../lambda/archive/record.ts';
import type { DamagedObjectError } from '../../../../tools/stage/archive/lines.ts';
import { archiveObjects, countFailedObjects } from '../../../../tools/stage/archive/objects.ts';
import { readObject } from '../../../../tools/stage/archive/records.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { Operator } from '../queues/support.ts';
import { all, archived, objectKey, putObject, putRecords } from './support.ts';

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

const object = (key: string) => ({ key, event: 'shop.updated', bytes: 0 }) as const;

/** Reads an object to its end or its damage. */
async function readAll(key: string, signal?: AbortSignal) {
  const lines: number[] = [];
  const ids: string[] = [];
  let damage: DamagedObjectError | undefined;
  try {
    for await (const { line, record } of readObject(operator.stack, object(key), signal)) {
      lines.push(line);
      ids.push(record.eventId);
    }
  } catch (error) {
    damage = error as DamagedObjectError;
  }
  return { lines, ids, damage };
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

  const found = async (filter: Parameters<typeof archiveObjects>[1]) =>
    (await all(archiveObjects(operator.stack, filter))).map(({ key }) => key);

  test('without one are all, by event, then by time, and no results of queries or failures', async () => {
    expect(await found({})).toEqual(
      ['shop.updated', 'user.updated'].flatMap((event) => hours.map((hour) => objectKey('a', event, hour))),
    );
  });

  test('have their event and their size', async () => {
    expect(await all(archiveObjects(operator.stack, { events: ['user.updated'] }))).toContainEqual({
      key: objectKey('a', 'user.updated', '2026-01-31T00'),
      event: 'user.updated',
      bytes: 2,
    });
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

describe('an object', () => {
  test('is read record by record, with what a later version of the record added', async () => {
    const key = objectKey('sound');
    await putRecords(operator.stack, key, [archived(), { ...archived(), added: [1] } as never]);
    expect(await all(readObject(operator.stack, object(key)))).toEqual([
      { line: 1, record: archived() },
      { line: 2, record: { ...archived(), added: [1] } },
    ]);
  });

  test('of several gzip members, as whoever joins objects makes them, is read to its end', async () => {
    const key = objectKey('members');
    const member = gzipSync(archiveLine(archived()));
    await putObject(operator.stack, key, Buffer.concat([member, member]));
    expect(await readAll(key)).toMatchObject({ lines: [1, 2], damage: undefined });
  });

  test('that has expired since it was listed has no records', async () => {
    expect(await readAll(objectKey('expired'))).toEqual({ lines: [], ids: [], damage: undefined });
  });

  test('ends early once the signal is aborted', async () => {
    const key = objectKey('aborted');
    await putRecords(operator.stack, key, [archived(), archived()]);
    const abort = new AbortController();
    const lines: number[] = [];
    for await (const { line } of readObject(operator.stack, object(key), abort.signal)) {
      lines.push(line);
      abort.abort();
    }
    expect(lines).toEqual([1]);
    expect(await readAll(key, abort.signal)).toMatchObject({ lines: [], damage: undefined });
  });
});

describe('a damaged object is named with its line', () => {
  const records = [1, 2, 3].map((number) => archived({ eventId: `event-${number}` }));
  const lines = records.map(archiveLine);

  test.each([
    ['no JSON', '{"eventId":'],
    ['an empty line', ''],
    ['another outcome', JSON.stringify({ ...archived(), outcome: 'Lost' })],
    ['another event', JSON.stringify({ ...archived(), event: 'example.unknown' })],
    ['no time', JSON.stringify({ ...archived(), settledAt: 'yesterday' })],
  ])('%s: the lines around it are delivered', async (_name, wrong) => {
    const key = objectKey('wrong-line');
    await putObject(operator.stack, key, gzipSync(`${lines[0]}${wrong}\n${lines[1]}${wrong}\n${lines[2]}`));
    const { lines: read, damage } = await readAll(key);
    expect(read).toEqual([1, 3, 5]);
    expect(damage).toMatchObject({ name: 'DamagedObjectError', key, line: 2 });
    expect(damage?.message).toBe(`${key}: line 2 is no record, the first of 2`);
  });

  test('cut off: what stands before is delivered', async () => {
    const key = objectKey('cut-off');
    // Without a pattern, so that the end of the compressed bytes is the end of the text.
    const many = Array.from({ length: 2_000 }, () => archived({ eventId: crypto.randomUUID() }));
    const bytes = gzipSync(many.map(archiveLine).join(''));
    await putObject(operator.stack, key, bytes.subarray(0, bytes.length / 2));
    const { ids, damage } = await readAll(key);
    expect(ids.length).toBeGreaterThan(500);
    expect(ids).toEqual(many.slice(0, ids.length).map(({ eventId }) => eventId));
    expect(damage).toMatchObject({
      line: ids.length + 1,
      message: `${key}: cut off from line ${ids.length + 1} on`,
    });
  });

  test('no gzip', async () => {
    const key = objectKey('plain');
    await putObject(operator.stack, key, Buffer.from(lines.join('')));
    expect(await readAll(key)).toMatchObject({
      lines: [],
      damage: { line: 1, message: `${key}: not gzip, or damaged from line 1 on` },
    });
  });

  test('a line without an end: it is not collected', async () => {
    const key = objectKey('endless');
    await putObject(operator.stack, key, gzipSync(Buffer.alloc(50 * 1024 * 1024, 'a')));
    expect(await readAll(key)).toMatchObject({ lines: [], damage: { line: 1 } });
  });
});

/** S3 for one bucket with one object, of which it can be watched how much has been sent. */
describe('a large object', () => {
  const COUNT = 50_000;
  let server: Server;
  let s3: S3Client;
  /** Bytes of records that the server has compressed for the answer under way. */
  let compressed = 0;
  let requests = 0;
  /** Bytes after which the connection is lost, for each request in turn. */
  let losses: number[] = [];

  beforeAll(async () => {
    server = createServer((_request, response) => {
      requests += 1;
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

  const records = () => readObject(operator.stack.with({ s3 }), object('large'));

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

  test('of which the connection is lost goes on behind its last line', async () => {
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
