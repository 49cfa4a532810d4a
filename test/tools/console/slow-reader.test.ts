import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { listen } from '../../../local/listen.ts';
import { Deliveries, MAXIMUM_DELIVERIES } from '../../../tools/console/deliveries.ts';
import { EventStream } from '../../../tools/console/server/event-stream.ts';
import { eventually } from '../../support/eventually.ts';
import { failed } from '../stage/history/lines.ts';
import { EventReader } from './event-reader.ts';

/** Milliseconds. */
const PATIENCE = 500;

/** More than the buffers between two sockets hold, for some 30 MB of rows. */
const ERROR = 'x'.repeat(1_500);

test('a client that does not read is cut off, costs no memory, and goes on from where it was', async () => {
  const deliveries = new Deliveries();
  const told = (index: number, attempt: number) =>
    failed(index + attempt, attempt, 30, { requestId: `request-${index}`, error: `${ERROR}${attempt}` });
  for (let index = 0; index < MAXIMUM_DELIVERIES; index += 1) deliveries.addLine(told(index, 1));

  let buffered = 0;
  const { servers, port } = await listen(
    {},
    (request, response) => {
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      const lastEventId = request.headers['last-event-id'];
      const stream = new EventStream(response, {
        deliveries,
        processToken: 'test',
        lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
        admits: () => true,
        signal: gone.signal,
        ...(lastEventId === undefined && { patience: PATIENCE }),
      });
      const watch = setInterval(() => {
        buffered = Math.max(buffered, response.writableLength);
      }, 5);
      gone.signal.addEventListener('abort', () => clearInterval(watch));
      void stream.open().then(() => stream.send('ready', { total: deliveries.size }));
    },
    { port: 0, host: '127.0.0.1' },
  );
  try {
    const slow = new EventReader(port, '/');
    await slow.until(({ status }) => status === 200);
    slow.pause();
    for (let attempt = 2; attempt < 5; attempt += 1) {
      for (let index = 0; index < 2_000; index += 1) deliveries.addLine(told(index, attempt));
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
    expect(again.rows(rows)).toEqual(new Map(deliveries.list({}, () => true).map((row) => [row.id, row])));
    again.cut();
  } finally {
    for (const server of servers) server.close();
  }
});
