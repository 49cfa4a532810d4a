import { DynamoDBClient, PutItemCommand, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Cast, type CastMember } from '../../../lambda/effects/cast.ts';
import { invalidationPaths } from '../../../lambda/effects/cloudfront-distribution.ts';
import { type ContactFields, ContactPartner } from '../../../lambda/effects/contact-partner.ts';
import type { VersionedChange } from '../../../lambda/effects/event-order.ts';
import { tableKey } from '../../../lambda/effects/item-values.ts';
import { ShopCache } from '../../../lambda/effects/shop-cache.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import { REPLAYABLE_DAYS, REPLAYABLE_RECEIPT_DAYS } from '../../../lambda/limits.ts';
import type { Replay } from '../../../lambda/queue/replay.ts';
import { functionEnvironment } from '../../support/function-environment.ts';
import { type Row, Tables } from '../../support/tables.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import { captureInTests, FunctionLines } from '../function-lines.ts';
import { type HttpRecorder, type RecorderAnswer, startHttpRecorder } from '../http-recorder.ts';

const AT = '2026-01-31T09:00:00.000Z';
const DAY = 24 * 60 * 60;
const KIB = 1024;
const REPAIR = { name: 'repair-1', mode: 'repair', notify: false } as const;

const lines = new FunctionLines();
let aws: TestAws;
let tables: Tables;
beforeAll(async () => {
  aws = await startTestAws();
  tables = new Tables(aws.operator);
  for (const name of ['girl-created', 'user-updated', 'shop-updated']) {
    Object.assign(process.env, functionEnvironment(name, aws));
  }
});
afterAll(() => aws.close());

let id: string;
let tests = 0;
beforeEach(() => {
  tests += 1;
  id = `id-${tests}`;
});
captureInTests(lines);

/** The fields that were left out since the test began, as logged. Each is also counted. */
function leftOut() {
  const logged = lines.logged.filter(({ message }) => message === 'FieldLeftOut');
  expect(lines.published('FieldLeftOut')).toHaveLength(logged.length);
  return logged.map(({ field, bytes }) => ({ field, bytes }));
}

const by = (version: string, replay: VersionedChange['replay'] = undefined) => ({
  receivedAt: AT,
  version,
  replay,
});

describe('the shop cache', () => {
  let cache: ShopCache;
  beforeAll(() => {
    cache = new ShopCache();
  });

  const read = (shopId = id) => tables.get(aws.outputs.ShopCacheTable, { shop_id: shopId });
  const invalidate = (change: VersionedChange, updatedFields?: readonly string[]) =>
    cache.invalidate({ ...change, shopId: id, updatedFields });

  /** A reader of decision 22: looks at the item, reads the shop elsewhere, then caches it. */
  async function reader() {
    const seen = (await read())?.invalidation;
    const condition = seen === undefined ? 'attribute_not_exists(invalidation)' : 'invalidation = :seen';
    const values = marshall({ ':shop': 'as read', ':seen': seen }, { removeUndefinedValues: true });
    return {
      cache: () =>
        tables.client.send(
          new UpdateItemCommand({
            TableName: aws.outputs.ShopCacheTable,
            Key: { shop_id: { S: id } },
            UpdateExpression: 'SET shop = :shop',
            ConditionExpression: condition,
            ExpressionAttributeValues: values,
          }),
        ),
    };
  }

  test('deletes a shop, and stores when, why and with which version', async () => {
    await (await reader()).cache();
    expect(await invalidate(by('1'), ['name'])).toBe('Processed');
    expect(await read()).toEqual({
      ...{ shop_id: id, version: '1', invalidated_at: AT, updated_fields: ['name'] },
      invalidation: expect.any(String),
    });
  });

  test.each([
    { event: 'the first event', change: by('1'), expected: 'Processed' },
    { event: 'a newer event', before: '1', change: by('2'), expected: 'Processed' },
    { event: 'an event that by its timestamp is older', before: '2', change: by('1'), expected: 'Stale' },
    { event: 'a repair', before: '2', change: by('2', REPAIR), expected: 'Processed' },
    { event: 'a repair by an older event', before: '2', change: by('1', REPAIR), expected: 'Stale' },
  ])('has no shop that was read or cached before $event', async ({ before, change, expected }) => {
    if (before) await invalidate(by(before));
    const late = await reader();
    await (await reader()).cache();
    expect(await invalidate(change)).toBe(expected);
    expect(await read()).not.toHaveProperty('shop');
    await expect(late.cache()).rejects.toThrow(/conditional/);
    await (await reader()).cache();
    expect(await read()).toMatchObject({ shop: 'as read' });
  });

  test('stays as it is after a stale event, apart from the shop, and keeps the shop after a repeat', async () => {
    await invalidate(by('2'), ['name']);
    expect(await invalidate(by('1'), [])).toBe('Stale');
    await (await reader()).cache();
    expect(await invalidate(by('2'), [])).toBe('Duplicate');
    expect(await read()).toMatchObject({ shop: 'as read', version: '2', updated_fields: ['name'] });
  });

  test.each<[string, string[] | undefined, kept: boolean]>([
    ['no field names', undefined, false],
    ['64 KiB of field names and a byte', ['é'.repeat(32 * 1024 - 2), ''], false],
    ['64 KiB of field names', ['é'.repeat(32 * 1024 - 2)], true],
  ])('has field names only if they fit, after an event with %s', async (_, fields, kept) => {
    await invalidate(by('1'), ['name']);
    expect(await invalidate(by('2'), fields)).toBe('Processed');
    expect(await read()).toEqual({
      ...{ shop_id: id, version: '2', invalidated_at: AT, invalidation: expect.any(String) },
      ...(kept && { updated_fields: fields }),
    });
    expect(leftOut()).toHaveLength(fields === undefined || kept ? 0 : 1);
  });

  test('accepts an id that is longer than a key, and one of control characters', async () => {
    for (id of ['x'.repeat(10_000), 'shop\u0000\u001f']) expect(await invalidate(by('1'))).toBe('Processed');
    expect(await read(`sha256:${sha256Hex('x'.repeat(10_000))}`)).toBeDefined();
    expect(await read('shop\u0000\u001f')).toBeDefined();
  });
});

describe('a distribution', () => {
  const created: RecorderAnswer = {
    status: 201,
    headers: { 'content-type': 'text/xml' },
    body: '<Invalidation xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Id>I1</Id><Status>InProgress</Status></Invalidation>',
  };
  const refused = (status: number, code: string): RecorderAnswer => ({
    status,
    headers: { 'content-type': 'text/xml' },
    body: `<ErrorResponse xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Error><Type>Sender</Type><Code>${code}</Code><Message>No.</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
  });

  let cloudFront: HttpRecorder;
  let answers: RecorderAnswer[];
  let shopInvalidator: typeof import('../../../lambda/effects/shop-cache.ts').shopInvalidator;
  beforeAll(async () => {
    ({ shopInvalidator } = await import('../../../lambda/effects/shop-cache.ts'));
  });
  beforeEach(async () => {
    answers = [];
    cloudFront = await startHttpRecorder(() => answers.shift() ?? created);
    process.env.AWS_ENDPOINT_URL_CLOUDFRONT = cloudFront.url;
    Object.assign(process.env, {
      DISTRIBUTION_ID: 'E1',
      INVALIDATION_PATHS: '["/shops/{shop_id}","/shops/{shop_id}/*"]',
    });
  });
  afterEach(async () => {
    await cloudFront.close();
  });

  /** Processes an event that invalidates the shop. Its id is its version. @returns the outcome, or the error’s name */
  async function invalidate(event: { shopId: string; version: string; replay?: Replay }): Promise<string> {
    const { version, replay } = event;
    const update = { ...event, replay, eventId: `event-${version}`, receivedAt: AT };
    const invalidateShop = await shopInvalidator();
    return invalidateShop(update).catch(({ name }: Error) => name);
  }

  const references = () =>
    cloudFront.requests.map(({ body }) => /<CallerReference>(.*)<\/CallerReference>/.exec(body)?.[1]);

  test('is invalidated after the cache', async () => {
    expect(await invalidate({ shopId: 'shop 1', version: '1' })).toBe('Processed');
    expect(cloudFront.requests).toEqual([
      expect.objectContaining({
        method: 'POST',
        path: '/2020-05-31/distribution/E1/invalidation',
        body: expect.stringMatching(
          /<Quantity>2<\/Quantity><Items><Path>\/shops\/shop%201<\/Path><Path>\/shops\/shop%201\/\*<\/Path><\/Items>/,
        ),
      }),
    ]);
    expect(references()).toEqual(['event-1']);
  });

  test('gets the same invalidation for a repeated event, or after a newer one', async () => {
    const shopId = 'again';
    const outcomes = [];
    for (const version of ['2', '2', '1']) outcomes.push(await invalidate({ shopId, version }));
    expect(outcomes).toEqual(['Processed', 'Duplicate', 'Stale']);
    expect(references()).toEqual(['event-2', 'event-2', 'event-1']);
  });

  test('gets another invalidation for each name of a repair that wrote; a fill counts as a delivery', async () => {
    const shopId = 'repaired';
    const repair: Replay = { name: 'repair-1', mode: 'repair', notify: false };
    await invalidate({ shopId, version: '2' });
    for (const version of ['2', '1']) await invalidate({ shopId, version, replay: repair });
    await invalidate({ shopId, version: '1', replay: { ...repair, mode: 'fill' } });
    expect(references()).toEqual(['event-2', 'event-2-repair-1', 'event-1']);
  });

  test.each([
    ['TooManyInvalidationsInProgress', 400],
    ['NoSuchDistribution', 404],
  ])('that answers %s is an error, after the cache was invalidated', async (code, status) => {
    answers = [refused(status, code)];
    expect(await invalidate({ shopId: code, version: '1' })).toBe(code);
    expect(await invalidate({ shopId: code, version: '1' })).toBe('Duplicate');
    expect(references()).toEqual(['event-1', 'event-1']);
  });

  // The client tries again, or the paths were changed after the event.
  test.each(['Throttling', 'InvalidationBatchAlreadyExists'])('that answers %s is no error', async (code) => {
    answers = [refused(400, code)];
    expect(await invalidate({ shopId: code, version: '1' })).toBe('Processed');
  });

  test('that is not configured gets no request', async () => {
    Object.assign(process.env, { DISTRIBUTION_ID: '', INVALIDATION_PATHS: '' });
    expect(await invalidate({ shopId: 'unnamed', version: '1' })).toBe('Processed');
    expect(cloudFront.requests).toEqual([]);
  });
});

describe('the cast', () => {
  let cast: Cast;
  beforeAll(() => {
    cast = new Cast();
  });

  const payloadOf = (data: string) => `{"event":"girl.created","data":${data}}`;
  const read = () => tables.get(aws.outputs.CastTable, { girl_id: id });
  const add = (change: VersionedChange, member: Partial<CastMember> = {}) =>
    cast.add(
      { girlId: id, shopId: 'shop-1', name: 'Hana', payload: payloadOf('{"age":20}'), ...member },
      change,
    );
  const remove = (change: VersionedChange, shopId?: string) => cast.remove({ girlId: id, shopId }, change);

  test('stores everything that the partner sent about a member', async () => {
    expect(await add(by('1'))).toBe('Processed');
    expect(await read()).toEqual({
      girl_id: id,
      shop_id: 'shop-1',
      name: 'Hana',
      data: '{"age":20}',
      status: 'active',
      version: '1',
      updated_at: AT,
    });
  });

  test('leaves a tombstone without personal data for 90 days when a member is removed', async () => {
    await add(by('1'));
    expect(await remove(by('2'), 'shop-1')).toBe('Processed');
    expect(await read()).toEqual({
      girl_id: id,
      shop_id: 'shop-1',
      status: 'deleted',
      version: '2',
      updated_at: AT,
      expires_at: Date.parse('2026-05-01T09:00:00Z') / 1000,
    });
  });

  test('keeps a tombstone longer than any replay of earlier events', async () => {
    const sqs = new SQSClient(aws.operator);
    const retention = async (QueueUrl: string | undefined) => {
      const AttributeNames = ['MessageRetentionPeriod' as const];
      const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }));
      return Number(Attributes?.MessageRetentionPeriod);
    };
    const onQueue = await retention(aws.outputs.GirlCreatedQueueUrl);
    const asDeadLetter = await retention(aws.outputs.GirlCreatedDeadLetterQueueUrl);
    await remove(by('1'));
    const life = Number((await read())?.expires_at) - Date.parse(AT) / 1000;
    expect(life).toBeGreaterThan(onQueue + asDeadLetter + REPLAYABLE_DAYS * DAY + onQueue);
    expect(life).toBe(REPLAYABLE_RECEIPT_DAYS * DAY + onQueue);
  });

  test('can be queried by shop, also by one whose id is longer than a key', async () => {
    const shopId = '店'.repeat(1000);
    expect(await add(by('1'), { shopId })).toBe('Processed');
    const { Items = [] } = await tables.client.send(
      new QueryCommand({
        TableName: aws.outputs.CastTable,
        IndexName: 'shop_id',
        KeyConditionExpression: 'shop_id = :shop',
        ExpressionAttributeValues: { ':shop': { S: `sha256:${sha256Hex(shopId)}` } },
      }),
    );
    expect(Items.map(({ girl_id }) => girl_id?.S)).toEqual([id]);
  });

  const notes = (bytes: number) => `{"notes":"${'é'.repeat((bytes - '{"notes":""}'.length) / 2)}"}`;

  test('keeps a member whose fields are all as long as possible', async () => {
    id = 'x'.repeat(2048);
    const data = notes(256 * KIB);
    const longest = { name: 'é'.repeat(32 * KIB), payload: payloadOf(data), shopId: id };
    expect(await add(by('1'), longest)).toBe('Processed');
    expect(await read()).toMatchObject({ name: longest.name, data });
    expect(leftOut()).toEqual([]);
    await add(by('2'), { ...longest, name: `${longest.name}x`, payload: payloadOf(notes(256 * KIB + 2)) });
    expect(leftOut().map(({ field }) => field)).toEqual(['name', 'data']);
  });
});

describe('the contact_partner record', () => {
  let contacts: ContactPartner;
  beforeAll(() => {
    contacts = new ContactPartner();
  });

  const read = () => tables.get(aws.outputs.ContactPartnerTable, { user_id: id });
  const update = (version: string, fields: ContactFields) =>
    contacts.update({ ...by(version), userId: id, fields });
  const repair = (version: string, fields: ContactFields) =>
    contacts.update({ ...by(version, REPAIR), userId: id, fields });

  const tooLong = 'é'.repeat(225 * KIB);

  test('keeps the other fields of an event with one that is longer than an item', async () => {
    const fields = { shop_id: 's', display_name: 'Sora', profile_image_url: tooLong };
    expect(await update('1', fields)).toBe('Processed');
    expect(await read()).toEqual({
      user_id: id,
      ...{ shop_id: 's', display_name: 'Sora' },
      ...{ shop_id_version: '1', display_name_version: '1', profile_image_url_version: '1' },
      version: '1',
      updated_at: AT,
    });
    expect(leftOut()).toEqual([{ field: 'profile_image_url', bytes: 450 * KIB }]);
    expect(await update('1', fields)).toBe('Duplicate');
  });

  /** Events of a contact: an old name, one that is too long, and a shop that came between them. */
  const past = {
    old: () => update('1', { display_name: 'Sora', shop_id: 'r' }),
    tooLong: () => update('3', { display_name: tooLong }),
    shop: () => update('2', { shop_id: 's' }),
    repair: () => repair('3', { display_name: tooLong }),
  };

  test.each<(keyof typeof past)[][]>([
    [['old', 'shop', 'tooLong']],
    [['shop', 'tooLong', 'old']],
    [['old', 'shop', 'repair', 'old']],
  ])('has no older value in place of one that is too long, after %j', async (order) => {
    for (const event of order) await past[event]();
    const row = await read();
    expect(row).toMatchObject({ shop_id: 's', display_name_version: '3' });
    expect(row).not.toHaveProperty('display_name');
    await update('4', { display_name: 'Umi' });
    expect(await read()).toMatchObject({ display_name: 'Umi' });
  });

  /** Overwrites attributes of the item, like a bug. */
  const harm = async (attributes: Row) => {
    const Item = marshall({ ...(await read()), ...attributes });
    await tables.client.send(new PutItemCommand({ TableName: aws.outputs.ContactPartnerTable, Item }));
  };

  test('is repaired by the event that carries a field, if the version of another event was stored for it', async () => {
    await update('2', { display_name: 'Umi' });
    await harm({ shop_id: 'wrong', shop_id_version: '2' });
    await repair('2', { display_name: 'Umi' });
    await repair('1', { shop_id: 's' });
    const right = { shop_id: 's', shop_id_version: '1', display_name: 'Umi', version: '2' };
    expect(await read()).toMatchObject(right);
  });

  test.each([1, 2, 3, 4, 5])(
    'is repaired even if an older delivery arrives after write %i of the repair',
    async (write) => {
      await update('3', { display_name: 'Umi' });
      await update('2', { shop_id: 's' });
      await harm({ version: '0', shop_id: 'wrong' });
      let writes = 0;
      const interrupted = new DynamoDBClient(aws.operator);
      interrupted.middlewareStack.add(
        (next) => async (call) => {
          const answer = await next(call).catch((error) => ({ error }));
          writes += 1;
          if (writes === write) await update('1', { shop_id: 'old' });
          if ('error' in answer) throw answer.error;
          return answer;
        },
        { step: 'initialize' },
      );
      await new ContactPartner(interrupted).update({
        ...by('2', REPAIR),
        userId: id,
        fields: { display_name: 'Sora', shop_id: 's' },
      });
      expect(writes).toBe(5);
      expect(await read()).toMatchObject({ shop_id: 's', shop_id_version: '2', version: '2' });
    },
  );
});

test.each([
  ['é'.repeat(1024), false],
  ['é'.repeat(1025), true],
])('an id of more than 2,048 bytes is hashed for the key: %#', (given, isHashed) => {
  expect(tableKey(given)).toBe(isHashed ? `sha256:${sha256Hex(given)}` : given);
  // An id that equals the hash of another one has a key of its own.
  if (isHashed) expect(tableKey(tableKey(given))).not.toBe(tableKey(given));
});

const patterns = ['/shops/{shop_id}', '/shops/{shop_id}/*'];

test('CloudFront gets valid paths that cover the shop, for every shop', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 2000 }), (shopId) => {
      const encoded = `/shops/${encodeURIComponent(shopId)}`;
      const plain = encoded.replace(/%(24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);
      const paths = invalidationPaths(patterns, shopId);
      for (const path of paths) {
        expect(path.length).toBeLessThanOrEqual(4000);
        expect(path).toMatch(/^\/(?:[^*~%]|%[0-9A-F]{2})*\*?$/);
      }
      for (const own of [encoded, plain]) {
        expect(
          paths.some((path) => (path.endsWith('*') ? own.startsWith(path.slice(0, -1)) : own === path)),
        ).toBe(true);
      }
    }),
  );
});
