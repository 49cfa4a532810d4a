import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { lineFact } from '../../stage/history/facts.ts';
import { MAX_DELIVERIES } from '../../stage/history/store.ts';
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

function read(path?: string, console = running.console): EventReader {
  const reader = new EventReader(console, path);
  readers.push(reader);
  return reader;
}

let last = 0;

/**
 * Adds a queued delivery to the store.
 * @returns its id
 */
function add(shop: string, at = 1_800_000_000_000 + last): string {
  last += 1;
  const requestId = `request-${last}`;
  const body = JSON.stringify({ event: 'shop.updated', data: { shop_id: shop } });
  running.feed.onExchange(answered(requestId, Buffer.from(body), new Date(at)));
  return requestId;
}

function settle(requestId = ''): void {
  const ids = { eventId: 'e', event: 'shop.updated', requestId, messageId: 'm' };
  const timestamp = new Date(1_800_000_100_000).toISOString();
  const line = { level: 'INFO', message: 'Processed', timestamp, attempt: 1, latencyMs: 5 };
  running.feed.onLog({ text: JSON.stringify({ ...line, ...ids }) });
}

const idsOf = ({ data }: EventReader['events'][number]) => data.put.map(({ id }: { id: string }) => id);

describe('the stream', () => {
  test('begins with all deliveries, marks the end of them, and then sends changes', async () => {
    const ids = [add('shop-a'), add('shop-a')];
    add('shop-b');
    const reader = await read('/api/stream?search=shop-a').ready();
    expect(reader.events.slice(0, 1).map(idsOf)).toEqual([ids.toReversed()]);
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

  test('sends notices to open pages, and to a new page the newest problem of each subject, but no old good news', async () => {
    await using other = await startConsoleAlone();
    const { updates } = other.console;
    const there = await read(undefined, other.console).ready();
    updates.notice({ about: 'code', level: 'error', text: 'It does not build' });
    updates.notice({ about: 'code', level: 'info', text: 'Built' });
    updates.notice({ about: 'logs', level: 'error', text: 'Older' });
    updates.notice({ about: 'logs', level: 'error', text: 'Newer' });
    await there.until(({ events }) => events.some(({ data }) => data.text === 'Newer'));
    expect(there.events.map(({ data }) => data.text)).toContain('Built');
    const later = await read(undefined, other.console).ready();
    expect(later.events.flatMap(({ data }) => data.text ?? [])).toEqual(['Newer']);
  });

  test('ends with the console', async () => {
    const other = await startConsoleAlone();
    const reader = await read(undefined, other.console).ready();
    await other[Symbol.asyncDispose]();
    await reader.until(({ isOver }) => isOver);
  });
});

test('the oldest deliveries are removed from open pages', async () => {
  const oldest = add('shop-oldest', 0);
  const reader = await read('/api/stream?search=shop-oldest').ready();
  expect([...reader.rows().keys()]).toEqual([oldest]);
  for (let count = 0; count < MAX_DELIVERIES; count += 1) {
    const ids = { requestId: `next-${count}`, eventId: `event-${count}`, event: 'shop.updated' };
    const timestamp = new Date(1_900_000_000_000 + count).toISOString();
    const fact = lineFact(JSON.stringify({ level: 'INFO', message: 'Accepted', timestamp, ...ids }));
    if (fact !== undefined) running.feed.store.add(fact);
  }
  await reader.until((now) => now.rows().size === 0);
});
