import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { list } from '../../../../tools/stage/archive/list.ts';
import type { ReplayOptions } from '../../../../tools/stage/replay/plan.ts';
import { eventually } from '../../../support/eventually.ts';
import { essence, expectedState } from '../../../support/oracle.ts';
import { Partner } from '../../../support/partner.ts';
import { type SharedStack, sharedStack } from '../../../support/shared-stack.ts';
import { type Row, Tables } from '../../../support/tables.ts';
import { at, minutesAgo, Replayer } from './support.ts';

/** All that this test sends and replays is of this shop. */
const run = randomUUID();
const shop_id = `shop-${run}`;

let stack: SharedStack;
let replayer: Replayer;
let tables: Tables;
let room: string;

beforeAll(async () => {
  stack = await sharedStack();
  replayer = await Replayer.create(stack);
  tables = new Tables(stack.operator);
  room = await replayer.operator.queues.subscribe(stack.outputs.ReviewTopicArn, `reviews-${run}`);
});
afterAll(() => replayer.operator.close());

/** Two events of each girl and each user, the newer one first, and reviews. */
const bodies = [1, 2, 3, 4].flatMap((number) => {
  const event = (name: string, second: number, data: object) =>
    JSON.stringify({
      event: name,
      data: { shop_id, ...data },
      timestamp: `2026-01-31T09:00:0${second}.000Z`,
    });
  const girl = (second: number) =>
    event('girl.created', second, { girl_id: `${shop_id}-girl-${number}`, name: `Name ${second}` });
  const user = (second: number) =>
    event('user.updated', second, { user_id: `${shop_id}-user-${number}`, display_name: `Name ${second}` });
  return [girl(2), girl(1), user(2), user(1), event('review.posted', number, { rating: number })];
});

/** What the tables must hold, by the one rule that the newest event wins. */
const { cast, contacts } = expectedState(
  bodies.map((body) => ({ body, receivedAt: new Date().toISOString() })),
);
const expected = [...cast.values(), ...contacts.values()].map(essence);

const places = () => [
  ...[...cast.keys()].map((girl_id) => ({ table: stack.outputs.CastTable, key: { girl_id } })),
  ...[...contacts.keys()].map((user_id) => ({ table: stack.outputs.ContactPartnerTable, key: { user_id } })),
];
const rows = async (): Promise<(Row | undefined)[]> =>
  Promise.all(places().map(async ({ table, key }) => essence(await tables.get(table, key))));

/** Damages every row, as a mistake in a consumer would. */
async function damage(): Promise<void> {
  for (const { table, key } of places()) {
    const row = await tables.get(table, key);
    const wrong = 'girl_id' in key ? { name: 'wrong' } : { display_name: 'wrong' };
    await tables.client.send(new PutItemCommand({ TableName: table, Item: marshall({ ...row, ...wrong }) }));
  }
}

/** Waits until so many records of the shop are archived that have an outcome, or that the named replay led to. */
async function archived(count: number, name?: string): Promise<void> {
  await eventually(async () => {
    const { said, ...operation } = replayer.operator.operation();
    await list(operation, { shop: shop_id }, { json: true });
    const { days, replays } = JSON.parse(said.join(''));
    const outcomes = (days as Record<string, number>[]).map(
      ({ Processed = 0, Stale = 0 }) => Processed + Stale,
    );
    const found = name === undefined ? outcomes.reduce((sum, records) => sum + records, 0) : replays[name];
    return found === count || undefined;
  });
}

async function replay(
  name: string,
  options: Pick<ReplayOptions, 'until' | 'mode' | 'notify'>,
): Promise<void> {
  const asked = { name, shop: shop_id, since: at(minutesAgo(60)), ...options };
  expect(await replayer.replay(asked)).toMatchObject({ done: true });
  await archived(bodies.length, name);
}

/** The ids of the events that people were notified of, in their order. Takes the notifications. */
async function notified(): Promise<(string | undefined)[]> {
  const messages = await replayer.operator.taken(room);
  return messages
    .filter(({ MessageAttributes }) => MessageAttributes?.shop_id?.StringValue === shop_id)
    .map(({ MessageAttributes }) => MessageAttributes?.eventId?.StringValue)
    .sort();
}

test('a replay repairs what a mistake wrote, and notifies again only if it is to', async () => {
  const partner = new Partner(stack.outputs.WebhookUrl);
  for (const body of bodies) expect(await partner.post(body)).toMatchObject({ status: 200 });
  await archived(bodies.length);
  expect(await rows()).toEqual(expected);
  const reviews = bodies
    .filter((body) => body.includes('review.posted'))
    .map(sha256Hex)
    .sort();
  expect(await notified()).toEqual(reviews);

  // One end for all replays, so that only the first waits for what the archive may still get.
  const until = at(new Date());
  await damage();
  await replay(`fill-${run}`, { until, mode: 'fill' });
  const names = (await rows()).map((row) => row?.name ?? row?.display_name);
  expect(names).toEqual(expected.map(() => 'wrong'));
  await replay(`repair-${run}`, { until, mode: 'repair' });
  expect(await rows()).toEqual(expected);
  expect(await notified()).toEqual([]);

  await replay(`notify-${run}`, { until, mode: 'repair', notify: true });
  expect(await rows()).toEqual(expected);
  expect(await notified()).toEqual(reviews);
});
