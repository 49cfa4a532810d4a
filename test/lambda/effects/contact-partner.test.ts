import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ContactFields, ContactPartner } from '../../../lambda/effects/contact-partner.ts';
import { Tables } from '../../support/tables.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

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
  contacts.update({ userId, version, at, fields });

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

test.each([
  ['an older event of the same fields', '1'],
  ['the same event again', '2'],
])('%s is stale', async (_, version) => {
  await update(`stale-${version}`, '2', { display_name: 'Umi' });
  await expect(update(`stale-${version}`, version, { display_name: 'Sora' })).resolves.toBe('Stale');
  expect(await read(`stale-${version}`)).toMatchObject({ display_name: 'Umi', version: '2' });
});

test('an event without any field makes the record, once', async () => {
  await expect(update('bare', '1', {})).resolves.toBe('Processed');
  await expect(update('bare', '1', {})).resolves.toBe('Stale');
  expect(await read('bare')).toEqual({ user_id: 'bare', version: '1', updated_at: at });
});
