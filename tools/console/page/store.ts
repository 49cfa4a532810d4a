import { computed, signal } from '@preact/signals';
import { type Delivery, isWaiting, type PausedQueue } from '../../stage/history/history.ts';
import type { QueueDepth, QueuesInfo, StackInfo, StreamEvents } from '../api.ts';
import { api } from './api.ts';
import { takeNotice } from './ui/toasts.ts';

/** Whether the page receives changes. */
type StreamConnection =
  | { readonly state: 'connecting' | 'live' }
  /** `at`: when the connection was lost, ISO 8601. What is shown is of this time. */
  | { readonly state: 'lost'; readonly at: string };

/** Deliveries of the stream, for the list and the open detail. */
interface Rows {
  /** All rows, newest first. */
  readonly all: readonly Delivery[];
  /**
   * The search that these rows belong to. While a new search loads, the previous search. Undefined before the first
   * rows.
   */
  readonly search: string | undefined;
}

/** The stack that the page shows, local or a stage. Set before the first render. */
export let stack: StackInfo;
/** When the server's process started. */
export const startedAt = signal('');

export function setStack(info: StackInfo): void {
  stack = info;
  startedAt.value = info.startedAt;
}

export const connection = signal<StreamConnection>({ state: 'connecting' });
/** Rows as the server sent them, without the state `paused`. */
const received = signal<Rows>({ all: [], search: undefined });
/** State of all queues. Undefined until the stream has sent it. */
export const queues = signal<QueuesInfo | undefined>(undefined);
/**
 * Increases whenever the content of queues may have changed: see `useLoad`. On a stage only the end of a command
 * increases it, because reading a stage costs money.
 */
export const changes = signal(0);

/** Why an event is paused. While its event source is still being turned off, it processes messages and is not paused. */
const pauseOf = (event: string | undefined): PausedQueue | undefined =>
  queues.value?.queues.find((queue) => queue.name === event && !queue.pausing)?.paused;

/** A row as views show it: with the state `paused` if its event is paused. The server's rows lack this state. */
export const asShown = (row: Delivery): Delivery =>
  isWaiting(row.state) && pauseOf(row.event) !== undefined ? { ...row, state: 'paused' } : row;

export const rows = computed<Rows>(() => ({ ...received.value, all: received.value.all.map(asShown) }));

export const refusal = () =>
  stack.readOnly ? 'The console was started with --read-only. Nothing can be changed.' : undefined;

export const depthOf = ({ visible, inFlight }: QueueDepth) => visible + inFlight;

/** Number of messages that were set aside: dead letters, in quarantine, or unrouted. */
export const needsYouCount = ({ queues: all }: QueuesInfo) =>
  all.reduce((total, { aside }) => total + depthOf(aside), 0);

let known = new Map<string, Delivery>();
/** Deliveries of the next search, collected until all have arrived, so that the list does not go blank. */
let next: Map<string, Delivery> | undefined = known;
let frame = 0;

/** Called when a stream opens, which sends all rows of its search. The old rows stay visible until all have arrived. */
export function beginRows(): void {
  next = new Map();
}

export function takeRows({ put, removed }: StreamEvents['deliveries']): void {
  const target = next ?? known;
  for (const delivery of put) target.set(delivery.id, delivery);
  for (const id of removed) target.delete(id);
  if (target !== known || frame !== 0) return;
  // Draws the rows in the next frame, once for all changes until then.
  frame = requestAnimationFrame(() => {
    frame = 0;
    show(received.peek().search);
  });
}

export function takeReady(search: string): void {
  known = next ?? known;
  next = undefined;
  show(search);
}

/** Sorts by time, then by id. The sort is fast, because almost all deliveries arrive in order. */
function show(search: string | undefined): void {
  const all = [...known.values()].sort(
    (a, b) => compareText(b.receivedAt, a.receivedAt) || compareText(b.id, a.id),
  );
  received.value = { all, search };
}

/**
 * Compares two texts without a locale, which is faster for thousands of rows. ISO 8601 times and ids need no locale.
 */
const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Called when a command of this page has ended. The local stack's queues come by the stream. */
export function commandEnded(): void {
  if (!stack.local) changes.value += 1;
}

export function takeQueues(value: QueuesInfo): void {
  // The server reads the local queues only when something has happened.
  if (stack.local && queues.value !== undefined) changes.value += 1;
  queues.value = value;
}

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
