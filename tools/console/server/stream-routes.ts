import { randomBytes } from 'node:crypto';
import { readFilter } from './delivery-query.ts';
import { EventStream } from './event-stream.ts';
import type { Call, ConsoleContext, Route } from './route.ts';

/** Of this process. */
const processToken = randomBytes(6).toString('hex');

export const streamRoutes: readonly Route[] = [{ method: 'GET', path: '/api/stream', handler: stream }];

async function stream(
  { query, request, response, signal }: Call,
  { source, news }: ConsoleContext,
): Promise<undefined> {
  // A signal that is aborted tells nobody any more, and what begins here would not end.
  if (signal.aborted) {
    response.destroy();
    return;
  }
  const filter = readFilter(query);
  const lastEventId = request.headers['last-event-id'];
  const events = new EventStream(response, {
    store: source.store,
    filter,
    processToken,
    lastEventId: typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : undefined,
    signal,
  });
  const unsubscribe = news.subscribe(({ event, data }) => events.send(event, data));
  signal.addEventListener('abort', unsubscribe);
  await events.open();
  for (const { event, data } of news.current()) events.send(event, data);
  const searched = await source.search(filter, signal);
  if (signal.aborted) return;
  // What was found need not have changed.
  if (searched !== undefined) await events.offer(source.store.list(filter).deliveries);
  if (signal.aborted) return;
  const { total } = source.store.list(filter, 0);
  events.send('ready', { total, ...(searched && { searched }) });
}
