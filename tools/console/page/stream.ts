import type { StreamEvents } from '../api.ts';
import { ApiError, api } from './api.ts';
import { connection, expectRows, putTask, takeNotice, takeReady, takeReset, takeRows } from './store.ts';

/** Milliseconds before a refused stream is asked for again, if the refusal may pass. */
const RETRY_MS = 1_000;

let source: EventSource | undefined;
let search = '';
/** Id of the last event about rows: the stream goes on after it. */
let lastId = '';

/** Opens the stream of the deliveries that a search finds, instead of the one that is open. */
export function openStream(text: string): void {
  search = text;
  lastId = '';
  expectRows();
  if (!document.hidden) connect();
}

/**
 * A hidden page releases its stream and goes on when it is seen: a browser has six connections for one server, and each
 * open stream takes one.
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
    // The browser connects again by itself, except after an answer that is an error.
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

/** `EventSource` does not say why it was refused: the same request as a list does. */
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
