import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Console, startConsole } from '../../../tools/console/server/server.ts';
import { Source } from '../../../tools/console/source.ts';
import { LocalFeed } from '../../../tools/stage/history/local-feed.ts';
import { MAX_DELIVERIES } from '../../../tools/stage/history/store.ts';
import { Stage } from '../../../tools/stage/stage.ts';
import { EventReader } from './event-reader.ts';
import { Api, answered, TEST_TOKEN } from './support.ts';

/** Deliveries whose bodies are so large that the oldest bodies go. */
const LARGE = 50;

/** With those, as many as the store keeps. */
const MANY = MAX_DELIVERIES - LARGE;

/** Of a large body. */
const BODY_BYTES = 6 * 1024 * 1024;

const outputs = { QuarantineQueueUrl: 'http://localhost:1/000000000000/quarantine' };

let feed: LocalFeed;
let source: Source;
let console: Console;
let api: Api;

beforeAll(async () => {
  feed = new LocalFeed();
  source = new Source(new Stage('the local stack', outputs), feed.store);
  console = await startConsole({ source, port: 0, token: TEST_TOKEN, readOnly: false, local: undefined });
  api = new Api(console.port);
  for (let index = 0; index < MANY; index += 1) deliver(`request-${index}`, payload(index));
});
afterAll(async () => {
  await console.close();
  await source.close();
  feed[Symbol.dispose]();
});

const payload = (index: number) =>
  Buffer.from(
    JSON.stringify({
      event: 'user.updated',
      data: {
        user_id: `user-${index}`,
        shop_id: `shop-${index % 50}`,
        display_name: `Name ${index}`,
        profile_image_url: `https://images.example.com/${randomUUID()}/${randomUUID()}.png`,
      },
      timestamp: '2026-01-31T09:00:00Z',
      webhookId: randomUUID(),
    }),
  );

function deliver(requestId: string, body: Buffer): void {
  feed.onExchange(answered(requestId, body));
}

test('almost 20,000 deliveries are listed, and compressed where the client takes it', async () => {
  const { body } = await api.get(`/api/deliveries?limit=${MANY}`);
  expect(body.total).toBe(MANY);
  expect(new Set(body.deliveries.map(({ id }: { id: string }) => id)).size).toBe(MANY);
  const compressed = await api.get(`/api/deliveries?limit=${MANY}`, { 'accept-encoding': 'gzip, br' });
  expect(compressed.headers['content-encoding']).toBe('gzip');
  expect(compressed.bytes.length).toBeLessThan(JSON.stringify(body).length / 4);
});

test('of large bodies the oldest are let go, which their requests say', async () => {
  const ids = Array.from({ length: LARGE }, (_, index) => `large-${index}`);
  for (const id of ids) deliver(id, Buffer.alloc(BODY_BYTES, 'x'));
  const requestOf = async (id: string) => source.request(feed.store.get(id) ?? fail(id));
  expect(await requestOf('request-0')).toMatchObject({ bodyMissing: expect.stringContaining('256 MiB') });
  expect(await requestOf('large-0')).toMatchObject({ bytes: BODY_BYTES, bodyMissing: expect.any(String) });
  expect(await requestOf('large-49')).not.toHaveProperty('bodyMissing');
  const kept = ids.filter((id) => feed.store.payload(id) !== undefined);
  expect(kept).toHaveLength(Math.floor((256 * 1024 * 1024) / BODY_BYTES));
  const missing = await api.get('/api/deliveries/large-0/body');
  expect(missing).toMatchObject({ status: 404, body: { detail: 'The body of this delivery is not kept' } });
});

test('the oldest deliveries are removed from open pages, also those that resume', async () => {
  const open = await new EventReader(console.port).ready();
  const before = open.rows();
  expect(before.size).toBe(MAX_DELIVERIES);
  const search = await new EventReader(console.port, '/api/stream?search=user.updated').ready();
  search.cut();
  deliver('request-new', payload(MANY));
  await open.until((now) => now.rows().has('request-new'));
  const now = open.rows();
  expect([...before.keys()].filter((id) => !now.has(id))).toContain('request-0');
  const resumed = await new EventReader(
    console.port,
    '/api/stream?search=user.updated',
    search.lastId,
  ).ready();
  expect([...resumed.rows().keys()]).toEqual(['request-new']);
  expect(resumed.rows(search.rows()).has('request-0')).toBe(false);
  for (const reader of [open, resumed]) reader.cut();
});

function fail(id: string): never {
  throw new Error(`${id} is not known`);
}
