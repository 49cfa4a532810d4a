import { afterEach, expect, test } from '@jest/globals';
import { listen } from '../../../local/listen.ts';
import { EventStream } from '../../../tools/console/server/event-stream.ts';
import { HistoryStore } from '../../../tools/stage/history/store.ts';
import { EventReader } from './event-reader.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

test('what a search finds in rows that were there goes to a client that goes on, and before it is ready', async () => {
  const store = new HistoryStore();
  for (const requestId of ['request-1', 'request-2']) store.add({ kind: 'redrive', at: 1, requestId });
  const filter = { search: 'Aiko' };
  const { servers, port } = await listen(
    {},
    async (_request, response) => {
      const closing = new AbortController();
      response.once('close', () => closing.abort());
      const events = new EventStream(response, {
        store,
        filter,
        processToken: 'token',
        lastEventId: `token-${store.sequence}`,
        signal: closing.signal,
      });
      await events.open();
      store.addPayload('request-1', Buffer.from('{"name":"Aiko"}'));
      const { deliveries, total } = store.list(filter);
      await events.offer(deliveries);
      events.send('ready', { total });
    },
    { port: 0 },
  );
  const reader = new EventReader(port);
  closers.push(
    () => reader.cut(),
    () => store.close(),
    () => {
      for (const server of servers) server.close();
    },
  );
  const { events } = await reader.ready();
  expect(events.map(({ event }) => event)).toEqual(['deliveries', 'ready']);
  expect(events[0]?.data.put).toMatchObject([{ id: 'request-1' }]);
});
