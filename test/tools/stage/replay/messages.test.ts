import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { REPLAYABLE_RECEIPT_DAYS } from '../../../../lambda/queue/replay.ts';
import { replayMessage } from '../../../../tools/stage/replay/batch.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { archived } from '../archive/support.ts';
import { type Asked, ago, noted, numbered, Replayer, window } from './support.ts';

let aws: TestAws;
let replayer: Replayer;

beforeAll(async () => {
  aws = await startTestAws();
  replayer = await Replayer.create(aws);
});
afterEach(() => replayer.operator.empty());
afterAll(async () => {
  await replayer.close();
  await aws.close();
});

const shops = () => replayer.shops();

test('a record becomes the message that it was, and says which replay it is of', async () => {
  const { since, until, middle } = window();
  const [record = {}] = numbered(1);
  await replayer.archive('whole', [{ ...record, receivedAt: middle.toISOString() }], middle);
  await replayer.replay({ since, until, name: 'whole', mode: 'repair', notify: true });
  const [message = {}, ...others] = await replayer.taken('ShopUpdatedQueueUrl');
  expect(others).toEqual([]);
  expect(message.Body).toBe(record.body);
  const attributes = Object.entries(message.MessageAttributes ?? {}).map(([name, { StringValue }]) => [
    name,
    StringValue,
  ]);
  expect(Object.fromEntries(attributes)).toEqual({
    event: 'shop.updated',
    eventId: record.eventId,
    receivedAt: middle.toISOString(),
    requestId: 'request-0',
    replay: JSON.stringify({ name: 'whole', mode: 'repair', notify: true }),
  });
});

test('is of one group, whichever shop it is of, and counts all that SQS counts', () => {
  const replay = { name: 'n', mode: 'fill' as const, notify: false };
  const { entry, bytes } = replayMessage(archived({ requestId: undefined, body: '{"é":1}' }), replay);
  expect(entry.MessageGroupId).toBe('replay');
  // It was sent by hand.
  expect(entry.MessageAttributes).not.toHaveProperty('requestId');
  const attributes = Object.entries(entry.MessageAttributes ?? {}).map(
    ([name, { DataType = '', StringValue = '' }]) => name + DataType + StringValue,
  );
  expect(bytes).toBe('{"é":1}'.length + 1 + attributes.join('').length);
});

describe('a payload in the payload bucket', () => {
  const payloadKey = 'shop.updated/large';
  const stored = { body: undefined, payloadKey };

  test('that is there is referred to', async () => {
    const { since, until, middle } = window();
    const s3 = new S3Client({ ...aws.operator, forcePathStyle: true });
    await s3.send(new PutObjectCommand({ Bucket: aws.outputs.PayloadBucket, Key: payloadKey, Body: '{}' }));
    await replayer.archive('stored', [stored], middle);
    await replayer.replay({ since, until });
    const [message = {}] = await replayer.taken('ShopUpdatedQueueUrl');
    expect(message.Body).toBe(JSON.stringify({ payloadKey }));
    expect(noted(message, 'payloadKey')).toBe(payloadKey);
  });

  test('that is gone is counted, and nothing is sent for it', async () => {
    const { since, until, middle } = window();
    await replayer.archive('gone', [{ ...stored, payloadKey: 'shop.updated/gone' }, ...numbered(1)], middle);
    const { done, said } = await replayer.replay({ since, until });
    expect(await shops()).toEqual(['shop-0']);
    expect(said).toContain('Skipped: 1 without a payload.');
    expect(done).toBe(true);
  });
});

test('what a replay settled, and what is forgotten, is counted, and not sent', async () => {
  const { since, until, middle } = window();
  const without = { body: undefined };
  await replayer.archive(
    'others',
    [
      { ...without, replay: { name: 'before', mode: 'fill', notify: false } },
      { ...without, forgottenAt: middle.toISOString() },
      ...numbered(1),
    ],
    middle,
  );
  // An object of nothing else is not read again, and counts all the same.
  await replayer.archive(
    'only-others',
    [{ ...without, replay: { name: 'before', mode: 'fill', notify: false } }],
    middle,
  );
  const { said } = await replayer.replay({ since, until });
  expect(await shops()).toEqual(['shop-0']);
  expect(said).toContain('skipped   2 from replays, 1 forgotten');
  expect(said).toContain('Skipped: 2 from replays, 1 forgotten.');
});

test('what the replay itself has led to is neither sent nor counted, such as after an interruption', async () => {
  const { since, until, middle } = window();
  const replay = { name: 'own', mode: 'fill' as const, notify: false };
  await replayer.archive('own', [{ body: undefined, replay }, ...numbered(1)], middle);
  const { said } = await replayer.replay({ since, until, name: 'own' });
  expect(await shops()).toEqual(['shop-0']);
  expect(said).not.toMatch(/skipped/i);
});

test('what was received too long ago, however late it was settled, is counted, and not sent', async () => {
  const { since, until, middle } = window();
  const days = (count: number) => ({ receivedAt: ago(count * 24 * 60).toISOString() });
  const [old = {}, recent = {}] = numbered(2);
  await replayer.archive(
    'redriven',
    [
      { ...old, ...days(REPLAYABLE_RECEIPT_DAYS + 0.1) },
      { ...recent, ...days(REPLAYABLE_RECEIPT_DAYS - 0.1) },
    ],
    middle,
  );
  const { said, done } = await replayer.replay({ since, until });
  expect(await shops()).toEqual(['shop-1']);
  expect(said).toContain('skipped   1 received more than 83 days ago');
  expect(said).toContain('Skipped: 1 received more than 83 days ago.');
  expect(done).toBe(true);
});

describe('which records', () => {
  test('those settled in the window: its start is in it, its end is not', async () => {
    const { since, until, middle } = window();
    const [a = {}, b = {}, c = {}, d = {}] = numbered(4);
    const settled = (moment: Date, offset: number) => new Date(moment.getTime() + offset).toISOString();
    await replayer.archive(
      'edges',
      [
        { ...a, settledAt: settled(since.moment, -1) },
        { ...b, settledAt: settled(since.moment, 0) },
        { ...c, settledAt: settled(until.moment, -1) },
        { ...d, settledAt: settled(until.moment, 0) },
      ],
      middle,
    );
    await replayer.replay({ since, until });
    expect(await shops()).toEqual(['shop-1', 'shop-2']);
  });

  test.each([
    ['of a shop', { shop: 'shop-2' }, ['shop-2']],
    ['of ids', { ids: ['request-0', numbered(2)[1]?.eventId?.slice(0, 12) ?? ''] }, ['shop-0', 'shop-1']],
    ['of an outcome', { outcomes: ['Stale' as const] }, ['shop-3']],
    ['of an event', { events: ['user.updated' as const] }, []],
  ])('%s', async (_, asked, expected) => {
    const { since, until, middle } = window();
    const [a = {}, b = {}, c = {}, d = {}] = numbered(4);
    await replayer.archive('filtered', [a, b, c, { ...d, outcome: 'Stale' }], middle);
    await replayer.archive('of-a-user', [{ event: 'user.updated' }], middle);
    await replayer.replay({ since, until, ...asked });
    expect(await shops()).toEqual(expected);
    expect(await replayer.taken('UserUpdatedQueueUrl')).toHaveLength(expected.length === 0 ? 1 : 0);
  });

  test('of every event, each to its own queue', async () => {
    const { since, until, middle } = window();
    for (const event of eventNames) await replayer.archive(event, [{ event }], middle);
    const { said } = await replayer.replay({ since, until });
    for (const event of eventNames) {
      const { queueUrl } = replayer.operator.stack.event(event);
      expect([event, await replayer.operator.queues.count(queueUrl)]).toEqual([event, 1]);
    }
    expect(said).toContain(`sent ${eventNames.length} messages`);
  });
});

test('a batch is never larger than SQS takes', async () => {
  const { since, until, middle } = window();
  const large = (shop: string) => ({
    body: JSON.stringify({
      event: 'shop.updated',
      data: { shop_id: shop, name: 'x'.repeat(400_000) },
      timestamp: '2026-01-31T09:00:00Z',
    }),
  });
  await replayer.archive('large', ['shop-a', 'shop-b', 'shop-c', 'shop-d', 'shop-e'].map(large), middle);
  await replayer.replay({ since, until });
  expect(await shops()).toEqual(['shop-a', 'shop-b', 'shop-c', 'shop-d', 'shop-e']);
});

test('--dry-run ends after the plan: nothing is sent, and no name is used', async () => {
  const { since, until, middle } = window();
  await replayer.archive('dry', [...numbered(3), { ...numbered(1, 3)[0], outcome: 'DeadLettered' }], middle);
  const { done, said } = await replayer.replay({
    since,
    until,
    name: 'dry',
    mode: 'repair',
    dryRun: true,
    rate: 1,
  });
  expect(done).toBe(true);
  expect(await shops()).toEqual([]);
  expect(said).toContain('Replay dry in the stack of');
  expect(said).toContain('at least 4 s, at 1 message a second');
  expect(said).toContain('dead letters  1. They also stay on the dead-letter queue unless redriven.');
  expect(said).toMatch(/EVENT +MESSAGES +PROCESSED +DEAD-LETTERED\nshop\.updated +4 +3 +1$/);
  await expect(replayer.state('dry')).rejects.toMatchObject({ name: 'NoSuchKey' });
});

const plan = async (asked: Asked) => (await replayer.replay({ dryRun: true, ...asked })).said;

test('the plan shows the chosen mode and nothing about the other, and no price', async () => {
  const { since, until, middle } = window();
  await replayer.archive('state', numbered(16), middle);
  const fill = await plan({ since, until });
  expect(fill).toMatch(/ mode +fill: writes missing rows, leaves rows that are up to date\n/);
  expect(fill).not.toMatch(/repair|\$|CloudFront/);
  const repair = await plan({ since, until, mode: 'repair' });
  expect(repair).toMatch(/ mode +repair: rewrites rows from their newest events\n/);
  expect(repair).not.toMatch(/fill:|\$|CloudFront/);
});

test('the plan of a repair with a fixed end says that wrong writes may be settled later', async () => {
  const { since, until, middle } = window();
  await replayer.archive('ended', numbered(1), middle);
  const end = 'omit it, or set it 4 hours after the fix: wrong writes may be settled that late';
  expect(await plan({ since, until, mode: 'repair' })).toContain(end);
  expect(await plan({ since, until })).not.toContain(end);
  expect(await plan({ since, mode: 'repair' })).not.toContain(end);
});

test('the plan says who is notified, and how often at most', async () => {
  const { since, until, middle } = window();
  await replayer.archive('reviews', [{ event: 'review.posted' }, { event: 'review.posted' }], middle);
  await replayer.archive('girl', [{ event: 'girl.created' }], middle);
  const people = async (asked: Asked) => / people +(.*)/.exec(await plan({ since, until, ...asked }))?.[1];
  expect(await people({})).toBe(
    'at most 2 notifications (review 2). Nobody is notified twice about an event.',
  );
  expect(await people({ notify: true })).toBe(
    'at most 2 notifications (review 2). People are notified again, once per replay name.',
  );
  expect(await people({ events: ['girl.created'] })).toBe('nobody: these events send no notifications');
});
