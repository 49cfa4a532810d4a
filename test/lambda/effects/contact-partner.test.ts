import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ContactFields, ContactPartner } from '../../../lambda/effects/contact-partner.ts';
import { type Row, Tables } from '../../support/tables.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

const replay = { name: 'mend', mode: 'repair', notify: false } as const;

let aws: TestAws;
let tables: Tables;
let contacts: ContactPartner;
beforeAll(async () => {
  aws = await startTestAws();
  tables = new Tables(aws.operator);
  contacts = new ContactPartner(new DynamoDBClient(aws.operator), aws.outputs.ContactPartnerTable ?? '');
});
afterAll(() => aws.close());

const at = '2026-01-31T09:00:00.000Z';
const read = (userId: string) => tables.get(aws.outputs.ContactPartnerTable, { user_id: userId });
const update = (userId: string, version: string, fields: ContactFields) =>
  contacts.update({ userId, version, receivedAt: at, fields, replay: undefined });

test('stores the fields of an event', async () => {
  const fields = { shop_id: 's', display_name: 'Sora', profile_image_url: 'https://x.example/1' };
  await expect(update('new', '1', fields)).resolves.toBe('Processed');
  expect(await read('new')).toMatchObject({ user_id: 'new', ...fields, version: '1', updated_at: at });
});

test('a field that is absent from an event keeps its value', async () => {
  await update('partial', '1', { display_name: 'Sora', shop_id: 's' });
  await update('partial', '2', { display_name: 'Umi' });
  expect(await read('partial')).toMatchObject({ display_name: 'Umi', shop_id: 's', version: '2' });
});

test('an older event that comes late still writes the fields that no newer one has', async () => {
  await update('late', '2', { display_name: 'Umi' });
  await expect(update('late', '1', { display_name: 'Sora', shop_id: 's' })).resolves.toBe('Processed');
  expect(await read('late')).toMatchObject({ display_name: 'Umi', shop_id: 's', version: '2' });
});

test('an event is a duplicate while one of its fields is stored, and stale once newer events have written all', async () => {
  const older = { display_name: 'Sora', shop_id: 's' };
  await update('overtaken', '1', older);
  await update('overtaken', '2', { display_name: 'Umi' });
  await expect(update('overtaken', '1', older)).resolves.toBe('Duplicate');
  await update('overtaken', '3', { shop_id: 't' });
  await expect(update('overtaken', '1', older)).resolves.toBe('Stale');
});

test.each([
  ['an older event of the same fields', '1', 'Stale'],
  ['the same event again', '2', 'Duplicate'],
])('%s (version %s) is %s and writes nothing', async (_, version, outcome) => {
  await update(`skipped-${version}`, '2', { display_name: 'Umi' });
  await expect(update(`skipped-${version}`, version, { display_name: 'Sora' })).resolves.toBe(outcome);
  expect(await read(`skipped-${version}`)).toMatchObject({ display_name: 'Umi', version: '2' });
});

test('a version that is no text keeps no event out', async () => {
  await update('broken', '3', { display_name: 'Umi', shop_id: 's' });
  const Item = marshall({ ...(await read('broken')), display_name_version: null });
  await tables.client.send(new PutItemCommand({ TableName: aws.outputs.ContactPartnerTable, Item }));
  await expect(update('broken', '2', { display_name: 'Sora', shop_id: 'x' })).resolves.toBe('Processed');
  expect(await read('broken')).toMatchObject({ display_name: 'Sora', shop_id: 's', version: '3' });
});

test('an event without any field makes the record, once', async () => {
  await expect(update('bare', '1', {})).resolves.toBe('Processed');
  await expect(update('bare', '1', {})).resolves.toBe('Duplicate');
  expect(await read('bare')).toEqual({ user_id: 'bare', version: '1', updated_at: at });
});

describe('a repair of a contact', () => {
  const all = { shop_id: 's', display_name: 'Umi', profile_image_url: 'https://x.example/1' };
  const repair = (userId: string, version: string, fields: ContactFields) =>
    contacts.update({ userId, version, receivedAt: at, fields, replay });
  const harm = async (userId: string, columns: Row) => {
    const Item = marshall({ ...(await read(userId)), ...columns }, { removeUndefinedValues: true });
    await tables.client.send(new PutItemCommand({ TableName: aws.outputs.ContactPartnerTable, Item }));
  };

  test('makes the record what it was before the damage, to its last column', async () => {
    await update('mended', '2', all);
    const before = await read('mended');
    await harm('mended', { display_name: 'wrong', shop_id: undefined, updated_at: undefined });
    await expect(repair('mended', '2', all)).resolves.toBe('Processed');
    expect(await read('mended')).toEqual(before);
  });

  test('by an event whose fields newer ones have written is stale', async () => {
    await update('newer', '2', all);
    await expect(repair('newer', '1', { display_name: 'Sora' })).resolves.toBe('Stale');
    expect(await read('newer')).toMatchObject({ display_name: 'Umi', version: '2' });
  });

  test.each([
    ['missing', undefined],
    ['too low', '0'],
    ['no text', 7],
  ])('never writes over a newer field where the version of the record is %s', async (kind, version) => {
    await update(kind, '3', { display_name: 'Umi' });
    await update(kind, '2', { shop_id: 's' });
    await harm(kind, { version, shop_id: 'wrong' });
    await expect(repair(kind, '2', { display_name: 'Sora', shop_id: 's' })).resolves.toBe('Processed');
    expect(await read(kind)).toMatchObject({
      display_name: 'Umi',
      display_name_version: '3',
      shop_id: 's',
      shop_id_version: '2',
      version: '2',
    });
  });

  test('takes its version from a field that the event does not carry, for its real writer to write', async () => {
    await update('claimed', '1', { shop_id: 's' });
    await update('claimed', '2', { display_name: 'Umi' });
    await harm('claimed', { shop_id: '', shop_id_version: '2' });
    await expect(repair('claimed', '1', { shop_id: 's' })).resolves.toBe('Stale');
    await expect(repair('claimed', '2', { display_name: 'Umi' })).resolves.toBe('Processed');
    await expect(repair('claimed', '1', { shop_id: 's' })).resolves.toBe('Processed');
    expect(await read('claimed')).toMatchObject({ shop_id: 's', shop_id_version: '1', version: '2' });
  });
});
