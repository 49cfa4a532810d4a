import type { StreamEvents } from '../../api.ts';
import { type ApiClient, ApiError } from '../api-client.ts';
import { waitBefore } from './back-off.ts';
import { type ServerSentEvent, ServerSentEventParser } from './sse-parser.ts';

/** Whether what is shown is what is. `refused`: the server does not want to be asked again. */
export type Connection =
  | { readonly state: 'connecting' | 'live' | 'reconnecting' }
  | { readonly state: 'refused'; readonly reason: string };

export type StreamEvent = {
  [Name in keyof StreamEvents]: { name: Name; data: StreamEvents[Name] };
}[keyof StreamEvents];

export interface StreamListener {
  onConnection(connection: Connection): void;
  onEvent(event: StreamEvent): void;
}

/** A stream from which nothing came for this long is dead: the server sends at least a comment each 15 s. */
const SILENCE_MS = 45_000;

const NAMES: ReadonlySet<string> = new Set([
  'reset',
  'deliveries',
  'ready',
  'task',
  'notice',
] satisfies (keyof StreamEvents)[]);

/**
 * Reads `/api/stream` until it is aborted, and goes on where it broke off. `fetch`, because `EventSource` cannot send
 * the token's header.
 */
export async function readStream(
  api: ApiClient,
  query: string,
  listener: StreamListener,
  signal: AbortSignal,
): Promise<void> {
  let lastId = '';
  let failures = 0;
  let wasOpen = false;
  listener.onConnection({ state: 'connecting' });
  while (!signal.aborted) {
    try {
      const headers: Record<string, string> = lastId === '' ? {} : { 'last-event-id': lastId };
      const silence = new AbortController();
      const either = AbortSignal.any([signal, silence.signal]);
      const response = await api.request(`/api/stream${query}`, {
        headers,
        signal: either,
        cache: 'no-store',
      });
      listener.onConnection({ state: 'live' });
      // Without a place to go on from everything comes anew, and the server cannot know that it is not the first time.
      if (wasOpen && lastId === '') listener.onEvent({ name: 'reset', data: {} });
      wasOpen = true;
      for await (const message of messagesOf(response, silence)) {
        failures = 0;
        if (message.id !== '') lastId = message.id;
        const event = eventOf(message);
        if (event !== undefined) listener.onEvent(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) {
        listener.onConnection({ state: 'refused', reason: error.message });
        return;
      }
    }
    if (signal.aborted) return;
    failures += 1;
    listener.onConnection({ state: 'reconnecting' });
    await wait(waitBefore(failures), signal);
  }
}

async function* messagesOf(response: Response, silence: AbortController): AsyncGenerator<ServerSentEvent> {
  if (response.body === null) return;
  const parser = new ServerSentEventParser();
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  const abort = () => silence.abort();
  let timer = setTimeout(abort, SILENCE_MS);
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      clearTimeout(timer);
      timer = setTimeout(abort, SILENCE_MS);
      yield* parser.push(decoder.decode(read.value, { stream: true }));
    }
  } finally {
    clearTimeout(timer);
  }
}

/** @returns undefined for what a newer server says, and an older page does not know */
function eventOf({ event, data }: ServerSentEvent): StreamEvent | undefined {
  return NAMES.has(event) ? ({ name: event, data: JSON.parse(data) } as StreamEvent) : undefined;
}

/** A page that comes back into view, or a network that does, need not wait to the end. */
function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      removeEventListener('online', done);
      document.removeEventListener('visibilitychange', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
    addEventListener('online', done);
    document.addEventListener('visibilitychange', done);
  });
}
