import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { KeptState } from '../../local/aws/kept/kept-state.ts';
import { openKeptState } from '../../local/aws/kept/open.ts';
import { createLogs } from '../../local/aws/logs.ts';
import { keepObservations } from '../../local/kept-observations.ts';
import type { Exchange, StackObserver } from '../../local/observation.ts';

let folder: string;
let kept: KeptState;
let told: unknown[];

const listening: StackObserver = {
  onExchange: (exchange) => told.push(exchange),
  onRow: (change) => told.push(change),
  onNotification: (notification) => told.push(notification),
  onEarlierLine: (text) => told.push(text),
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-kept-'));
  told = [];
  kept = await openKeptState(folder, console.error);
});

afterEach(async () => {
  kept.close();
  await rm(folder, { recursive: true, force: true });
});

/** @returns what an observer is told of the time before */
async function reopen(): Promise<unknown[]> {
  kept.close();
  kept = await openKeptState(folder, console.error);
  told = [];
  keepObservations(kept, listening);
  return told;
}

const exchange: Exchange = {
  requestId: 'request',
  receivedAt: new Date('2026-01-31T09:00:00.123Z'),
  method: 'POST',
  path: '/api/v1/webhooks/partner',
  query: 'a=b',
  headers: [
    ['X-Webhook-Signature', 'a'],
    ['X-Webhook-Signature', 'b'],
  ],
  sourceIp: '127.0.0.1',
  body: Buffer.from([0, 255, 10, 128]),
  status: 200,
  responseHeaders: [['content-type', 'application/json']],
  responseBody: Buffer.from('{}'),
  durationMilliseconds: 1.5,
};
const change = {
  table: 'shops',
  key: { shop_id: { S: 'shop-1' } },
  before: { shop_id: { S: 'shop-1' } },
  after: { shop_id: { S: 'shop-1' }, tags: { L: [{ S: 'a' }] } },
  at: new Date('2026-01-31T09:00:01Z'),
};
const notification = {
  topicArn: 'arn:aws:sns:us-east-1:000000000000:chat',
  subject: 'A subject',
  texts: { default: 'A text', email: 'Another' },
  attributes: { eventId: 'a'.repeat(64) },
  at: new Date('2026-01-31T09:00:02Z'),
};

test('an observer is told once what it is told, and in a later run the same, with the lines of functions', async () => {
  const observer = keepObservations(kept, listening);
  observer.onExchange(exchange);
  observer.onRow(change);
  observer.onNotification(notification);
  createLogs({ region: 'us-east-1', accountId: '000000000000', kept }).write('group', 'a line');
  expect(told).toEqual([exchange, change, notification]);
  expect(await reopen()).toMatchObject([exchange, change, notification, 'a line']);
  expect(await reopen()).toHaveLength(4);
});

test('a request whose body was not read and a row that was deleted are told so', async () => {
  const observer = keepObservations(kept, listening);
  observer.onExchange({ ...exchange, body: undefined });
  observer.onRow({ ...change, before: undefined, after: undefined });
  expect(await reopen()).toEqual([
    expect.objectContaining({ body: undefined }),
    expect.objectContaining({ before: undefined, after: undefined }),
  ]);
});

test('the newest are kept: 10,000 at most, and 64 Mi characters', async () => {
  const observer = keepObservations(kept, { ...listening, onRow: () => {}, onExchange: () => {} });
  for (let index = 0; index < 10_003; index += 1) observer.onRow({ ...change, table: `table ${index}` });
  const rows = await reopen();
  expect(rows).toHaveLength(10_000);
  expect(rows[0]).toMatchObject({ table: 'table 3' });

  const large = keepObservations(kept, { ...listening, onRow: () => {}, onExchange: () => {} });
  const body = Buffer.alloc(6 * 1024 * 1024);
  for (let index = 0; index < 10; index += 1) large.onExchange({ ...exchange, requestId: `${index}`, body });
  const after = await reopen();
  expect(after.map((one) => (one as Exchange).requestId)).toEqual(
    ['3', '4', '5', '6', '7', '8', '9'].slice(-after.length),
  );
  expect(after.length).toBe(7);
});
