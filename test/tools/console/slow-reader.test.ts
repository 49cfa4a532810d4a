import { EventEmitter } from 'node:events';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { expect, jest, test } from '@jest/globals';
import { listen } from '../../../local/listen.ts';
import { News } from '../../../tools/console/server/context.ts';
import { streamRoutes } from '../../../tools/console/server/stream.ts';
import { Source } from '../../../tools/console/source.ts';
import type { Fact } from '../../../tools/stage/history/facts.ts';
import { HistoryStore, MAX_DELIVERIES } from '../../../tools/stage/history/store.ts';
import { Stage } from '../../../tools/stage/stage.ts';
import { eventually } from '../../support/eventually.ts';
import { EventReader } from './event-reader.ts';

/** Milliseconds. */
const PATIENCE = 500;

/** More than the buffers between two sockets hold, for some 30 MB of rows. */
const ERROR = 'x'.repeat(1_500);

const outputs = { QuarantineQueueUrl: 'http://localhost:1/000000000000/quarantine' };

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

test('a client that has gone before its stream begins leaves nothing behind', async () => {
  using store = new HistoryStore();
  const news = new News();
  const subscribe = jest.spyOn(news, 'subscribe');
  const source = new Source(new Stage('the local stack', outputs), store);
  const closing = AbortSignal.abort();
  const app = streamRoutes({ source, news, report: () => {}, closing });
  const response = await app.request('/', {}, { outgoing: new EventEmitter() });
  expect(await response.text()).toBe('');
  expect(subscribe).not.toHaveBeenCalled();
});

test('a client that does not read is cut off, costs little memory, and resumes where it was', async () => {
  using store = new HistoryStore();
  for (let index = 0; index < MAX_DELIVERIES; index += 1) store.add(failed(index, 1));
  const source = new Source(new Stage('the local stack', outputs), store);
  const closing = new AbortController();
  const faults: unknown[] = [];
  const app = streamRoutes(
    { source, news: new News(), report: (fault) => faults.push(fault), closing: closing.signal },
    PATIENCE,
  );
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
    const slow = new EventReader(port, '/');
    await slow.until(({ status }) => status === 200);
    slow.pause();
    for (let index = 0; index < 2_000; index += 1) store.add(failed(index, 2));
    const connections = () =>
      new Promise<number>((resolve) => servers[0]?.getConnections((_, count) => resolve(count)));
    await eventually(async () => ((await connections()) === 0 ? true : undefined));
    // A few batches of 500 rows.
    expect(buffered).toBeLessThan(3 * 1024 * 1024);
    slow.resume();
    await slow.until(({ isOver }) => isOver);

    const rows = slow.rows();
    expect(rows.size).toBeLessThan(MAX_DELIVERIES);
    const again = await new EventReader(port, '/', slow.lastId).ready();
    expect(again.rows(rows)).toEqual(new Map(store.list({}).deliveries.map((row) => [row.id, row])));
    again.cut();
    expect(faults).toEqual([]);
  } finally {
    closing.abort();
    for (const server of servers) server.close();
    await source.close();
  }
});
