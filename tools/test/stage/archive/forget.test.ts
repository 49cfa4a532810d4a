import { randomUUID } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { DeleteQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from 'local-aws';
import { archiveLine } from '../../../../lambda/archive/archive.ts';
import type { ArchiveRecord } from '../../../../lambda/archive/record-schema.ts';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { Partner } from '../../../../test/support/partner.ts';
import { Tables } from '../../../../test/support/tables.ts';
import { startTestStack } from '../../../../test/support/test-stack.ts';
import { forget } from '../../../stage/archive/forget.ts';
import { mentionIn, type Person } from '../../../stage/archive/person.ts';
import { keysUnder } from '../../../stage/s3-objects.ts';
import type { Stage } from '../../../stage/stage.ts';
import { DEAD, Operator, replied } from '../queues/support.ts';
import {
  archived as archivedOnce,
  emptyArchive,
  objectKey,
  putObject,
  putRecords,
  textOf,
} from './support.ts';

const logs: unknown[] = [];
let running: LocalStack;
let operator: Operator;
let stack: Stage;

beforeAll(async () => {
  running = await startTestStack({ onLog: (line) => logs.push(line) });
  operator = await Operator.create(running);
  stack = operator.stack;
});
afterEach(() => emptyArchive(stack));
afterAll(async () => {
  await operator.close();
  await running.close();
});

const keys = (bucket: string, prefix = '') => keysUnder(stack, bucket, prefix);

const ago = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString();

/** A record within its retention: the stack keeps its archive for 30 days. */
const archived = (given: Partial<ArchiveRecord> = {}) => archivedOnce({ settledAt: ago(1), ...given });

const AIKO: Person = { kind: 'user', id: 'user-1' };

const EVENT = { event: 'user.updated', timestamp: '2026-01-31T09:00:00Z' };

const userUpdated = (data: object) => JSON.stringify({ ...EVENT, data });

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
  const Bucket = stack.archiveBucket;
  const found = await keys(Bucket, 'forgotten/');
  return Promise.all(
    found.map(async (Key) => {
      const { Body } = await stack.s3.send(new GetObjectCommand({ Bucket, Key }));
      return JSON.parse((await Body?.transformToString()) ?? '');
    }),
  );
}

test('a person’s payloads are removed; other lines stay byte for byte, and so do the properties of the object', async () => {
  // A line in another format than that of JSON.stringify, and with a field of a later version.
  const other = `{ "later": 1.0, ${archiveLine(recordOf({ user_id: 'user-2' })).slice(1)}`;
  const named = recordOf({ user_id: 'user-1', display_name: 'Aiko' }, { outcome: 'Stale' });
  const properties = {
    ContentType: 'application/octet-stream',
    ContentEncoding: 'gzip',
    Metadata: { added: 'by somebody' },
  };
  const object = { Bucket: stack.archiveBucket, Key: KEY };
  const Body = gzipSync(`${other}${archiveLine(named)}${other}`);
  await stack.s3.send(new PutObjectCommand({ ...object, ...properties, Body }));

  const { done, said } = await forgetting([AIKO]);
  expect(done).toBe(true);
  expect(said).toContain('To remove: the payloads of 1 record in 1 object\n');

  expect(await stack.s3.send(new HeadObjectCommand(object))).toMatchObject(properties);
  const lines = (await textOf(stack, KEY)).split('\n');
  expect([lines[0], lines[2], lines[3]]).toEqual([other.trimEnd(), other.trimEnd(), '']);
  const { body, ...others } = named;
  expect(JSON.parse(lines[1] ?? '')).toEqual({
    ...others,
    forgottenAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
});

test('nothing of a person is left that the output does not name, wherever the person’s events went', async () => {
  const NAME = `Aiko ${randomUUID()}`;
  const [user_id, girl_id] = [`user-${randomUUID()}`, `girl-${randomUUID()}`];
  const tables = new Tables(running.operator);
  const partner = new Partner(stack.webhookUrl);
  const event = (kind: string, data: object, timestamp = '2026-01-31T09:00:00Z') => ({
    event: kind,
    data: { display_name: NAME, name: NAME, ...data },
    timestamp,
  });
  const large = { user_id, pad: 'x'.repeat(1_100_000) };
  const { ContactPartnerTable, CastTable, UserUpdatedDeadLetterQueueUrl } = running.outputs;
  const contact = () => tables.get(ContactPartnerTable, { user_id });
  const member = () => tables.get(CastTable, { girl_id });
  const deliveries: [object, number][] = [
    [event('user.updated', large), 200],
    [event('user.updated', large, 'yesterday'), 400],
    [event('user.merged', large), 200],
    [event('user.merged', { other_user: user_id }), 200],
    [event('user.updated', { user_id }, 'yesterday'), 400],
    [event('girl.created', { girl_id, shop_id: 'shop-1' }), 200],
  ];
  for (const [body, status] of deliveries) expect((await partner.post(body)).status).toBe(status);
  await operator.put(UserUpdatedDeadLetterQueueUrl, JSON.stringify(event('user.updated', { user_id })), DEAD);
  // A redrive copied it, and was interrupted.
  const copy = { Key: 'girl.created/copy', Body: JSON.stringify(event('girl.created', { girl_id })) };
  await stack.s3.send(new PutObjectCommand({ Bucket: stack.payloadBucket, ...copy }));
  await eventually(async () => (await keys(stack.archiveBucket)).length === 2 || undefined);
  expect([await contact(), await member()]).toMatchObject([{ display_name: NAME }, { name: NAME }]);
  const before = await placesOf(NAME);
  expect(before.map((place) => place.replace(/[0-9a-f-]{32,}|\d{4}-.*/g, '…')).toSorted()).toEqual([
    `${CastTable}`,
    `${ContactPartnerTable}`,
    'QuarantineQueueUrl',
    'UnroutedQueueUrl',
    'UserUpdatedDeadLetterQueueUrl',
    'event=girl.created/date=…',
    'girl.created/copy',
    'quarantine/…',
    'unrouted/…',
    'user.updated/…',
  ]);

  const { done, said } = await forgetting([
    { kind: 'user', id: user_id },
    { kind: 'girl', id: girl_id },
  ]);
  expect(await placesOf(NAME)).toEqual([]);
  for (const key of await keys(stack.archiveBucket, 'event=')) expect(await forgotten(key)).toEqual([true]);
  expect(done).toBe(true);
  // They are removed last: without them, a later run would find no records.
  expect(said).toMatch(/\nTo delete: 4 objects of the payload bucket\n(?!(.*\n)*To )/);
  expect(said).toMatch(/To discard: 2 messages on the quarantine queue\n/);
  expect(said).toMatch(/\nThe tombstone in \S+, with the id, expires on \d{4}-/);
  expect(said).toMatch(
    /Delete it from \d{4}-\d\d-\d\d on: aws dynamodb delete-item --table-name \S+ --key '\{.*\}'\n/,
  );

  // Events that were on their way do not bring the data back.
  const old = '2026-01-30T09:00:00Z';
  const late = [
    event('user.updated', { user_id, profile_image_url: NAME, shop_id: 'shop-1' }, old),
    event('girl.created', { girl_id }, old),
  ];
  for (const body of late) expect((await partner.post(body)).status).toBe(200);
  await eventually(async () => (await keys(stack.archiveBucket, 'event=')).length === 4 || undefined);
  expect(await contact()).toEqual({
    user_id,
    version: expect.stringMatching(/^2026-01-31/),
    updated_at: expect.any(String),
    shop_id_version: expect.any(String),
    display_name_version: expect.any(String),
    profile_image_url_version: expect.any(String),
  });
  expect(await member()).toMatchObject({
    status: 'deleted',
    shop_id: 'shop-1',
    expires_at: expect.any(Number),
  });
  expect(await member()).not.toHaveProperty('name');
  tables.client.destroy();
});

/** Where a text is: keys of objects in all buckets, tables, outputs of queues, and log lines. */
async function placesOf(text: string): Promise<string[]> {
  const found: [place: string, content: unknown][] = [['logs', logs]];
  const { Buckets = [] } = await stack.s3.send(new ListBucketsCommand());
  for (const { Name: Bucket = '' } of Buckets) {
    for (const Key of await keys(Bucket)) {
      const { Body } = await stack.s3.send(new GetObjectCommand({ Bucket, Key }));
      const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
      found.push([Key, (Key.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()]);
    }
  }
  const tables = new Tables(running.operator);
  const outputs = Object.entries(running.outputs);
  for (const [, table] of outputs.filter(([name]) => name.endsWith('Table'))) {
    found.push([table, await tables.scan(table)]);
  }
  tables.client.destroy();
  for (const [name, QueueUrl] of outputs.filter(([name]) => name.endsWith('QueueUrl'))) {
    const peek = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 0 });
    const { Messages = [] } = await stack.sqs.send(peek);
    for (const { Body = '' } of Messages) {
      found.push([name, [Body, Buffer.from(JSON.parse(Body).bodyBase64 ?? '', 'base64').toString()]]);
    }
  }
  const isThere = (content: unknown) => JSON.stringify(content).includes(text);
  return [...new Set(found.filter(([, content]) => isThere(content)).map(([place]) => place))];
}

describe('a payload names a person', () => {
  const girl = (id: string) =>
    `{"event":"review.posted","data":{"girl_id" : ${id}},"timestamp":"2026-01-31T09:00:00Z"}`;
  const [SEVENTEEN, LARGE, EXPONENT]: Person[] = ['17', '90071992547409931', '12345678'].map((id) => ({
    kind: 'girl',
    id,
  }));

  test.each([
    ['in its id field', userUpdated({ user_id: 'user-1' }), AIKO, 'field'],
    ['after a byte order mark', `\ufeff${userUpdated({ user_id: 'user-1' })}`, AIKO, 'field'],
    ['by a number', girl('17'), SEVENTEEN, 'field'],
    ['by a number that JavaScript cannot hold', girl('90071992547409931'), LARGE, 'text'],
    ['by escaped text', girl('"1\\u0037"'), SEVENTEEN, 'field'],
    ['by a number with an exponent', girl('1.2345678E7'), EXPONENT, 'field'],
    ['by a number with a negative exponent', girl('123456780e-1'), EXPONENT, 'field'],
    ['in a text that is no JSON', girl('1.2345678E7').slice(1), EXPONENT, 'text'],
    [
      'in a kind that we do not know',
      JSON.stringify({ ...EVENT, event: 'a.b', data: { x: 'user-1' } }),
      AIKO,
      'text',
    ],
    ['not by a longer id', userUpdated({ user_id: 'user-12' }), AIKO, undefined],
    ['not in the field of another kind', userUpdated({ user_id: 'u', girl_id: 'user-1' }), AIKO, undefined],
    ['not in another field', userUpdated({ user_id: 'u', display_name: 'user-1' }), AIKO, undefined],
    ['not by a number with another exponent', girl('1.2345678e8'), EXPONENT, undefined],
    ['not in a text with another number', girl('1.2345678E8').slice(1), EXPONENT, undefined],
    ['not in a text that is part of a word', 'x1.2345678E7', EXPONENT, undefined],
  ])('%s', (_, payload, person, mention) => {
    expect(mentionIn(payload, [person as Person])).toBe(mention);
  });
});

describe('a record names a person', () => {
  test('as one of several persons, and with a payload that S3 no longer has, which stays', async () => {
    const ids = ['user-1', 'user-2', 'user-3'].map((user_id) => recordOf({ user_id }));
    const large = recordOf({}, { body: undefined, payloadKey: 'user.updated/gone', settledAt: ago(40) });
    await putRecords(stack, KEY, [...ids, large]);
    await forgetting([AIKO, { kind: 'user', id: 'user-3' }]);
    expect(await forgotten(KEY)).toEqual([true, false, true, false]);
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
    expect(said).toContain('3 of them are not events that we know, but have the id in their text');
    expect(await forgotten(KEY)).toEqual([true, true, false, true]);
    expect(await textOf(stack, KEY)).not.toMatch(/(?<!x)user-1(?!2)/);
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

// S3 counts the age of a rewritten object from the rewriting.
test.each([
  [
    'goes with a rewritten object',
    [
      ['user-1', 29],
      ['user-2', 29],
      ['user-3', 31],
    ],
    [true, false, true],
  ],
  [
    'goes from an object that was rewritten before',
    [
      ['user-2', 33],
      ['user-3', 32.5],
    ],
    [true, true],
  ],
  ['stays in an object that S3 is about to delete', [['user-2', 31]], [false]],
] as const)('an expired payload of others %s', async (_, lines, expected) => {
  await putRecords(
    stack,
    KEY,
    lines.map(([user_id, days]) => recordOf({ user_id }, { settledAt: ago(days) })),
  );
  const { said } = await forgetting([AIKO]);
  expect(await forgotten(KEY)).toEqual(expected);
  const count = lines.filter(([id], index) => expected[index] && id !== 'user-1').length;
  expect(said.includes(`To remove: ${count} payload`)).toBe(count > 0);
  // A second run finds nothing: it changes and asks nothing, and writes no note.
  const [before, written] = [await textOf(stack, KEY), await notes()];
  const nothing = 'Nothing was found, so nothing was changed.';
  const again = { done: true, asked: [], said: expect.stringContaining(nothing) };
  expect(await forgetting([AIKO])).toMatchObject(again);
  expect([await textOf(stack, KEY), await notes()]).toEqual([before, written]);
});

test('without an archive, the rest is searched, and events that wait are named', async () => {
  const { ArchiveBucket: _, ...outputs } = stack.outputs;
  const Attributes = { ApproximateNumberOfMessages: '2', ApproximateNumberOfMessagesNotVisible: '1' };
  const sqs = replied(new SQSClient(running.operator), (command, { QueueUrl }) =>
    command === 'GetQueueAttributesCommand' && QueueUrl === outputs.UserUpdatedQueueUrl
      ? { Attributes }
      : undefined,
  );
  const operation = { ...operator.operation(), stack: stack.with({ outputs, sqs }) };
  await operator.put(running.outputs.UnroutedQueueUrl, userUpdated({ user_id: 'user-1' }));
  const agreed = async () => true;
  expect(await forget(operation, [AIKO], { dryRun: false, agreed })).toBe(true);
  expect(operation.said).toContain('To discard: 1 message on the unrouted queue');
  expect(operation.said.join('\n')).toMatch(
    /^Not searched, because .*: 3 messages of user.updated. Repeat .* SQS deletes them by \d{4}-\d\d-\d\d\.$/m,
  );
  expect(await operator.queues.count(running.outputs.UnroutedQueueUrl)).toBe(0);
  sqs.destroy();
});

test('a message that another command takes meanwhile is counted', async () => {
  await operator.put(running.outputs.UnroutedQueueUrl, userUpdated({ user_id: 'user-1' }));
  const operation = operator.operation();
  const agreed = async () => {
    await operator.empty();
    return true;
  };
  expect(await forget(operation, [AIKO], { dryRun: false, agreed })).toBe(false);
  expect(operation.said).toContainEqual(expect.stringMatching(/^Not discarded: 1 message\. .* Repeat /));
});

test('messages of a removed event and those sent by hand are discarded; those in flight are named', async () => {
  const QueueUrl = await operator.leaveQueue('UserLeftDeadLetterQueue');
  for (const user_id of ['user-1', 'user-2']) await operator.put(QueueUrl, userUpdated({ user_id }));
  await operator.put(running.outputs.QuarantineQueueUrl, 'ask user-1');
  const release = await operator.receiveNew(running.outputs.UnroutedQueueUrl);
  const { done, said } = await forgetting([AIKO]);
  expect(done).toBe(false);
  expect(said).toContain('To discard: 1 message on the quarantine queue\n');
  expect(said).toContain('To discard: 1 message on the queue UserLeftDeadLetterQueue\n');
  expect(said).toMatch(/^Not searched: 1 message in flight on the unrouted queue\. .* by \d{4}-\d\d-\d\d$/m);
  expect((await operator.queues.takeAll(QueueUrl)).map(({ Body }) => Body)).toEqual([
    userUpdated({ user_id: 'user-2' }),
  ]);
  await release();
  await operator.queues.client.send(new DeleteQueueCommand({ QueueUrl }));
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
  expect(await keys(stack.archiveBucket)).toEqual([KEY, 'queries/a.csv']);
});

test('a note of the removal says who, when and how much, without the id', async () => {
  await putRecords(stack, KEY, [recordOf({ user_id: 'user-1' }), recordOf({ user_id: 'user-1' })]);
  await putObject(stack, 'queries/a.csv', Buffer.of());
  const { said } = await forgetting([AIKO]);
  expect(await notes()).toEqual([
    {
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      by: expect.stringMatching(/^arn:aws:/),
      persons: [{ kind: 'user', idSha256: sha256Hex('user-1') }],
      found: [
        'To remove: the payloads of 2 records in 1 object',
        'To delete: 1 object with results of queries, about any person',
      ],
      complete: true,
    },
  ]);
  expect(said).toMatch(/The note, without the ids, is forgotten\/\S+Z-[0-9a-f]{8}\.json/);
  expect(await keys(stack.archiveBucket, 'queries/')).toEqual([]);
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
  expect(said).toMatch(
    /S3 deletes them by 2\d{3}-\d\d-\d\d\. To delete one now: aws s3 rm s3:\/\/\S+\/KEY\n/,
  );
  const { Body } = await stack.s3.send(
    new GetObjectCommand({ Bucket: stack.outputs.ArchiveBucket, Key: KEY }),
  );
  expect(damaged.equals((await Body?.transformToByteArray()) ?? Buffer.of())).toBe(true);
  expect(await notes()).toEqual([]);
});

/** A client that calls back before and after each PutObject of an object with records. */
function watchedClient(on: { before?: () => Promise<unknown>; after?: () => void }): S3Client {
  const client = new S3Client({ ...running.operator, forcePathStyle: true });
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
  expect(first.said).toContain('Interrupted. What was removed stays removed.');
  expect((await Promise.all(objects.map(forgotten))).flat().sort()).toEqual([false, false, true]);

  expect(await forgetting([AIKO])).toMatchObject({
    done: true,
    said: expect.stringContaining('the payloads of 2 records in 2 objects'),
  });
  expect((await Promise.all(objects.map(forgotten))).flat()).toEqual([true, true, true]);
  expect(await keys(stack.archiveBucket, 'queries/')).toEqual([]);
});

test.each([
  { often: 'once is read again: no change is lost', times: 1, expected: [true, true] },
  { often: 'repeatedly is left unchanged', times: 4, expected: [false, true] },
])('an object that somebody else rewrites $often', async ({ times, expected }) => {
  const other = recordOf({ user_id: 'user-2' });
  const forgottenOther = { ...other, forgottenAt: '2026-02-01T00:00:00.000Z' };
  await putRecords(stack, KEY, [recordOf({ user_id: 'user-1' }), other]);
  let count = 0;
  const s3 = watchedClient({
    before: async () => {
      count += 1;
      if (count <= times)
        await putRecords(stack, KEY, [recordOf({ user_id: 'user-1', count }), forgottenOther]);
    },
  });
  const ended = await forgetting([AIKO], { s3 }).then(
    ({ done }) => done,
    ({ message }) => message,
  );
  s3.destroy();
  expect(ended).toBe(times === 1 || `Somebody else keeps changing ${KEY}: try again later`);
  expect(count).toBe(Math.min(times + 1, 3));
  expect(await forgotten(KEY)).toEqual(expected);
});
