import type { StreamEvents } from '../api.ts';
import { ApiError, api } from './api.ts';
import { connection, expectRows, putTask, takeNotice, takeReady, takeReset, takeRows } from './store.ts';

/** Milliseconds before a failed stream is requested again, if the error may be temporary. */
const RETRY_MS = 1_000;

let source: EventSource | undefined;
let search = '';
/** Id of the last event about rows. The stream resumes after it. */
let lastId = '';

export function openStream(text: string): void {
  search = text;
  lastId = '';
  expectRows();
  if (!document.hidden) connect();
}

/**
 * Closes the stream of a hidden page and resumes it when the page is visible. A browser has six connections per server,
 * and each open stream uses one.
 */
export function releaseWhileHidden(): void {
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) source?.close();
    else connect();
  });
}

function connect(): void {
  source?.close();
  const query = new URLSearchParams();
  if (search !== '') query.set('search', search);
  if (lastId !== '') query.set('after', lastId);
  const opened = new EventSource(`/api/stream?${query}`);
  source = opened;
  opened.onopen = () => {
    connection.value = { state: 'live' };
  };
  opened.onerror = () => {
    connection.value = { state: 'reconnecting' };
    // The browser reconnects automatically, except after an error response.
    if (opened.readyState === EventSource.CLOSED) explain(opened);
  };
  const on = <Name extends keyof StreamEvents>(name: Name, take: (data: StreamEvents[Name]) => void) =>
    opened.addEventListener(name, ({ data, lastEventId }: MessageEvent<string>) => {
      if (lastEventId !== '') lastId = lastEventId;
      take(JSON.parse(data));
    });
  on('reset', takeReset);
  on('deliveries', takeRows);
  on('ready', (ready) => takeReady(ready, search));
  on('task', putTask);
  on('notice', takeNotice);
}

/** `EventSource` does not expose the error, so the same request is sent as a list. */
async function explain(refused: EventSource): Promise<void> {
  try {
    await api.deliveries(new URLSearchParams({ search, limit: '1' }).toString());
  } catch (error) {
    if (refused !== source) return;
    if (error instanceof ApiError && error.status >= 400 && error.status < 500) {
      connection.value = { state: 'refused', reason: error.message };
      return;
    }
  }
  setTimeout(() => refused === source && !document.hidden && connect(), RETRY_MS);
}
