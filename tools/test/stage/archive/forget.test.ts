import { gzipSync } from 'node:zlib';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type ArchiveRecord, archiveLine } from '../../../../lambda/archive/record.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import type { TestAws } from '../../../../test/support/test-aws.ts';
import { forget } from '../../../stage/archive/forget.ts';
import { mentionIn, type Person } from '../../../stage/archive/personal-data.ts';
import type { Stage } from '../../../stage/stage.ts';
import { type Operator, startedOperator } from '../queues/support.ts';
import {
  archived as archivedOnce,
  emptyArchive,
  objectKey,
  putObject,
  putRecords,
  textOf,
} from './support.ts';

const started = startedOperator();
let aws: TestAws;
let operator: Operator;
let stack: Stage;

beforeAll(() => {
  ({ aws, operator } = started);
  stack = operator.stack;
});
afterEach(() => emptyArchive(stack));

async function keys(Bucket: string | undefined, Prefix = ''): Promise<string[]> {
  const { Contents = [] } = await stack.s3.send(new ListObjectsV2Command({ Bucket, Prefix }));
  return Contents.map(({ Key = '' }) => Key);
}

const ago = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString();

/** A record within its retention: the stack keeps its archive for 30 days. */
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

/** For each line of an object, whether its payload was removed. */
async function forgotten(key: string): Promise<boolean[]> {
  const lines = (await textOf(stack, key)).trimEnd().split('\n');
  return lines.map((line) => (JSON.parse(line) as ArchiveRecord).forgottenAt !== undefined);
}

async function notes(): Promise<unknown[]> {
  const Bucket = stack.outputs.ArchiveBucket;
  const found = await keys(Bucket, 'forgotten/');
  return Promise.all(
    found.map(async (Key) => {
      const { Body } = await stack.s3.send(new GetObjectCommand({ Bucket, Key }));
      return JSON.parse((await Body?.transformToString()) ?? '');
    }),
  );
}

test('a person’s payloads are removed, and every other line stays byte for byte', async () => {
  // A line in another format than that of JSON.stringify, and with a field of a later version.
  const other = `{ "later": 1.0, ${archiveLine(recordOf({ user_id: 'user-2' })).slice(1)}`;
  const named = recordOf({ user_id: 'user-1', display_name: 'Aiko' }, { outcome: 'Stale' });
  await putObject(stack, KEY, gzipSync(`${other}${archiveLine(named)}${other}`));

  const { done, said } = await forgetting([AIKO]);
  expect(done).toBe(true);
  expect(said).toContain('To remove: the payloads of 1 record in 1 object\n');

  const lines = (await textOf(stack, KEY)).split('\n');
  expect([lines[0], lines[2], lines[3]]).toEqual([other.trimEnd(), other.trimEnd(), '']);
  const { body, ...others } = named;
  expect(JSON.parse(lines[1] ?? '')).toEqual({
    ...others,
    forgottenAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
});

describe('a payload names a person', () => {
  const girl = (id: string) =>
    `{"event":"review.posted","data":{"girl_id" : ${id}},"timestamp":"2026-01-31T09:00:00Z"}`;
  const [SEVENTEEN, LARGE, EXPONENT]: Person[] = ['17', '90071992547409931', '12345678'].map((id) => ({
    kind: 'girl',
    id,
  }));

  test.each([
    ['in its id field', userUpdated({ user_id: 'user-1' }), AIKO, 'field'],
    ['by a number', girl('17'), SEVENTEEN, 'field'],
    ['by a number that JavaScript cannot hold', girl('90071992547409931'), LARGE, 'text'],
    ['by escaped text', girl('"1\\u0037"'), SEVENTEEN, 'field'],
    ['by a number with an exponent', girl('1.2345678E7'), EXPONENT, 'field'],
    ['by a number with zeros', girl('12345678.0'), EXPONENT, 'field'],
    ['by a number with a negative exponent', girl('123456780e-1'), EXPONENT, 'field'],
    ['in a text that is no JSON', girl('1.2345678E7').slice(1), EXPONENT, 'text'],
    ['not by a longer id', userUpdated({ user_id: 'user-12' }), AIKO, undefined],
    ['not in the field of another kind', userUpdated({ user_id: 'u', girl_id: 'user-1' }), AIKO, undefined],
    ['not in another field', userUpdated({ user_id: 'u', display_name: 'user-1' }), AIKO, undefined],
    ['not by a longer number', girl('170'), SEVENTEEN, undefined],
    ['not by a number with another exponent', girl('1.2345678e8'), EXPONENT, undefined],
    ['not by a fraction', girl('1.23456785e7'), EXPONENT, undefined],
    ['not by an infinite number', girl('1e999'), EXPONENT, undefined],
    ['not in a list', girl('[1.2345678E7]'), EXPONENT, undefined],
    ['not in a text with another number', girl('1.2345678E8').slice(1), EXPONENT, undefined],
    ['not in a text that is part of a word', 'x1.2345678E7', EXPONENT, undefined],
  ])('%s', (_, payload, person, mention) => {
    expect(mentionIn(payload, [person as Person])).toBe(mention);
  });
});

describe('a record names a person', () => {
  test('as one of several persons', async () => {
    const ids = ['user-1', 'user-2', 'user-3'];
    await putRecords(
      stack,
      KEY,
      ids.map((user_id) => recordOf({ user_id })),
    );
    await forgetting([AIKO, { kind: 'user', id: 'user-3' }]);
    expect(await forgotten(KEY)).toEqual([true, false, true]);
  });

  test('in its text if it is not a usable event or not a record', async () => {
    const dead = (body: string) => archived({ event: 'user.updated', outcome: 'DeadLettered', body });
    const lines = [
      archiveLine(dead('{"user": "user-1')),
      archiveLine(dead(userUpdated({ user: 'user-1' }))),
      archiveLine(dead('user-12 xuser-1')),
      '{"body": "user-1", "eventId"\n',
    ];
    await putObject(stack, KEY, gzipSync(lines.join('')));
    const { said } = await forgetting([AIKO]);
    expect(said).toContain('3 of them are not usable events, but have the id in their text');
    expect(await forgotten(KEY)).toEqual([true, true, false, true]);
    expect(await textOf(stack, KEY)).not.toMatch(/(?<!x)user-1(?!2)/);
  });

  test('in its payload in the payload bucket, which is deleted', async () => {
    const Bucket = stack.outputs.PayloadBucket;
    const put = (Key: string, Body: string) => stack.s3.send(new PutObjectCommand({ Bucket, Key, Body }));
    await put('user.updated/a', userUpdated({ user_id: 'user-1' }));
    await put('user.updated/b', userUpdated({ user_id: 'user-2' }));
    const large = (name: string) =>
      archived({ event: 'user.updated', body: undefined, payloadKey: `user.updated/${name}` });
    // The partner delivered one of them again: another object refers to the same payload.
    const again = objectKey('again', 'user.updated', '2026-01-31T12');
    await putRecords(stack, KEY, ['a', 'b', 'expired'].map(large));
    await putRecords(stack, again, [large('a')]);
    const { done, said } = await forgetting([AIKO]);
    expect(done).toBe(true);
    expect(said).toContain('To delete: 1 object of the payload bucket\n');
    expect(await forgotten(KEY)).toEqual([true, false, false]);
    expect(await forgotten(again)).toEqual([true]);
    expect(await textOf(stack, KEY)).not.toContain('user.updated/a');
    expect(await keys(Bucket)).toEqual(['user.updated/b']);
    expect(await notes()).toMatchObject([{ records: 2, objects: 2, payloads: 1 }]);
  });

  test('even if its event has left the catalogue', async () => {
    const event = 'user.banned' as never;
    const body = (user_id: string) =>
      JSON.stringify({ event, data: { user_id }, timestamp: '2026-01-31T09:00:00Z' });
    const key = objectKey('banned', event);
    await putRecords(
      stack,
      key,
      ['user-1', 'user-2'].map((id) => archived({ event, body: body(id) })),
    );
    await putObject(stack, `event=${event}/failed=processing-failed/a`, Buffer.of());
    const { done, said } = await forgetting([AIKO]);
    expect(done).toBe(false);
    expect(said).toContain('Not searched: 1 object under failed=, which Firehose could not deliver.');
    expect(await forgotten(key)).toEqual([true, false]);
  });
});

describe('S3 counts the age of a rewritten object from then on, so expired payloads are removed', () => {
  const of = (user_id: string, days: number) => recordOf({ user_id }, { settledAt: ago(days) });

  test('from each rewritten object', async () => {
    await putRecords(stack, KEY, [of('user-1', 29), of('user-2', 29), of('user-3', 31)]);
    const { said } = await forgetting([AIKO]);
    expect(said).toContain('the payloads of 1 record in 1 object\n');
    expect(said).toContain('Also to remove: 1 payload of others, older than 30 days\n');
    expect(await forgotten(KEY)).toEqual([true, false, true]);
    expect(await textOf(stack, KEY)).not.toContain('user-3');
    expect(await notes()).toMatchObject([{ records: 1, expired: 1, objects: 1 }]);
  });

  test('from each object that was rewritten before, for any person', async () => {
    await putRecords(stack, KEY, [of('user-2', 33), of('user-3', 32.5)]);
    expect(await forgetting([AIKO])).toMatchObject({ done: true, asked: [expect.any(String)] });
    expect(await forgotten(KEY)).toEqual([true, true]);
    const before = await textOf(stack, KEY);
    expect(await forgetting([AIKO])).toMatchObject({ done: true, asked: [] });
    expect(await textOf(stack, KEY)).toBe(before);
  });

  test('but not from one that S3 is about to delete', async () => {
    await putRecords(stack, KEY, [of('user-2', 31)]);
    expect(await forgetting([AIKO])).toMatchObject({ done: true, asked: [] });
    expect(await forgotten(KEY)).toEqual([false]);
  });

  test('but the key of a payload in the payload bucket stays, so that a later run finds the payload', async () => {
    const payloadKey = 'user.updated/a';
    const large = recordOf({}, { body: undefined, payloadKey, settledAt: ago(40) });
    await putRecords(stack, KEY, [of('user-1', 1), large]);
    await forgetting([AIKO]);
    expect(await forgotten(KEY)).toEqual([true, false]);
  });
});

test('an object keeps its type, encoding and metadata', async () => {
  const stored = {
    ContentType: 'application/octet-stream',
    ContentEncoding: 'gzip',
    Metadata: { added: 'by somebody' },
  };
  const object = { Bucket: stack.outputs.ArchiveBucket, Key: KEY };
  const Body = gzipSync(archiveLine(recordOf({ user_id: 'user-1' })));
  await stack.s3.send(new PutObjectCommand({ ...object, ...stored, Body }));
  await forgetting([AIKO]);
  expect(await stack.s3.send(new HeadObjectCommand(object))).toMatchObject(stored);
});

test.each([
  { by: 'a dry run, which does not ask', choices: { dryRun: true }, done: true, asked: 0 },
  { by: 'the answer no', choices: { answer: false }, done: false, asked: 1 },
  { by: 'a search that Ctrl-C ends', choices: { signal: AbortSignal.abort() }, done: false, asked: 0 },
])('nothing is changed by $by', async ({ choices, done, asked }) => {
  const text = archiveLine(recordOf({ user_id: 'user-1' }));
  await putObject(stack, KEY, gzipSync(text));
  await putObject(stack, 'queries/a.csv', Buffer.of());
  const result = await forgetting([AIKO], choices);
  expect({ done: result.done, asked: result.asked.length }).toEqual({ done, asked });
  expect(result.said).toContain('Nothing was changed.');
  expect(await textOf(stack, KEY)).toBe(text);
  expect(await keys(stack.outputs.ArchiveBucket)).toEqual([KEY, 'queries/a.csv']);
});

describe('a note of the removal', () => {
  test('says who, when and how much, without the id', async () => {
    await putRecords(stack, KEY, [recordOf({ user_id: 'user-1' }), recordOf({ user_id: 'user-1' })]);
    await putObject(stack, 'queries/a.csv', Buffer.of());
    const { said } = await forgetting([AIKO]);
    expect(await notes()).toEqual([
      {
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        by: expect.stringMatching(/^arn:aws:/),
        persons: [{ kind: 'user', idSha256: sha256Hex('user-1') }],
        records: 2,
        expired: 0,
        objects: 1,
        payloads: 0,
        queryResults: 1,
        complete: true,
      },
    ]);
    expect(said).toMatch(/The note, without the ids, is forgotten\/\S+Z-[0-9a-f]{8}\.json/);
    expect(said).not.toContain('user-1');
    expect(await keys(stack.outputs.ArchiveBucket, 'queries/')).toEqual([]);
  });

  test('is not written by a run that finds nothing, which does not ask either', async () => {
    await putRecords(stack, KEY, [recordOf({ user_id: 'user-1' })]);
    await forgetting([AIKO]);
    const before = await textOf(stack, KEY);
    const { done, asked, said } = await forgetting([AIKO]);
    expect({ done, asked }).toEqual({ done: true, asked: [] });
    expect(said).toContain('No record has the given ids.');
    expect(await textOf(stack, KEY)).toBe(before);
    expect(said).toContain('Nothing was found, so nothing was changed.');
    expect(await notes()).toMatchObject([{ records: 1 }]);
  });
});

test('a truncated object is named, and not changed', async () => {
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
  expect(await notes()).toEqual([]);
});

/** A client that calls back before and after each PutObject of an object with records. */
function watchedClient(on: { before?: () => Promise<unknown>; after?: () => void }): S3Client {
  const client = new S3Client({ ...aws.operator, forcePathStyle: true });
  client.middlewareStack.add((next, { commandName }) => async (args) => {
    const isRewrite = commandName === 'PutObjectCommand' && /^event=/.test(Object(args.input).Key);
    if (isRewrite) await on.before?.();
    const answer = await next(args);
    if (isRewrite) on.after?.();
    return answer;
  });
  return client;
}

test('after Ctrl-C it says how far it got, and a second run continues', async () => {
  const objects = ['a', 'b', 'c'].map((name) => objectKey(name, 'user.updated'));
  for (const key of objects) await putRecords(stack, key, [recordOf({ user_id: 'user-1' })]);
  await putObject(stack, 'queries/a.csv', Buffer.of());
  const abort = new AbortController();
  const s3 = watchedClient({ after: () => abort.abort() });
  const first = await forgetting([AIKO], { signal: abort.signal, s3 });
  s3.destroy();
  expect(first.done).toBe(false);
  expect(first.said).toContain('Interrupted after 1 of 3 objects.');
  expect((await Promise.all(objects.map(forgotten))).flat().sort()).toEqual([false, false, true]);

  expect(await forgetting([AIKO])).toMatchObject({
    done: true,
    said: expect.stringContaining('the payloads of 2 records in 2 objects'),
  });
  expect((await Promise.all(objects.map(forgotten))).flat()).toEqual([true, true, true]);
  expect(await keys(stack.outputs.ArchiveBucket, 'queries/')).toEqual([]);
});

describe('an object that is rewritten by somebody else at the same time', () => {
  const named = recordOf({ user_id: 'user-1' });
  const other = recordOf({ user_id: 'user-2' });
  const forgottenOther = { ...other, forgottenAt: '2026-02-01T00:00:00.000Z' };

  test('is read again: no change is lost', async () => {
    await putRecords(stack, KEY, [named, other]);
    let count = 0;
    const s3 = watchedClient({
      before: async () => {
        count += 1;
        if (count === 1) await putRecords(stack, KEY, [named, forgottenOther]);
      },
    });
    expect(await forgetting([AIKO], { s3 })).toMatchObject({ done: true });
    s3.destroy();
    expect(await forgotten(KEY)).toEqual([true, true]);
  });

  test('repeatedly is left unchanged', async () => {
    await putRecords(stack, KEY, [named, other]);
    let count = 0;
    const s3 = watchedClient({
      before: () => {
        count += 1;
        return putRecords(stack, KEY, [recordOf({ user_id: 'user-1', count }), forgottenOther]);
      },
    });
    await expect(forgetting([AIKO], { s3 })).rejects.toThrow(
      `Somebody else keeps changing ${KEY}: try again later`,
    );
    s3.destroy();
    expect(count).toBe(3);
    expect(await forgotten(KEY)).toEqual([false, true]);
  });
});
