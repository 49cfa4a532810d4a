import { afterEach, expect, test } from '@jest/globals';
import { listen } from '../../../local/listen.ts';
import { Deliveries } from '../../../tools/console/deliveries.ts';
import { EventStream } from '../../../tools/console/server/event-stream.ts';
import { EventReader } from './event-reader.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

test('what a search finds in rows that were there goes to a client that goes on, and before it is ready', async () => {
  const deliveries = new Deliveries();
  for (const requestId of ['request-1', 'request-2']) {
    deliveries.addLine({ at: 1, level: 'INFO', message: 'Processed', eventId: 'e', requestId });
  }
  let isFound = false;
  const { servers, port } = await listen(
    {},
    async (_request, response) => {
      const closing = new AbortController();
      response.once('close', () => closing.abort());
      const events = new EventStream(response, {
        deliveries,
        processToken: 'token',
        lastEventId: `token-${deliveries.sequence}`,
        admits: ({ id }) => isFound && id === 'request-1',
        signal: closing.signal,
      });
      await events.open();
      isFound = true;
      const found = deliveries.list({}, () => true);
      await events.offer(found);
      events.send('ready', { total: 1 });
    },
    { port: 0 },
  );
  const reader = new EventReader(port);
  closers.push(
    () => reader.cut(),
    () => {
      for (const server of servers) server.close();
    },
  );
  const { events } = await reader.ready();
  expect(events.map(({ event }) => event)).toEqual(['deliveries', 'ready']);
  expect(events[0]?.data.put).toMatchObject([{ id: 'request-1' }]);
});
