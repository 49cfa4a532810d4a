import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Fact } from '../../stage/history/facts.ts';
import { lineFact } from '../../stage/history/log-line.ts';
import { type HistoryStore, MAX_DELIVERIES } from '../../stage/history/store.ts';
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

  test('sends notices to open pages, and to a new page the newest problem of each subject, but no old good news', async () => {
    await using other = await startConsoleAlone();
    const { updates, port } = other.console;
    const there = await read(undefined, undefined, port).ready();
    updates.notice({ about: 'code', level: 'error', text: 'It does not build' });
    updates.notice({ about: 'code', level: 'info', text: 'Built' });
    updates.notice({ about: 'logs', level: 'error', text: 'Older' });
    updates.notice({ about: 'logs', level: 'error', text: 'Newer' });
    await there.until(({ events }) => events.some(({ data }) => data.text === 'Newer'));
    expect(there.events.map(({ data }) => data.text)).toContain('Built');
    const later = await read(undefined, undefined, port).ready();
    expect(later.events.flatMap(({ data }) => data.text ?? [])).toEqual(['Newer']);
  });

  test('ends with the console', async () => {
    const other = await startConsoleAlone();
    const reader = await read(undefined, undefined, other.console.port).ready();
    await other[Symbol.asyncDispose]();
    await reader.until(({ isOver }) => isOver);
  });
});

function failed(index: number): Fact {
  const attempt = 1;
  const error = 'x';
  const at = Date.parse('2026-01-31T09:00:00Z') + (index + attempt) * 1000;
  const ids = { requestId: `request-${index}`, eventId: `event-${index}`, event: 'shop.updated' };
  const about = { level: 'WARN', message: 'Failed', messageId: `message-${index}`, attempt };
  const line = { ...about, ...ids, timestamp: new Date(at).toISOString(), retryInSeconds: 30, error };
  return lineFact(JSON.stringify(line)) as Fact;
}

test('the oldest deliveries are removed from open pages, also from those that resume', async () => {
  await using full = await startConsoleAlone();
  const { store } = full.feed;
  for (let index = 0; index < MAX_DELIVERIES; index += 1) store.add(failed(index));
  const path = '/api/stream?search=event-0';
  const open = await read(path, undefined, full.console.port).ready();
  const cut = await read(path, undefined, full.console.port).ready();
  cut.cut();
  expect([...open.rows().keys()]).toEqual(['request-0']);
  store.add(failed(MAX_DELIVERIES));
  await open.until((now) => now.rows().size === 0);
  const resumed = await read(path, cut.lastId, full.console.port).ready();
  expect(resumed.rows(cut.rows()).size).toBe(0);
});
