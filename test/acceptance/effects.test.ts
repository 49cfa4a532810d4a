import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Deployment } from './deployment.ts';
import { eventIdIn, type Subscriber } from './messages.ts';
import { minutesAgo, ofThisRun } from './target.ts';

let deployment: Deployment;
let chatRoom: Subscriber;
let reviewers: Subscriber;
beforeAll(async () => {
  deployment = await Deployment.connect();
  chatRoom = await deployment.subscribe(deployment.outputs.ChatTopicArn, ofShop, 'chat');
  reviewers = await deployment.subscribe(deployment.outputs.ReviewTopicArn, ofShop, 'review');
});
afterAll(() => deployment?.cleanUp());

const shop = ofThisRun('shop');
const ofShop = { shop_id: [shop] };
const timestamp = minutesAgo(2);
const normalisedTimestamp = timestamp.replace('Z', '000000Z');
const aMinuteLater = minutesAgo(1);

test('shop.updated invalidates the shop cache', async () => {
  const { body } = await deployment.post({
    event: 'shop.updated',
    data: { shop_id: shop, name: 'Acceptance', updated_fields: ['name', 'address'] },
    timestamp,
  });
  expect(await deployment.row(deployment.outputs.ShopCacheTable, { shop_id: shop })).toMatchObject({
    updated_fields: ['name', 'address'],
    invalidated_at: expect.any(String),
    version: `${normalisedTimestamp}#${body.eventId}`,
  });
});

test('girl.created and girl.deleted synchronise the cast', async () => {
  const data = { girl_id: ofThisRun('girl'), shop_id: shop, name: 'Yuki', height: 160 };
  await deployment.post({ event: 'girl.created', data, timestamp });
  const active = await deployment.row(deployment.outputs.CastTable, { girl_id: data.girl_id });
  expect(active).toMatchObject({ status: 'active', shop_id: shop, name: 'Yuki' });
  expect(JSON.parse(String(active.data))).toEqual(data);

  await deployment.post({
    event: 'girl.deleted',
    data: { girl_id: data.girl_id },
    timestamp: aMinuteLater,
  });
  const deleted = await deployment.row(
    deployment.outputs.CastTable,
    { girl_id: data.girl_id },
    ({ status }) => status === 'deleted',
  );
  expect(deleted).not.toHaveProperty('name');
});

test('user.updated updates the contact_partner record, the same for any order and number of deliveries', async () => {
  const user_id = ofThisRun('user');
  const event = 'user.updated';
  const newer = { event, data: { user_id, display_name: 'Umi' }, timestamp: aMinuteLater };
  const data = {
    user_id,
    shop_id: shop,
    display_name: 'Sora',
    profile_image_url: 'https://x.example/1.png',
  };
  const older = { event, data, timestamp };
  for (const delivery of [newer, newer, older, newer]) {
    expect((await deployment.post(delivery)).status).toBe(200);
  }
  // The older event has fields that the newer one lacks, which show that it was processed.
  const record = await deployment.row(
    deployment.outputs.ContactPartnerTable,
    { user_id },
    ({ display_name, profile_image_url }) => display_name === 'Umi' && profile_image_url !== undefined,
  );
  expect(record).toMatchObject({ ...data, display_name: 'Umi' });
});

const scheduleChanged = (name: string) => ({
  event: 'girl.schedule_changed',
  data: { shop_id: shop, name },
  timestamp,
});

test('girl.schedule_changed sends a notification to the chat room, once for repeated deliveries', async () => {
  const first = scheduleChanged('Acceptance test');
  const answer = await deployment.post(first);
  const received = await deployment.notifications(chatRoom, answer);
  for (const repeat of [first, first]) await deployment.post(repeat);
  const end = await deployment.post(scheduleChanged('End of the acceptance test'));
  received.push(...(await deployment.notifications(chatRoom, end)));

  const { eventId } = answer.body;
  const ofFirst = received.filter((message) => eventIdIn(message) === eventId);
  expect(ofFirst.map(({ Body }) => JSON.parse(Body ?? ''))).toEqual([
    {
      event: 'girl.schedule_changed',
      eventId,
      timestamp: normalisedTimestamp,
      title: 'Schedule changed',
      data: { shop_id: shop, name: 'Acceptance test' },
    },
  ]);
  expect(ofFirst[0]?.MessageAttributes).toMatchObject({
    event: { StringValue: 'girl.schedule_changed' },
    shop_id: { StringValue: shop },
  });
});

test('review.posted sends a review notification', async () => {
  const answer = await deployment.post({
    event: 'review.posted',
    data: { review_id: ofThisRun('review'), shop_id: shop, rating: 5, comment: 'Acceptance test 😀' },
    timestamp,
  });
  const [notification] = await deployment.notifications(reviewers, answer);
  expect(JSON.parse(notification?.Body ?? '')).toEqual({
    event: 'review.posted',
    eventId: answer.body.eventId,
    timestamp: normalisedTimestamp,
    title: 'Review posted',
    data: { review_id: ofThisRun('review'), shop_id: shop, rating: '5', comment: 'Acceptance test 😀' },
  });
});
