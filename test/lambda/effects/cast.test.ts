import { DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Cast } from '../../../lambda/effects/cast.ts';
import type { VersionedChange } from '../../../lambda/effects/event-order.ts';
import { REPLAYABLE_DAYS } from '../../../lambda/queue/replay.ts';
import { type Row, Tables } from '../../support/tables.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

const repair = { name: 'mend', mode: 'repair', notify: false } as const;

let aws: TestAws;
let tables: Tables;
let cast: Cast;
beforeAll(async () => {
  aws = await startTestAws();
  tables = new Tables(aws.operator);
  cast = new Cast(new DynamoDBClient(aws.operator), aws.outputs.CastTable ?? '');
});
afterAll(() => aws.close());

const DAY = 24 * 60 * 60;
const at = '2026-01-31T09:00:00.000Z';
const read = (girlId: string) => tables.get(aws.outputs.CastTable, { girl_id: girlId });
const member = (girlId: string) => ({ girlId, shopId: 'shop-1', name: 'Hana', sentData: { age: 20 } });

test('adding a member stores her with everything that the partner sent', async () => {
  await expect(cast.add(member('added'), { receivedAt: at, version: '1', replay: undefined })).resolves.toBe(
    'Processed',
  );
  expect(await read('added')).toEqual({
    girl_id: 'added',
    shop_id: 'shop-1',
    name: 'Hana',
    data: '{"age":20}',
    status: 'active',
    version: '1',
    updated_at: at,
  });
});

test('removing a member leaves a tombstone without anything personal, for 90 days', async () => {
  await cast.add(member('removed'), { receivedAt: at, version: '1', replay: undefined });
  await expect(
    cast.remove({ girlId: 'removed', shopId: 'shop-1' }, { receivedAt: at, version: '2', replay: undefined }),
  ).resolves.toBe('Processed');
  expect(await read('removed')).toEqual({
    girl_id: 'removed',
    shop_id: 'shop-1',
    status: 'deleted',
    version: '2',
    updated_at: at,
    expires_at: Date.parse('2026-05-01T09:00:00Z') / 1000,
  });
});

test('a tombstone outlives all that a replay may send of the time before it', async () => {
  const sqs = new SQSClient(aws.operator);
  const retention = async (QueueUrl: string | undefined) => {
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['MessageRetentionPeriod'] }),
    );
    return Number(Attributes?.MessageRetentionPeriod);
  };
  const onQueue = await retention(aws.outputs.GirlCreatedQueueUrl);
  const asDeadLetter = await retention(aws.outputs.GirlCreatedDeadLetterQueueUrl);
  const settledLast = onQueue + asDeadLetter;
  const replayedLast = settledLast + REPLAYABLE_DAYS * DAY + onQueue;
  await cast.remove(
    { girlId: 'outlived', shopId: undefined },
    { receivedAt: at, version: '1', replay: undefined },
  );
  const expiresAt = Number((await read('outlived'))?.expires_at);
  expect(expiresAt - Date.parse(at) / 1000).toBeGreaterThan(replayedLast);
});

test('a late girl.created does not resurrect', async () => {
  await cast.remove(
    { girlId: 'gone', shopId: undefined },
    { receivedAt: at, version: '2', replay: undefined },
  );
  await expect(cast.add(member('gone'), { receivedAt: at, version: '1', replay: undefined })).resolves.toBe(
    'Stale',
  );
  expect(await read('gone')).toMatchObject({ status: 'deleted', version: '2' });
});

test.each([
  ['girl.created', (change: VersionedChange) => cast.add(member('added-again'), change)],
  [
    'girl.deleted',
    (change: VersionedChange) => cast.remove({ girlId: 'removed-again', shopId: undefined }, change),
  ],
])('the same %s again is a duplicate', async (_, write) => {
  const change = { receivedAt: at, version: '1', replay: undefined };
  await expect(write(change)).resolves.toBe('Processed');
  await expect(write(change)).resolves.toBe('Duplicate');
});

test('a newer girl.created after a deletion adds her again, without an expiry', async () => {
  await cast.remove(
    { girlId: 'back', shopId: undefined },
    { receivedAt: at, version: '1', replay: undefined },
  );
  await cast.add(member('back'), { receivedAt: at, version: '2', replay: undefined });
  expect(await read('back')).toMatchObject({ status: 'active' });
  expect(await read('back')).not.toHaveProperty('expires_at');
});

test('the cast of a shop is found by the shop', async () => {
  await cast.add(
    { ...member('by-shop'), shopId: 'shop-2' },
    { receivedAt: at, version: '1', replay: undefined },
  );
  const { Items = [] } = await tables.client.send(
    new QueryCommand({
      TableName: aws.outputs.CastTable,
      IndexName: 'shop_id',
      KeyConditionExpression: 'shop_id = :shop',
      ExpressionAttributeValues: { ':shop': { S: 'shop-2' } },
    }),
  );
  expect(Items.map(({ girl_id }) => girl_id?.S)).toEqual(['by-shop']);
});

test('a member whose data is larger than an item is stored without it', async () => {
  const sentData = { notes: 'x'.repeat(600_000) };
  await expect(
    cast.add({ ...member('large'), sentData }, { receivedAt: at, version: '1', replay: undefined }),
  ).resolves.toBe('Processed');
  expect(await read('large')).toMatchObject({ name: 'Hana' });
  expect(await read('large')).not.toHaveProperty('data');
});

test('of the data of a member 256 KiB of JSON are kept, and not a byte more', async () => {
  const sized = (bytes: number) => ({ notes: 'é'.repeat((bytes - '{"notes":""}'.length) / 2) });
  await cast.add(
    { ...member('fits'), sentData: sized(256 * 1024) },
    { receivedAt: at, version: '1', replay: undefined },
  );
  expect(await read('fits')).toHaveProperty('data');
  await cast.add(
    { ...member('exceeds'), sentData: sized(256 * 1024 + 2) },
    { receivedAt: at, version: '1', replay: undefined },
  );
  expect(await read('exceeds')).not.toHaveProperty('data');
});

test('a member whose data is nested too deeply to be written is stored without it', async () => {
  let sentData: object = {};
  for (let depth = 0; depth < 100_000; depth += 1) sentData = { sentData };
  await expect(
    cast.add({ ...member('deep'), sentData }, { receivedAt: at, version: '1', replay: undefined }),
  ).resolves.toBe('Processed');
  expect(await read('deep')).not.toHaveProperty('data');
});

test('data that cannot be written for another reason is an error: the row would lose it', async () => {
  const sentData = {
    toJSON: () => {
      throw new TypeError('a bug');
    },
  };
  await expect(
    cast.add({ ...member('bug'), sentData }, { receivedAt: at, version: '1', replay: undefined }),
  ).rejects.toThrow('a bug');
});

test('ids that are longer than a key, of girl and shop, work', async () => {
  const long = '店'.repeat(1000);
  await expect(
    cast.add({ ...member(long), shopId: long }, { receivedAt: at, version: '1', replay: undefined }),
  ).resolves.toBe('Processed');
});

describe('a repair of the cast', () => {
  const harm = async (girlId: string, columns: Row) => {
    const Item = marshall({ ...(await read(girlId)), ...columns });
    await tables.client.send(new PutItemCommand({ TableName: aws.outputs.CastTable, Item }));
  };

  test('makes a member what she was before the damage, to the last column', async () => {
    await cast.add(member('mended'), { receivedAt: at, version: '2', replay: undefined });
    const before = await read('mended');
    await harm('mended', { name: 'wrong', status: 'deleted', expires_at: 1, notes: 'nobody’s' });
    await expect(cast.add(member('mended'), { receivedAt: at, version: '2', replay: repair })).resolves.toBe(
      'Processed',
    );
    expect(await read('mended')).toEqual(before);
  });

  test('makes a tombstone what it was before the damage, to the last column', async () => {
    const gone = { girlId: 'entombed', shopId: 'shop-1' };
    await cast.remove(gone, { receivedAt: at, version: '2', replay: undefined });
    const before = await read('entombed');
    await harm('entombed', { name: 'Hana', status: 'active', expires_at: 1 });
    await expect(cast.remove(gone, { receivedAt: at, version: '2', replay: repair })).resolves.toBe(
      'Processed',
    );
    expect(await read('entombed')).toEqual(before);
  });

  test('by an older event is stale', async () => {
    await cast.remove(
      { girlId: 'newer', shopId: undefined },
      { receivedAt: at, version: '2', replay: undefined },
    );
    await expect(cast.add(member('newer'), { receivedAt: at, version: '1', replay: repair })).resolves.toBe(
      'Stale',
    );
    expect(await read('newer')).toMatchObject({ status: 'deleted', version: '2' });
  });
});
