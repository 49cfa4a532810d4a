import { gzipSync } from 'node:zlib';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type ArchiveRecord, archiveLine } from '../../../../lambda/archive/record.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { forget } from '../../../../tools/stage/archive/forget.ts';
import type { Person } from '../../../../tools/stage/archive/personal-data.ts';
import type { Stage } from '../../../../tools/stage/stage.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { Operator } from '../queues/support.ts';
import { archived as archivedOnce, objectKey, putObject, putRecords, textOf } from './support.ts';

let aws: TestAws;
let operator: Operator;
let stack: Stage;

beforeAll(async () => {
  aws = await startTestAws();
  operator = await Operator.create(aws);
  stack = operator.stack;
});
afterAll(async () => {
  await operator.close();
  await aws.close();
});
beforeEach(async () => {
  for (const Bucket of [stack.outputs.ArchiveBucket, stack.outputs.PayloadBucket]) {
    for (const Key of await keys(Bucket)) {
      await stack.s3.send(new DeleteObjectCommand({ Bucket, Key }));
    }
  }
});

async function keys(Bucket: string | undefined, Prefix = ''): Promise<string[]> {
  const { Contents = [] } = await stack.s3.send(new ListObjectsV2Command({ Bucket, Prefix }));
  return Contents.map(({ Key = '' }) => Key);
}

const ago = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString();

/** A record within its retention: the archive of the stack keeps 30 days. */
const archived = (given: Partial<ArchiveRecord> = {}) => archivedOnce({ settledAt: ago(1), ...given });

const AIKO: Person = { kind: 'user', id: 'user-1' };

const userUpdated = (data: object) =>
  JSON.stringify({ event: 'user.updated', data, timestamp: '2026-01-31T09:00:00Z' });

const recordOf = (data: object, more: Partial<ArchiveRecord> = {}) =>
  archived({ event: 'user.updated', body: userUpdated(data), ...more });

const KEY = objectKey('users', 'user.updated');

interface Choices {
  readonly dryRun?: boolean;
  readonly answer?: boolean;
  readonly signal?: AbortSignal;
  readonly s3?: S3Client;
}

async function forgetting(
  persons: readonly Person[],
  { dryRun = false, answer = true, signal, s3 = stack.s3 }: Choices = {},
) {
  const operation = { ...operator.operation(signal), stack: stack.with({ s3 }) };
  const asked: string[] = [];
  const agreed = async (question: string) => {
    asked.push(question);
    return answer;
  };
  const done = await forget(operation, persons, { dryRun, agreed });
  return { done, asked, said: operation.said.join('\n') };
}

/** What is left of each line: `kept`, or what was taken out of it. */
async function fates(key: string): Promise<string[]> {
  const lines = (await textOf(stack, key)).trimEnd().split('\n');
  return lines.map((line) => {
    const record = JSON.parse(line) as ArchiveRecord;
    return record.forgottenAt === undefined ? 'kept' : 'forgotten';
  });
}

async function notes(): Promise<unknown[]> {
  const found = await keys(stack.outputs.ArchiveBucket, 'forgotten/');
  return Promise.all(
    found.map(async (Key) => {
      const { Body } = await stack.s3.send(
        new GetObjectCommand({ Bucket: stack.outputs.ArchiveBucket, Key }),
      );
      return JSON.parse((await Body?.transformToString()) ?? '');
    }),
  );
}

test('what the partner sent of a person is taken out, and every other line stays byte for byte', async () => {
  // Not as JSON.stringify writes it, and with a field of a later version.
  const other = `{ "later": 1.0, ${archiveLine(recordOf({ user_id: 'user-2' })).slice(1)}`;
  const named = recordOf({ user_id: 'user-1', display_name: 'Aiko' }, { outcome: 'Stale' });
  const text = `${other}${archiveLine(named)}${other}`;
  await putObject(stack, KEY, gzipSync(text));

  const { done, said } = await forgetting([AIKO]);
  expect(done).toBe(true);
  expect(said).toContain('To remove: the payloads of 1 record in 1 object\n');

  const lines = (await textOf(stack, KEY)).split('\n');
  expect([lines[0], lines[2], lines[3]]).toEqual([other.trimEnd(), other.trimEnd(), '']);
  const { body, ...facts } = named;
  expect(JSON.parse(lines[1] ?? '')).toEqual({
    ...facts,
    forgottenAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
});

describe('a record names a person', () => {
  test.each([
    ['by the field for it', { user_id: 'user-1' }, 'forgotten'],
    ['not by a longer id', { user_id: 'user-12' }, 'kept'],
    ['not by the field of another kind of person', { user_id: 'u', girl_id: 'user-1' }, 'kept'],
    ['not by a text of a usable event', { user_id: 'u', display_name: 'user-1' }, 'kept'],
  ])('%s', async (_name, data, fate) => {
    await putRecords(stack, KEY, [recordOf(data)]);
    await forgetting([AIKO]);
    expect(await fates(KEY)).toEqual([fate]);
  });

  test.each([
    ['a number', '17'],
    ['an escaped text', '"1\\u0037"'],
  ])('by a girl_id that is %s', async (_name, id) => {
    const event = (girl: string) =>
      `{"event":"girl.deleted","data":{"girl_id":${girl}},"timestamp":"2026-01-31T09:00:00Z"}`;
    const key = objectKey('girls', 'girl.deleted');
    const records = [id, '170'].map((girl) => archived({ event: 'girl.deleted', body: event(girl) }));
    await putRecords(stack, key, records);
    await forgetting([{ kind: 'girl', id: '17' }]);
    expect(await fates(key)).toEqual(['forgotten', 'kept']);
  });

  test('by a number that JavaScript cannot hold', async () => {
    const body =
      '{"event":"review.posted","data":{"girl_id":90071992547409931},"timestamp":"2026-01-31T09:00:00Z"}';
    const key = objectKey('reviews', 'review.posted');
    await putRecords(stack, key, [archived({ event: 'review.posted', body })]);
    await forgetting([{ kind: 'girl', id: '90071992547409931' }]);
    expect(await fates(key)).toEqual(['forgotten']);
  });

  test('by its text, where it is no usable event, or no record at all', async () => {
    const dead = (body: string) => archived({ event: 'user.updated', outcome: 'DeadLettered', body });
    const lines = [
      archiveLine(dead('{"user": "user-1')),
      archiveLine(dead(userUpdated({ user: 'user-1' }))),
      archiveLine(dead('user-12 xuser-1')),
      '{"body": "user-1", "eventId"\n',
    ];
    await putObject(stack, KEY, gzipSync(lines.join('')));
    const { said } = await forgetting([AIKO]);
    expect(said).toContain('3 of them are no usable events and have the id in their text');
    expect(await fates(KEY)).toEqual(['forgotten', 'forgotten', 'kept', 'forgotten']);
    expect(await textOf(stack, KEY)).not.toMatch(/(?<!x)user-1(?!2)/);
  });

  test('by its payload in the payload bucket, which is deleted', async () => {
    const put = (Key: string, Body: string) =>
      stack.s3.send(new PutObjectCommand({ Bucket: stack.outputs.PayloadBucket, Key, Body }));
    await put('user.updated/a', userUpdated({ user_id: 'user-1' }));
    await put('user.updated/b', userUpdated({ user_id: 'user-2' }));
    const large = (payloadKey: string) => archived({ event: 'user.updated', body: undefined, payloadKey });
    // The partner delivered one of them again: another object refers to the same payload.
    const again = objectKey('again', 'user.updated', '2026-01-31T12');
    await putRecords(
      stack,
      KEY,
      ['a', 'b', 'expired'].map((name) => large(`user.updated/${name}`)),
    );
    await putRecords(stack, again, [large('user.updated/a')]);
    const { done, said } = await forgetting([AIKO]);
    expect(done).toBe(true);
    expect(said).toContain('To delete: 1 object of the payload bucket\n');
    expect(await fates(KEY)).toEqual(['forgotten', 'kept', 'kept']);
    expect(await fates(again)).toEqual(['forgotten']);
    expect(await textOf(stack, KEY)).not.toContain('user.updated/a');
    expect(await keys(stack.outputs.PayloadBucket)).toEqual(['user.updated/b']);
  });

  test('also where its event has left the catalogue', async () => {
    const event = 'user.banned' as never;
    const body = (user_id: string) =>
      JSON.stringify({ event, data: { user_id }, timestamp: '2026-01-31T09:00:00Z' });
    const records = [archived({ event, body: body('user-1') }), archived({ event, body: body('user-2') })];
    const key = objectKey('banned', event);
    await putRecords(stack, key, records);
    await putObject(stack, `event=${event}/failed=processing-failed/a`, Buffer.of());
    const { said } = await forgetting([AIKO]);
    expect(said).toContain('Not searched: 1 object under failed=');
    expect(await fates(key)).toEqual(['forgotten', 'kept']);
    expect(await textOf(stack, key)).toContain('"event":"user.banned"');
  });

  test('of several that are asked for', async () => {
    await putRecords(
      stack,
      KEY,
      ['1', '2', '3'].map((id) => recordOf({ user_id: `user-${id}` })),
    );
    await forgetting([AIKO, { kind: 'user', id: 'user-3' }]);
    expect(await fates(KEY)).toEqual(['forgotten', 'kept', 'forgotten']);
  });
});

describe('as S3 keeps a rewritten object anew, what has outlived its retention goes', () => {
  const of = (user_id: string, days: number) => recordOf({ user_id }, { settledAt: ago(days) });

  test('from each object that is rewritten', async () => {
    await putRecords(stack, KEY, [of('user-1', 29), of('user-2', 29), of('user-3', 31)]);
    const { said } = await forgetting([AIKO]);
    expect(said).toContain('the payloads of 1 record in 1 object\n');
    expect(said).toContain('To remove, too: 1 payload of others, older than 30 days\n');
    expect(await fates(KEY)).toEqual(['forgotten', 'kept', 'forgotten']);
    expect(await textOf(stack, KEY)).not.toContain('user-3');
    expect(await notes()).toMatchObject([{ records: 1, expired: 1, objects: 1 }]);
  });

  test('from each that was rewritten before, whoever is forgotten now', async () => {
    await putRecords(stack, KEY, [of('user-2', 33), of('user-3', 32.5)]);
    expect(await forgetting([AIKO])).toMatchObject({ done: true, asked: [expect.any(String)] });
    expect(await fates(KEY)).toEqual(['forgotten', 'forgotten']);
    const before = await textOf(stack, KEY);
    expect(await forgetting([AIKO])).toMatchObject({ done: true, asked: [] });
    expect(await textOf(stack, KEY)).toBe(before);
  });

  test('but not from one that S3 is about to delete by itself', async () => {
    await putRecords(stack, KEY, [of('user-2', 31)]);
    expect(await forgetting([AIKO])).toMatchObject({ done: true, asked: [] });
    expect(await fates(KEY)).toEqual(['kept']);
  });

  test('and not the key of what the payload bucket keeps, by which a later forgetting finds it', async () => {
    const payloadKey = 'user.updated/a';
    const large = recordOf({}, { body: undefined, payloadKey, settledAt: ago(40) });
    await putRecords(stack, KEY, [of('user-1', 1), large]);
    await forgetting([AIKO]);
    expect(await fates(KEY)).toEqual(['forgotten', 'kept']);
  });
});

test('an object keeps how it is stored: its type, its encoding and what is noted with it', async () => {
  const stored = {
    ContentType: 'application/octet-stream',
    ContentEncoding: 'gzip',
    Metadata: { noted: 'with it' },
  };
  const object = { Bucket: stack.outputs.ArchiveBucket, Key: KEY };
  const Body = gzipSync(archiveLine(recordOf({ user_id: 'user-1' })));
  await stack.s3.send(new PutObjectCommand({ ...object, ...stored, Body }));
  await forgetting([AIKO]);
  expect(await stack.s3.send(new HeadObjectCommand(object))).toMatchObject(stored);
});

describe('nothing is changed', () => {
  const text = archiveLine(recordOf({ user_id: 'user-1' }));

  beforeEach(async () => {
    await putObject(stack, KEY, gzipSync(text));
    await putObject(stack, 'queries/a.csv', Buffer.of());
  });

  const unchanged = async () => {
    expect(await textOf(stack, KEY)).toBe(text);
    expect(await keys(stack.outputs.ArchiveBucket)).toEqual([KEY, 'queries/a.csv']);
  };

  test('by a dry run, which does not ask either', async () => {
    const { done, asked, said } = await forgetting([AIKO], { dryRun: true });
    expect({ done, asked }).toEqual({ done: true, asked: [] });
    expect(said).toContain('Nothing was changed.');
    await unchanged();
  });

  test('where the answer is no', async () => {
    expect(await forgetting([AIKO], { answer: false })).toMatchObject({
      done: false,
      asked: [expect.any(String)],
    });
    await unchanged();
  });

  test('by a search that Ctrl-C ends', async () => {
    const { done, said } = await forgetting([AIKO], { signal: AbortSignal.abort() });
    expect({ done, said }).toEqual({
      done: false,
      said: 'Interrupted after 0 of 1 object. Nothing was changed.',
    });
    await unchanged();
  });
});

describe('that it was done', () => {
  test('is noted with who, when and how much, and without the id', async () => {
    await putRecords(stack, KEY, [recordOf({ user_id: 'user-1' }), recordOf({ user_id: 'user-1' })]);
    await putObject(stack, 'queries/a.csv', Buffer.of());
    const { said } = await forgetting([AIKO]);
    const [note] = await notes();
    expect(note).toEqual({
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      by: expect.stringMatching(/^arn:aws:/),
      persons: [{ kind: 'user', idSha256: sha256Hex('user-1') }],
      records: 2,
      expired: 0,
      objects: 1,
      payloads: 0,
      queryResults: 1,
      complete: true,
    });
    expect(said).toMatch(/Noted, without the ids: forgotten\/\S+Z-[0-9a-f]{8}\.json/);
    expect(said).toContain('Athena keeps the history of queries for 45 days');
    expect(said).not.toContain('user-1');
    expect(await keys(stack.outputs.ArchiveBucket, 'queries/')).toEqual([]);
  });

  test('is noted where there was nothing, without a question', async () => {
    expect(await forgetting([AIKO])).toMatchObject({ done: true, asked: [] });
    expect(await notes()).toMatchObject([{ records: 0, objects: 0 }]);
  });

  test('says of each further run what that one did', async () => {
    await putRecords(stack, KEY, [recordOf({ user_id: 'user-1' })]);
    await forgetting([AIKO]);
    const before = await textOf(stack, KEY);
    const { said } = await forgetting([AIKO]);
    expect(said).toContain('No record names them.');
    expect(await textOf(stack, KEY)).toBe(before);
    expect(await notes()).toHaveLength(2);
  });
});

describe('what cannot be searched is named, and stays as it is', () => {
  test('an object that is cut off', async () => {
    const records = Array.from({ length: 500 }, () =>
      recordOf({ user_id: 'user-1', display_name: crypto.randomUUID() }),
    );
    const whole = gzipSync(records.map(archiveLine).join(''));
    const damaged = whole.subarray(0, whole.length / 2);
    await putObject(stack, KEY, damaged);
    const { done, said } = await forgetting([AIKO]);
    expect(done).toBe(false);
    expect(said).toContain(`${KEY}: cut off from line `);
    const { Body } = await stack.s3.send(
      new GetObjectCommand({ Bucket: stack.outputs.ArchiveBucket, Key: KEY }),
    );
    expect(damaged.equals((await Body?.transformToByteArray()) ?? Buffer.of())).toBe(true);
    expect(await notes()).toMatchObject([{ complete: false }]);
  });

  test('what Firehose could not deliver', async () => {
    await putObject(stack, 'event=user.updated/failed=processing-failed/a', Buffer.of());
    const { done, said } = await forgetting([AIKO]);
    expect(done).toBe(false);
    expect(said).toContain('Not searched: 1 object under failed=, which Firehose could not deliver.');
  });
});

/** A client that is told of each PutObject of a record's object before and after it. */
function watchedClient(told: { before?: () => Promise<unknown>; after?: () => void }): S3Client {
  const client = new S3Client({ ...aws.operator, forcePathStyle: true });
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const isObject =
          commandName === 'PutObjectCommand' && String(Object(args.input).Key).startsWith('event=');
        if (isObject) await told.before?.();
        const answer = await next(args);
        if (isObject) told.after?.();
        return answer;
      },
    { step: 'initialize' },
  );
  return client;
}

test('interrupted by Ctrl-C it says how far it got, and goes on when it is run again', async () => {
  const objects = ['a', 'b', 'c'].map((name) => objectKey(name, 'user.updated'));
  for (const key of objects) await putRecords(stack, key, [recordOf({ user_id: 'user-1' })]);
  await putObject(stack, 'queries/a.csv', Buffer.of());
  const abort = new AbortController();
  const s3 = watchedClient({ after: () => abort.abort() });
  const first = await forgetting([AIKO], { signal: abort.signal, s3 });
  s3.destroy();
  expect(first.done).toBe(false);
  expect(first.said).toContain('Interrupted after 1 of 3 objects.');
  expect((await Promise.all(objects.map(fates))).flat().sort()).toEqual(['forgotten', 'kept', 'kept']);

  expect(await forgetting([AIKO])).toMatchObject({
    done: true,
    said: expect.stringContaining('the payloads of 2 records in 2 objects'),
  });
  expect((await Promise.all(objects.map(fates))).flat()).toEqual(['forgotten', 'forgotten', 'forgotten']);
  expect(await keys(stack.outputs.ArchiveBucket, 'queries/')).toEqual([]);
});

describe('an object that somebody else rewrites meanwhile', () => {
  const both = [recordOf({ user_id: 'user-1' }), recordOf({ user_id: 'user-2' })];
  const put = async (record: ArchiveRecord) => {
    await putRecords(stack, KEY, [record, { ...both[1], forgottenAt: '2026-02-01T00:00:00.000Z' } as never]);
  };

  test('is read anew: neither change is lost', async () => {
    await putRecords(stack, KEY, both);
    let meddled = false;
    const s3 = watchedClient({
      before: async () => {
        if (!meddled) await put(both[0] as ArchiveRecord);
        meddled = true;
      },
    });
    expect(await forgetting([AIKO], { s3 })).toMatchObject({ done: true });
    s3.destroy();
    expect(await fates(KEY)).toEqual(['forgotten', 'forgotten']);
  });

  test('again and again is left', async () => {
    await putRecords(stack, KEY, both);
    let count = 0;
    const s3 = watchedClient({
      before: () => {
        count += 1;
        return put(recordOf({ user_id: 'user-1', count }));
      },
    });
    await expect(forgetting([AIKO], { s3 })).rejects.toThrow(
      `Somebody else keeps changing ${KEY}: try again later`,
    );
    s3.destroy();
    expect(count).toBe(3);
    expect(await fates(KEY)).toEqual(['kept', 'forgotten']);
  });
});
