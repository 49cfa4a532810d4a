import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { listen } from 'local-aws/gateway';
import { eventually } from '../../../test/support/eventually.ts';
import { PageUpdates } from '../../console/server/page-updates.ts';
import { QueueWatch } from '../../console/server/queue-watch.ts';
import { streamRoutes } from '../../console/server/stream-routes.ts';
import { Source } from '../../console/source.ts';
import type { Fact } from '../../stage/history/facts.ts';
import { HistoryStore, MAX_DELIVERIES } from '../../stage/history/store.ts';
import { Stage } from '../../stage/stage.ts';
import { answered, EventReader, startConsoleAlone } from './support.ts';

let running: Awaited<ReturnType<typeof startConsoleAlone>>;
const readers: EventReader[] = [];

beforeAll(async () => {
  running = await startConsoleAlone();
});
afterEach(() => {
  for (const reader of readers.splice(0)) reader.cut();
});
afterAll(() => running[Symbol.asyncDispose]());

function read(path?: string, lastEventId?: string, port = running.console.port): EventReader {
  const reader = new EventReader(port, path, lastEventId);
  readers.push(reader);
  return reader;
}

let last = 0;

/**
 * Adds a queued delivery to the store.
 * @returns its id
 */
function add(shop: string): string {
  last += 1;
  const requestId = `request-${last}`;
  const body = JSON.stringify({ event: 'shop.updated', data: { shop_id: shop } });
  running.feed.onExchange(answered(requestId, Buffer.from(body), new Date(1_800_000_000_000 + last)));
  return requestId;
}

function settle(requestId = ''): void {
  const ids = { eventId: 'e', event: 'shop.updated', requestId, messageId: 'm' };
  const timestamp = new Date(1_800_000_100_000).toISOString();
  const line = { level: 'INFO', message: 'Processed', timestamp, attempt: 1, latencyMs: 5 };
  running.feed.onLog({ text: JSON.stringify({ ...line, ...ids }) });
}

const idsOf = ({ data }: EventReader['events'][number]) => data.put.map(({ id }: { id: string }) => id);

const rowsOf = (store: HistoryStore) => new Map(store.list({}).deliveries.map((row) => [row.id, row]));

describe('the stream', () => {
  test('begins with all deliveries, marks the end of them, and then sends changes', async () => {
    const ids = [add('shop-a'), add('shop-a')];
    add('shop-b');
    const reader = await read('/api/stream?search=shop-a').ready();
    expect(reader.events.slice(0, 1).map(idsOf)).toEqual([ids]);
    expect(reader.events[1]?.data).toEqual({ total: 2 });
    const id = add('shop-a');
    await reader.until((now) => now.rows().get(id)?.state === 'queued');
    settle(id);
    await reader.until((now) => now.rows().get(id)?.state === 'processed');
    expect(reader.names).toEqual(['deliveries', 'ready', 'deliveries', 'deliveries']);
  });

  test('collects a burst in batches of at most 500', async () => {
    const reader = await read('/api/stream?search=shop-g').ready();
    for (let count = 0; count < 1_200; count += 1) add('shop-g');
    await reader.until((now) => now.rows().size === 1_200);
    const batches = reader.events.slice(1).map(({ data }) => data.put.length);
    expect(Math.max(...batches)).toBe(500);
    expect(batches.length).toBeLessThan(10);
  });

  test('that is interrupted at any moment ends with the same state', async () => {
    let rows = new Map();
    let lastId: string | undefined;
    const ids: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const reader = read(undefined, lastId);
      for (let count = 0; count < 150; count += 1) {
        ids.push(add('shop-i'));
        settle(ids[(count * 7919) % ids.length]);
        if (count % 50 === 0) await sleep(5);
      }
      reader.cut();
      await reader.until(({ isOver }) => isOver);
      rows = reader.rows(rows);
      lastId = reader.lastId ?? lastId;
    }
    const end = await read(undefined, lastId).ready();
    expect(end.names).not.toContain('reset');
    expect(end.rows(rows)).toEqual(rowsOf(running.feed.store));
  });

  test('resumes where it was interrupted, without gaps and repetitions', async () => {
    const [changed] = [add('shop-h'), add('shop-h')];
    const first = await read('/api/stream?search=shop-h').ready();
    first.cut();
    settle(changed);
    const id = add('shop-h');
    // A page that was hidden opens a new stream and sends the last id in the address.
    const after = `/api/stream?search=shop-h&after=${first.lastId}`;
    const second = await read(after).ready();
    expect(second.names).toEqual(['deliveries', 'ready']);
    expect(second.events.slice(0, 1).map(idsOf)).toEqual([[changed, id]]);
    // A browser that reconnects uses the old address, and sends the newer id in the header.
    const third = await read(after, second.lastId).ready();
    expect(third.names).toEqual(['ready']);
  });

  test.each(['of-another-process-7', 'nonsense'])('begins again after %s, with a reset', async (id) => {
    const known = add('shop-k');
    const reader = await read('/api/stream?search=shop-k', id).ready();
    expect(reader.names[0]).toBe('reset');
    expect(reader.rows().has(known)).toBe(true);
  });

  test('sends notices to open pages, and the newest of each subject to a new page', async () => {
    await using other = await startConsoleAlone();
    const { updates, port } = other.console;
    const there = await read(undefined, undefined, port).ready();
    updates.notice({ about: 'code', level: 'error', text: 'It does not build' });
    updates.notice({ about: 'code', level: 'info', text: 'Built' });
    await there.until(({ events }) => events.some(({ data }) => data.text === 'Built'));
    const later = await read(undefined, undefined, port).ready();
    expect(later.events[0]).toMatchObject({ event: 'notice', data: { about: 'code', text: 'Built' } });
  });

  test('can be opened by a browser without changes, which reconnects after a second', async () => {
    const { status, headers } = await running.api.request('/api/stream', { method: 'HEAD' });
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'text/event-stream' });
    const { beginning } = await read('/api/stream?search=nothing').ready();
    expect(beginning).toMatch(/^retry: 1000\n\n/);
  });

  test('ends with the console', async () => {
    const other = await startConsoleAlone();
    const reader = await read(undefined, undefined, other.console.port).ready();
    await other[Symbol.asyncDispose]();
    await reader.until(({ isOver }) => isOver);
  });
});

const stage = () =>
  new Stage('the local stack', { QuarantineQueueUrl: 'http://localhost:1/000000000000/quarantine' });

function failed(index: number, attempt: number, error = 'x'): Fact {
  const at = Date.parse('2026-01-31T09:00:00Z') + (index + attempt) * 1000;
  const ids = { requestId: `request-${index}`, eventId: `event-${index}`, event: 'shop.updated' };
  const about = { level: 'WARN', message: 'Failed', messageId: `message-${index}`, attempt };
  const line = { ...about, ...ids, timestamp: new Date(at).toISOString(), retryInSeconds: 30, error };
  return { kind: 'line', at, function: 'shop.updated', ...ids, text: JSON.stringify(line) };
}

/** A watch for a stage whose queues cannot be read. */
const watchOf = (store: HistoryStore, updates: PageUpdates) =>
  new QueueWatch({
    store,
    updates,
    readQueues: () => Promise.reject(new Error('No queues')),
    readFaults: undefined,
    onError: () => {},
  });

test('the oldest deliveries are removed from open pages, also from those that resume', async () => {
  await using full = await startConsoleAlone();
  const { store } = full.feed;
  for (let index = 0; index < MAX_DELIVERIES; index += 1) store.add(failed(index, 1));
  const path = '/api/stream?search=event-0';
  const open = await read(path, undefined, full.console.port).ready();
  const cut = await read(path, undefined, full.console.port).ready();
  cut.cut();
  expect([...open.rows().keys()]).toEqual(['request-0']);
  store.add(failed(MAX_DELIVERIES, 1));
  await open.until((now) => now.rows().size === 0);
  const resumed = await read(path, cut.lastId, full.console.port).ready();
  expect(resumed.rows(cut.rows()).size).toBe(0);
});

test('a client that disconnects before its stream begins leaves nothing behind', async () => {
  const store = new HistoryStore();
  const updates = new PageUpdates();
  const context = { source: new Source(stage(), store), report: () => {}, closing: AbortSignal.abort() };
  const outgoing = new EventEmitter();
  const watch = watchOf(store, updates);
  const subscribe = jest.spyOn(updates, 'subscribe');
  const response = await streamRoutes({ ...context, updates, watch }).request('/', {}, { outgoing });
  expect(await response.text()).toBe('');
  expect(subscribe).not.toHaveBeenCalled();
});

// Takes some seconds: writes 20 MB of rows.
test('a client that does not read is disconnected, costs little memory, and can resume', async () => {
  // About 20 MB of rows: more than fits into the buffers of two sockets.
  const rows = 6_000;
  const error = 'x'.repeat(3_000);
  const store = new HistoryStore();
  store.add(...Array.from({ length: rows }, (_, index) => failed(index, 1, error)));
  const source = new Source(stage(), store);
  const closing = new AbortController();
  const report = jest.fn();
  const updates = new PageUpdates();
  const watch = watchOf(store, updates);
  const app = streamRoutes({ source, updates, watch, report, closing: closing.signal }, 300);
  let buffered = 0;
  const listener = getRequestListener(
    (request, env) => {
      const { outgoing } = env as HttpBindings;
      const watch = setInterval(() => {
        buffered = Math.max(buffered, outgoing.writableLength);
      }, 5);
      outgoing.once('close', () => clearInterval(watch));
      return app.fetch(request, env);
    },
    { overrideGlobalObjects: false },
  );
  const { servers, port } = await listen({}, listener, { port: 0, host: '127.0.0.1' });
  try {
    const slow = new EventReader(port, '/', undefined, { isPaused: true });
    const connections = () =>
      new Promise<number>((resolve) => servers[0]?.getConnections((_, count) => resolve(count)));
    await eventually(async () => ((await connections()) === 1 ? true : undefined));
    for (let index = 0; index < 500; index += 1) store.add(failed(index, 2, error));
    await eventually(async () => ((await connections()) === 0 ? true : undefined));
    // The size of a few batches of 500 rows.
    expect(buffered).toBeLessThan(6 * 1024 * 1024);
    slow.resume();
    await slow.until(({ isOver }) => isOver);
    expect(slow.rows().size).toBeLessThan(rows);
    let reader = slow;
    let rowsRead = slow.rows();
    // On a busy machine this client may be too slow as well. It resumes until it has all rows, as a browser does.
    while (!reader.names.includes('ready')) {
      reader = new EventReader(port, '/', reader.lastId);
      await reader.until(({ isOver, names }) => isOver || names.includes('ready'));
      rowsRead = reader.rows(rowsRead);
    }
    expect(rowsRead).toEqual(rowsOf(store));
    reader.cut();
    expect(report).not.toHaveBeenCalled();
  } finally {
    closing.abort();
    for (const server of servers) server.close();
    await source.close();
  }
});
