import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LocalStack } from '../../local/local-stack.ts';
import { eventually } from '../support/eventually.ts';
import { Partner } from '../support/partner.ts';
import { Queues } from '../support/queues.ts';
import { type Row, Tables } from '../support/tables.ts';
import { startTestStack } from '../support/test-stack.ts';

let stack: LocalStack;
let partner: Partner;
let queues: Queues;
let tables: Tables;
beforeAll(async () => {
  stack = await startTestStack();
  partner = new Partner(stack.outputs.WebhookUrl);
  queues = new Queues(stack.operator);
  tables = new Tables(stack.operator);
});
afterAll(() => stack.close());

const timestamp = '2026-01-31T09:00:00Z';

const row = (
  table: string | undefined,
  key: Record<string, string>,
  fits: (item: Row) => boolean = () => true,
) =>
  eventually(async () => {
    const item = await tables.get(table, key);
    return item && fits(item) ? item : undefined;
  });

test('shop.updated invalidates the shop cache', async () => {
  const { body } = await partner.post({
    event: 'shop.updated',
    data: { shop_id: 'shop-1', updated_fields: ['name', 'address'] },
    timestamp,
  });
  expect(await row(stack.outputs.ShopCacheTable, { shop_id: 'shop-1' })).toMatchObject({
    updated_fields: ['name', 'address'],
    invalidated_at: expect.any(String),
    version: `2026-01-31T09:00:00.000000000Z#${body.eventId}`,
  });
});

test('girl.schedule_changed sends a notification to the chat room', async () => {
  const room = await queues.subscribe(stack.outputs.ChatTopicArn, 'chat-room');
  const { body } = await partner.post({
    event: 'girl.schedule_changed',
    data: { shop_id: 'shop-1', name: 'Hana' },
    timestamp,
  });
  const { Body, MessageAttributes } = await queues.take(room);
  expect(Body).toBe('Schedule changed\n\nShop: shop-1\nStaff member: Hana');
  expect(MessageAttributes).toMatchObject({
    event: { StringValue: 'girl.schedule_changed' },
    shop_id: { StringValue: 'shop-1' },
    eventId: { StringValue: body.eventId },
  });
});

test('girl.created and girl.deleted synchronise the cast', async () => {
  const data = { girl_id: 2002, shop_id: 'shop-1', name: 'Yuki', height: 160 };
  await partner.post({ event: 'girl.created', data, timestamp });
  const active = await row(stack.outputs.CastTable, { girl_id: '2002' });
  expect(active).toMatchObject({ status: 'active', shop_id: 'shop-1', name: 'Yuki' });
  expect(JSON.parse(String(active.data))).toEqual(data);

  await partner.post({ event: 'girl.deleted', data: { girl_id: 2002 }, timestamp: '2026-01-31T10:00:00Z' });
  const deleted = await row(
    stack.outputs.CastTable,
    { girl_id: '2002' },
    ({ status }) => status === 'deleted',
  );
  expect(deleted).not.toHaveProperty('name');
});

test('review.posted sends a review notification', async () => {
  const reviewers = await queues.subscribe(stack.outputs.ReviewTopicArn, 'reviewers');
  await partner.post({
    event: 'review.posted',
    data: { review_id: 'r-1', rating: 5, comment: 'Lovely 😀' },
    timestamp,
  });
  expect((await queues.take(reviewers)).Body).toBe(
    'Review posted\n\nRating: 5\nComment: Lovely 😀\nReview: r-1',
  );
});

test('user.updated updates the contact_partner record', async () => {
  const data = {
    user_id: 'user-1',
    shop_id: 'shop-1',
    display_name: 'Sora',
    profile_image_url: 'https://x.example/1.png',
  };
  await partner.post({ event: 'user.updated', data, timestamp });
  expect(await row(stack.outputs.ContactPartnerTable, { user_id: 'user-1' })).toMatchObject(data);
});

test('a repeated delivery and a later one that is older change nothing', async () => {
  const user = (display_name: string, at: string) => ({
    event: 'user.updated',
    data: { user_id: 'user-2', display_name },
    timestamp: at,
  });
  const newest = user('Umi', '2026-01-31T10:00:00Z');
  for (const delivery of [newest, newest, user('Sora', '2026-01-31T09:00:00Z')]) {
    expect((await partner.post(delivery)).status).toBe(200);
  }
  await eventually(async () =>
    (await queues.count(stack.outputs.UserUpdatedQueueUrl)) === 0 ? true : undefined,
  );
  expect(await tables.get(stack.outputs.ContactPartnerTable, { user_id: 'user-2' })).toMatchObject({
    display_name: 'Umi',
  });
});
