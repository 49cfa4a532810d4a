import type { StreamEvents } from '../api.ts';
import { ApiError, api } from './api.ts';
import {
  beginRows,
  connection,
  faults,
  setStack,
  takeQueues,
  takeReady,
  takeReset,
  takeRows,
} from './store.ts';
import { takeNotice } from './ui/toasts.ts';

/** Milliseconds between attempts to open a stream that failed for a reason that may be temporary. */
const RETRY_MS = 1_000;

let source: EventSource | undefined;
let search: string | undefined;
/** Id of the last event about rows. A new connection resumes after it. */
let lastId = '';

/** Follows the server's stream for this window, or no stream while the window is hidden. */
export function followStream(text: string): void {
  if (search === undefined) document.addEventListener('visibilitychange', connect);
  if (text !== search) {
    lastId = '';
    beginRows();
  }
  search = text;
  connect();
}

/** What to do with each event of the stream. */
const TAKE: { readonly [Name in keyof StreamEvents]: (data: StreamEvents[Name]) => void } = {
  reset() {
    takeReset();
    // The stack may have been restarted, too. If the console has gone again, the next connection repeats this.
    api.stack().then(setStack, () => {});
  },
  deliveries: takeRows,
  ready: (data) => takeReady(data, search ?? ''),
  notice: takeNotice,
  queues: takeQueues,
  faults: (data) => {
    faults.value = data;
  },
};

function connect(): void {
  source?.close();
  source = undefined;
  if (document.hidden) return;
  const query = new URLSearchParams();
  if (search) query.set('search', search);
  if (lastId !== '') query.set('after', lastId);
  const opened = new EventSource(`/api/stream?${query}`);
  source = opened;
  opened.onopen = () => {
    connection.value = { state: 'live' };
  };
  opened.onerror = () => {
    if (connection.peek().state === 'live')
      connection.value = { state: 'lost', at: new Date().toISOString() };
    // The browser reconnects by itself, except after an error response.
    if (opened.readyState === EventSource.CLOSED) void explain(opened);
  };
  for (const [name, take] of Object.entries(TAKE)) {
    opened.addEventListener(name, ({ data, lastEventId }: MessageEvent<string>) => {
      if (lastEventId !== '') lastId = lastEventId;
      take(JSON.parse(data));
    });
  }
}

/**
 * Finds out why the server refused the stream: `EventSource` hides the error, so a list is requested with
 * the same query.
 */
async function explain(refused: EventSource): Promise<void> {
  try {
    await api.deliveries(new URLSearchParams({ search: search ?? '', limit: '1' }).toString());
  } catch (error) {
    if (refused !== source) return;
    if (error instanceof ApiError && error.status >= 400 && error.status < 500) {
      connection.value = { state: 'refused', reason: error.message };
      return;
    }
  }
  setTimeout(() => refused === source && connect(), RETRY_MS);
}
