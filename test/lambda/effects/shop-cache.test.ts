import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ShopCache } from '../../../lambda/effects/shop-cache.ts';
import { Tables } from '../../support/tables.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

const repair = { name: 'mend', mode: 'repair', notify: false } as const;

let aws: TestAws;
let tables: Tables;
let cache: ShopCache;
beforeAll(async () => {
  aws = await startTestAws();
  tables = new Tables(aws.operator);
  cache = new ShopCache(new DynamoDBClient(aws.operator), aws.outputs.ShopCacheTable ?? '');
});
afterAll(() => aws.close());

const at = '2026-01-31T09:00:00.000Z';
const read = (shopId: string) => tables.get(aws.outputs.ShopCacheTable, { shop_id: shopId });

/** A reader that caches what it read, on the condition that the version is what it saw before. */
const store = (shopId: string, seen: string | undefined) =>
  tables.client.send(
    new UpdateItemCommand({
      TableName: aws.outputs.ShopCacheTable,
      Key: { shop_id: { S: shopId } },
      UpdateExpression: 'SET shop = :shop',
      ConditionExpression: seen === undefined ? 'attribute_not_exists(version)' : 'version = :seen',
      ExpressionAttributeValues: { ':shop': { S: 'as read' }, ...(seen && { ':seen': { S: seen } }) },
    }),
  );

test('invalidating removes the cached shop and records when, why and by which version', async () => {
  await store('invalidated', undefined);
  await expect(
    cache.invalidate({
      shopId: 'invalidated',
      updatedFields: ['name'],
      receivedAt: at,
      version: '1',
      replay: undefined,
    }),
  ).resolves.toBe('Processed');
  expect(await read('invalidated')).toEqual({
    shop_id: 'invalidated',
    version: '1',
    invalidated_at: at,
    updated_fields: ['name'],
  });
});

test('a shop that was read before the event cannot be cached after it', async () => {
  await cache.invalidate({
    shopId: 'raced',
    updatedFields: undefined,
    receivedAt: at,
    version: '2',
    replay: undefined,
  });
  await expect(store('raced', undefined)).rejects.toThrow(/conditional/);
  await expect(store('raced', '1')).rejects.toThrow(/conditional/);
  await store('raced', '2');
  expect(await read('raced')).toMatchObject({ shop: 'as read' });
});

test.each([
  ['an older event', '1', 'Stale'],
  ['the same event again', '2', 'Duplicate'],
])('%s (version %s) is %s and leaves the cached shop', async (_, version, outcome) => {
  const shopId = `skipped-${version}`;
  await cache.invalidate({
    shopId,
    updatedFields: ['name'],
    receivedAt: at,
    version: '2',
    replay: undefined,
  });
  await store(shopId, '2');
  await expect(
    cache.invalidate({ shopId, updatedFields: [], receivedAt: at, version, replay: undefined }),
  ).resolves.toBe(outcome);
  expect(await read(shopId)).toMatchObject({ shop: 'as read', version: '2', updated_fields: ['name'] });
});

test('an endpoint that does not return the stored item makes a repeat stale', async () => {
  const client = new DynamoDBClient(aws.operator);
  client.middlewareStack.add(
    (next) => (call) =>
      next({ ...call, input: { ...call.input, ReturnValuesOnConditionCheckFailure: undefined } }),
    { step: 'initialize' },
  );
  const older = new ShopCache(client, aws.outputs.ShopCacheTable ?? '');
  const update = { shopId: 'unseen', updatedFields: [], receivedAt: at, version: '1', replay: undefined };
  await expect(older.invalidate(update)).resolves.toBe('Processed');
  await expect(older.invalidate(update)).resolves.toBe('Stale');
});

test('an event without updated_fields leaves none from an earlier one', async () => {
  await cache.invalidate({
    shopId: 'fields',
    updatedFields: ['name'],
    receivedAt: at,
    version: '1',
    replay: undefined,
  });
  await cache.invalidate({
    shopId: 'fields',
    updatedFields: undefined,
    receivedAt: at,
    version: '2',
    replay: undefined,
  });
  expect(await read('fields')).not.toHaveProperty('updated_fields');
});

test('more field names than an item holds do not keep the shop from being invalidated', async () => {
  const updatedFields = Array.from({ length: 50_000 }, (_, index) => `field-number-${index}`);
  await expect(
    cache.invalidate({ shopId: 'many', updatedFields, receivedAt: at, version: '1', replay: undefined }),
  ).resolves.toBe('Processed');
  expect(await read('many')).not.toHaveProperty('updated_fields');
});

test('of the field names 64 KiB of JSON are kept, and not a byte more', async () => {
  const sized = (bytes: number) => ['é'.repeat((bytes - '[""]'.length) / 2)];
  await cache.invalidate({
    shopId: 'fits',
    updatedFields: sized(64 * 1024),
    receivedAt: at,
    version: '1',
    replay: undefined,
  });
  expect(await read('fits')).toHaveProperty('updated_fields');
  await cache.invalidate({
    shopId: 'exceeds',
    updatedFields: sized(64 * 1024 + 2),
    receivedAt: at,
    version: '1',
    replay: undefined,
  });
  expect(await read('exceeds')).not.toHaveProperty('updated_fields');
});

test.each([
  ['10,000 characters', 'x'.repeat(10_000), 'sha256:'],
  ['control characters', 'shop\u0000\u001f', 'shop\u0000\u001f'],
])('a shop id of %s works', async (_, shopId, key) => {
  await expect(
    cache.invalidate({ shopId, updatedFields: [], receivedAt: at, version: '1', replay: undefined }),
  ).resolves.toBe('Processed');
  const rows = await tables.scan(aws.outputs.ShopCacheTable);
  expect(rows.filter((row) => String(row.shop_id).startsWith(key))).toHaveLength(1);
});

test.each([
  ['the same event', '2', 'Processed'],
  ['an older event', '1', 'Stale'],
])('a repair by %s is %s', async (_, version, outcome) => {
  const shopId = `repaired-${version}`;
  await cache.invalidate({
    shopId,
    updatedFields: ['name'],
    receivedAt: at,
    version: '2',
    replay: undefined,
  });
  const before = await read(shopId);
  await store(shopId, '2');
  await expect(
    cache.invalidate({ shopId, updatedFields: ['name'], receivedAt: at, version, replay: repair }),
  ).resolves.toBe(outcome);
  expect(await read(shopId)).toEqual(outcome === 'Processed' ? before : { ...before, shop: 'as read' });
});
