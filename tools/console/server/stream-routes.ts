import { randomBytes } from 'node:crypto';
import { admits } from '../delivery-filter.ts';
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
  const { search, since, until } = filter;
  const contains = (id: string, text: string) => source.contains(id, text);
  const lastEventId = request.headers['last-event-id'];
  const events = new EventStream(response, {
    deliveries: source.deliveries,
    processToken,
    lastEventId: typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : undefined,
    admits: (delivery) => admits(filter, delivery, contains),
    signal,
  });
  const unsubscribe = news.subscribe(({ event, data }) => events.send(event, data));
  signal.addEventListener('abort', unsubscribe);
  await events.open();
  for (const { event, data } of news.current()) events.send(event, data);
  const searched = search === undefined ? undefined : await source.search(search, { since, until, signal });
  if (signal.aborted) return;
  const found = source.deliveries.list(filter, contains);
  // What was found need not have changed.
  if (searched !== undefined) await events.offer(found);
  if (signal.aborted) return;
  events.send('ready', { total: found.length, ...(searched && { searched }) });
}
