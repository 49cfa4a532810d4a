import type { StreamEvents } from '../api.ts';
import { api } from './api.ts';
import { beginRows, connection, setStack, takeQueues, takeReady, takeRows } from './store.ts';
import { takeNotice } from './ui/toasts.ts';

/** Milliseconds between attempts to open a stream that the server refused. */
const RETRY_MS = 1_000;

let source: EventSource | undefined;
let search: string | undefined;

/** Follows the server's stream for this window, or no stream while the window is hidden. */
export function followStream(text: string): void {
  if (search === undefined) document.addEventListener('visibilitychange', connect);
  search = text;
  connect();
}

/** What to do with each event of the stream. */
const TAKE: { readonly [Name in keyof StreamEvents]: (data: StreamEvents[Name]) => void } = {
  deliveries: takeRows,
  ready: () => takeReady(search ?? ''),
  notice: takeNotice,
  queues: takeQueues,
};

function connect(): void {
  source?.close();
  source = undefined;
  if (document.hidden) return;
  const opened = new EventSource(`/api/stream?${new URLSearchParams(search ? { search } : {})}`);
  source = opened;
  opened.onopen = () => {
    beginRows();
    // The server may be another process now. If it has gone again, the next connection repeats this.
    if (connection.peek().state !== 'connecting') api.stack().then(setStack, () => {});
    connection.value = { state: 'live' };
  };
  opened.onerror = () => {
    if (connection.peek().state !== 'lost')
      connection.value = { state: 'lost', at: new Date().toISOString() };
    // The browser reconnects by itself, except after an error response.
    if (opened.readyState === EventSource.CLOSED) setTimeout(() => opened === source && connect(), RETRY_MS);
  };
  for (const [name, take] of Object.entries(TAKE)) {
    opened.addEventListener(name, ({ data }: MessageEvent<string>) => take(JSON.parse(data)));
  }
}
