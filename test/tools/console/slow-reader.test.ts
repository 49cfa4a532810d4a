import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { listen } from '../../../local/listen.ts';
import { EventStream } from '../../../tools/console/server/event-stream.ts';
import type { Fact } from '../../../tools/stage/history/facts.ts';
import { HistoryStore, MAXIMUM_DELIVERIES } from '../../../tools/stage/history/store.ts';
import { eventually } from '../../support/eventually.ts';
import { EventReader } from './event-reader.ts';

/** Milliseconds. */
const PATIENCE = 500;

/** More than the buffers between two sockets hold, for some 30 MB of rows. */
const ERROR = 'x'.repeat(1_500);

function failed(index: number, attempt: number): Fact {
  const at = Date.parse('2026-01-31T09:00:00Z') + (index + attempt) * 1000;
  const ids = { requestId: `request-${index}`, eventId: `event-${index}`, event: 'shop.updated' };
  const line = {
    timestamp: new Date(at).toISOString(),
    level: 'WARN',
    message: 'Failed',
    messageId: `message-${index}`,
    attempt,
    retryInSeconds: 30,
    error: `${ERROR}${attempt}`,
  };
  return { kind: 'line', at, function: 'shop.updated', ...ids, text: JSON.stringify({ ...line, ...ids }) };
}

test('a client that does not read is cut off, costs no memory, and goes on from where it was', async () => {
  using store = new HistoryStore();
  for (let index = 0; index < MAXIMUM_DELIVERIES; index += 1) store.add(failed(index, 1));

  let buffered = 0;
  const { servers, port } = await listen(
    {},
    (request, response) => {
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      const lastEventId = request.headers['last-event-id'];
      const stream = new EventStream(response, {
        store,
        filter: {},
        processToken: 'test',
        lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
        signal: gone.signal,
        ...(lastEventId === undefined && { patience: PATIENCE }),
      });
      const watch = setInterval(() => {
        buffered = Math.max(buffered, response.writableLength);
      }, 5);
      gone.signal.addEventListener('abort', () => clearInterval(watch));
      void stream.open().then(() => stream.send('ready', { total: store.size }));
    },
    { port: 0, host: '127.0.0.1' },
  );
  try {
    const slow = new EventReader(port, '/');
    await slow.until(({ status }) => status === 200);
    slow.pause();
    for (let attempt = 2; attempt < 5; attempt += 1) {
      for (let index = 0; index < 2_000; index += 1) store.add(failed(index, attempt));
      await sleep(PATIENCE / 5);
    }
    const connections = () =>
      new Promise<number>((resolve) => servers[0]?.getConnections((_, count) => resolve(count)));
    await eventually(async () => ((await connections()) === 0 ? true : undefined));
    // One batch, and what is said besides.
    expect(buffered).toBeLessThan(3 * 1024 * 1024);
    slow.resume();
    await slow.until(({ isOver }) => isOver);

    const rows = slow.rows();
    expect(rows.size).toBeLessThan(MAXIMUM_DELIVERIES);
    const again = await new EventReader(port, '/', slow.lastId).ready();
    expect(again.rows(rows)).toEqual(new Map(store.list({}).deliveries.map((row) => [row.id, row])));
    again.cut();
  } finally {
    for (const server of servers) server.close();
  }
});
