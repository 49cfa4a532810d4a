import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { EventReader } from './event-reader.ts';
import { answered, startTestConsole, type TestConsole } from './support.ts';

let running: TestConsole;
const readers: EventReader[] = [];

beforeAll(async () => {
  running = await startTestConsole();
});
afterEach(() => {
  for (const reader of readers.splice(0)) reader.cut();
});
afterAll(async () => {
  await running[Symbol.asyncDispose]();
});

function read(path?: string, lastEventId?: string, port = running.console.port): EventReader {
  const reader = new EventReader(port, path, lastEventId);
  readers.push(reader);
  return reader;
}

let last = 0;

/** A delivery that is queued. @returns its id */
function tell(shop: string): string {
  last += 1;
  const requestId = `request-${last}`;
  const body = Buffer.from(
    JSON.stringify({ event: 'shop.updated', data: { shop_id: shop, name: `Name ${last}` } }),
  );
  running.feed.onExchange(answered(requestId, body, new Date(1_800_000_000_000 + last)));
  return requestId;
}

function settle(requestId: string): void {
  const timestamp = new Date(1_800_000_100_000).toISOString();
  const line = {
    level: 'INFO',
    message: 'Processed',
    timestamp,
    eventId: 'e',
    event: 'shop.updated',
    requestId,
    messageId: 'm',
    attempt: 1,
  };
  running.feed.onLog({ text: JSON.stringify({ ...line, latencyMs: 5 }) });
}

const all = () => new Map(running.feed.store.list({}).deliveries.map((row) => [row.id, row]));

const sorted = (rows: ReadonlyMap<string, unknown>) => Object.fromEntries([...rows].sort());

describe('the stream', () => {
  test('begins with all that there is, then says that it is ready', async () => {
    const ids = [tell('shop-a'), tell('shop-a'), tell('shop-b')];
    const { events, lastId } = await read('/api/stream?search=shop-a').ready();
    expect(events.map(({ event }) => event)).toEqual(['deliveries', 'ready']);
    expect(events[0]?.data.put.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    expect(events[1]?.data).toEqual({ total: 2 });
    expect(lastId).toMatch(/^\w+-\d+$/);
  });

  test('sends what is new and what has changed', async () => {
    const reader = await read('/api/stream?search=shop-c').ready();
    const id = tell('shop-c');
    await reader.until(({ events }) => events.length === 2);
    settle(id);
    await reader.until(({ events }) => events.length === 3);
    expect(
      reader.events.slice(1).map(({ data }) => data.put.map(({ state }: { state: string }) => state)),
    ).toEqual([['queued'], ['processed']]);
  });

  test('collects what comes thick and fast, in batches of at most 500', async () => {
    const reader = await read('/api/stream?search=shop-g').ready();
    for (let count = 0; count < 1_200; count += 1) tell('shop-g');
    await reader.until((now) => now.rows().size === 1_200);
    const batches = reader.events.slice(1).map(({ data }) => data.put.length);
    expect(Math.max(...batches)).toBe(500);
    expect(batches.length).toBeLessThan(10);
  });

  test('goes on where it was cut, without a gap and without repeating', async () => {
    const before = [tell('shop-h'), tell('shop-h')];
    const first = await read('/api/stream?search=shop-h').ready();
    first.cut();
    const rows = first.rows();
    settle(before[0] ?? '');
    const id = tell('shop-h');
    const second = await read('/api/stream?search=shop-h', first.lastId).ready();
    expect(second.events.map(({ event }) => event)).toEqual(['deliveries', 'ready']);
    expect(second.events[0]?.data.put.map((row: { id: string }) => row.id)).toEqual([before[0], id]);
    expect([...second.rows(rows).values()].map(({ state }) => state).sort()).toEqual([
      'processed',
      'queued',
      'queued',
    ]);
    second.cut();
    const third = await read('/api/stream?search=shop-h', second.lastId).ready();
    expect(third.events.map(({ event }) => event)).toEqual(['ready']);
  });

  test('cut at any moment while much happens, ends with what there is', async () => {
    let rows = new Map();
    let lastId: string | undefined;
    const ids: string[] = [];
    for (let round = 0; round < 8; round += 1) {
      const reader = read(undefined, lastId);
      for (let count = 0; count < 300; count += 1) {
        ids.push(tell('shop-i'));
        settle(ids[Math.floor((count * 7919) % ids.length)] ?? '');
        if (count % 50 === 0) await sleep(5);
      }
      reader.cut();
      await reader.until(({ isOver }) => isOver);
      rows = reader.rows(rows);
      lastId = reader.lastId ?? lastId;
    }
    const end = await read(undefined, lastId).ready();
    expect(end.events.some(({ event }) => event === 'reset')).toBe(false);
    expect(sorted(end.rows(rows))).toEqual(sorted(all()));
  });

  test('goes on after an id in the address, as a page asks that was hidden', async () => {
    const before = tell('shop-j');
    const first = await read('/api/stream?search=shop-j').ready();
    first.cut();
    const id = tell('shop-j');
    const after = `/api/stream?search=shop-j&after=${first.lastId}`;
    const second = await read(after).ready();
    expect([...second.rows().keys()]).toEqual([id]);
    // A browser that reconnects to the same address sends the newer id.
    const third = await read(after, second.lastId).ready();
    expect(third.rows().size).toBe(0);
    expect([...third.rows(second.rows(first.rows())).keys()]).toEqual([before, id]);
  });

  test.each(['of-another-process-7', 'nonsense', '-1'])(
    'begins again after %s, with a reset',
    async (lastEventId) => {
      const id = tell('shop-k');
      const reader = await read('/api/stream?search=shop-k', lastEventId).ready();
      expect(reader.events[0]?.event).toBe('reset');
      expect(reader.rows().has(id)).toBe(true);
    },
  );

  test('sends tasks and notices to open pages, and the newest of each to a page that opens', async () => {
    const { news } = running.console;
    const there = await read('/api/stream?search=shop-l').ready();
    news.notice({ about: 'code', level: 'error', text: 'It does not build' });
    news.notice({ about: 'code', level: 'info', text: 'Built' });
    const startedAt = '2026-01-31T09:00:00.000Z';
    const printed = { blocks: [], lines: [], deliveries: [] };
    news.task({ id: 'task-1', argv: ['dlq'], command: 'npm run dlq', state: 'done', startedAt, ...printed });
    await there.until(({ events }) => events.length === 3);
    expect(there.events.slice(1).map(({ event }) => event)).toEqual(['notice', 'task']);
    const later = await read('/api/stream?search=shop-l').ready();
    expect(later.events.slice(0, 2)).toEqual([
      { event: 'notice', data: { about: 'code', level: 'info', text: 'Built' }, id: undefined },
      { event: 'task', data: expect.objectContaining({ id: 'task-1', state: 'done' }), id: undefined },
    ]);
  });

  test('is opened by a browser as it is, which asks again a second after it lost the connection', async () => {
    const { status, headers } = await running.api.request('/api/stream', { method: 'HEAD' });
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'text/event-stream' });
    const response = await fetch(`http://localhost:${running.console.port}/api/stream`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toMatch(/^retry: 1000\n\n/);
    await reader?.cancel();
  });

  test('ends with the console', async () => {
    const other = await startTestConsole();
    const reader = await read(undefined, undefined, other.console.port).ready();
    await other.console.close();
    await reader.until(({ isOver }) => isOver);
    await other[Symbol.asyncDispose]();
  });
});
