import { computed, signal } from '@preact/signals';
import { type Delivery, isWaiting, type PausedQueue } from '../../stage/history/history.ts';
import type { FaultsInfo, Notice, PayloadSearch, QueuesInfo, StackInfo, StreamEvents, Task } from '../api.ts';
import { MAX_TASKS } from '../news.ts';
import { api, errorText } from './api.ts';

/** Whether the page is up to date. `refused`: the server does not accept another request. */
export type StreamConnection =
  | { readonly state: 'connecting' | 'live' | 'reconnecting' }
  | { readonly state: 'refused'; readonly reason: string };

/** The stream's data as displayed. */
export interface Rows {
  /** Newest first. */
  readonly all: readonly Delivery[];
  /** The search of these rows. While the next search loads, it is the previous one. Undefined: no rows have arrived. */
  readonly search: string | undefined;
  /** How far the payloads of a stage were searched. */
  readonly searched?: PayloadSearch | undefined;
}

export interface LoadState<T> {
  /** The last answer. It stays while a newer one is loading. */
  readonly value: T | undefined;
  readonly error: string | undefined;
  readonly loading: boolean;
  readonly reload: () => void;
}

/** The stack that the page shows. Set before the first render. */
export let stack: StackInfo;

export function setStack(info: StackInfo): void {
  stack = info;
}

export const connection = signal<StreamConnection>({ state: 'connecting' });
/** Rows as the server sent them. */
const received = signal<Rows>({ all: [], search: undefined });
/** How often the server was replaced by another process. */
export const resets = signal(0);
/** Newest first. */
export const tasks = signal<readonly Task[]>([]);
export const notices = signal<readonly Notice[]>([]);
/** All queues. The stream brings them; `reload` asks for a new reading. */
export const queues = signal<LoadState<QueuesInfo>>({
  value: undefined,
  error: undefined,
  loading: true,
  reload: reloadQueues,
});
/** Only of the local stack. */
export const faults = signal<FaultsInfo | undefined>(undefined);
/**
 * Counts changes after which queues and tables may have other content: see `useLoad`. On a stage only tasks count,
 * because reading costs money.
 */
export const changes = signal(0);

/** Why events are paused. Not while an event source is being turned off, because it still processes messages. */
const pauses = computed(
  () =>
    new Map<string, PausedQueue>(
      queues.value.value?.events.flatMap(({ event, paused, pausing }) =>
        paused === undefined || pausing ? [] : [[event, paused] as const],
      ),
    ),
);

export const pauseOf = (event: string | undefined) => pauses.value.get(event ?? '');

/** Rows in the state `paused`, so that a row stays the same object while it stays the same. */
const pausedRows = new WeakMap<Delivery, Delivery>();

/** A row as all views see it. The server does not know that it waits for a pause: see `Delivery` in its API. */
export function asShown(row: Delivery): Delivery {
  if (!isWaiting(row.state) || pauseOf(row.event) === undefined) return row;
  const paused = pausedRows.get(row) ?? { ...row, state: 'paused' };
  pausedRows.set(row, paused);
  return paused;
}

export const rows = computed<Rows>(() =>
  pauses.value.size === 0 ? received.value : { ...received.value, all: received.value.all.map(asShown) },
);

export const refusal = () =>
  stack.readOnly ? 'The console was started with --read-only. Nothing can be changed.' : undefined;

export const deadLetterCount = ({ events }: QueuesInfo) =>
  events.reduce((total, { dead }) => total + dead.visible + dead.inFlight, 0);

/** Messages that wait for a person: dead letters, quarantine, and events without a consumer. */
export const needsYouCount = (info: QueuesInfo) =>
  info.receiverQueues.reduce(
    (total, { visible, inFlight }) => total + visible + inFlight,
    deadLetterCount(info),
  );

let known = new Map<string, Delivery>();
/** Collects the deliveries of the next search until all have arrived, so that the list does not go blank. */
let next: Map<string, Delivery> | undefined = known;
let frame = 0;

export function deliveryOf(id: string): Delivery | undefined {
  const row = known.get(id);
  return row && asShown(row);
}

/** The following rows are complete. The old ones stay visible until all have arrived. */
export function beginRows(): void {
  next = new Map();
}

export function takeReset(): void {
  beginRows();
  resets.value += 1;
}

export function takeRows({ put, removed }: StreamEvents['deliveries']): void {
  const target = next ?? known;
  for (const delivery of put) target.set(delivery.id, delivery);
  for (const id of removed) target.delete(id);
  if (target === known) drawSoon();
}

export function takeReady({ searched }: StreamEvents['ready'], search: string): void {
  known = next ?? known;
  next = undefined;
  received.value = { all: newestFirst(known.values()), search, searched };
}

/** Sorting costs little, because almost all deliveries arrive in order. Equal times are ordered by id. */
export const newestFirst = (deliveries: Iterable<Delivery>): readonly Delivery[] =>
  [...deliveries].sort((a, b) => compareText(b.receivedAt, a.receivedAt) || compareText(b.id, a.id));

/** ISO 8601 times and ids need no locale, and thousands are compared at once. */
const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Also called with the answer to a request, which may arrive before or after the stream reports the task. */
export function putTask(task: Task): void {
  const before = tasks.value.find(({ id }) => id === task.id);
  if (before === undefined)
    tasks.value = [task, ...tasks.value.filter((one, at) => at < MAX_TASKS || one.state === 'running')];
  else if (before.state === 'running') tasks.value = tasks.value.map((one) => (one === before ? task : one));
  const hasEnded = before?.state === 'running' && task.state !== 'running';
  // The server of the local stack reads the queues then, and `takeQueues` counts that.
  if (hasEnded && !stack.local && tasks.value.every(({ state }) => state !== 'running')) changes.value += 1;
}

export function takeQueues(value: QueuesInfo): void {
  // The server reads the local stack when something has happened.
  if (stack.local && queues.value.value !== undefined) changes.value += 1;
  queues.value = { ...queues.value, value, error: undefined, loading: false };
}

async function reloadQueues(): Promise<void> {
  queues.value = { ...queues.value, loading: true };
  try {
    takeQueues(await api.queues());
  } catch (error) {
    queues.value = { ...queues.value, error: errorText(error), loading: false };
  }
}

export function takeNotice(notice: Notice): void {
  notices.value = [...notices.value.filter(({ about }) => about !== notice.about), notice];
}

/** Renders once per frame, however much arrives. */
function drawSoon(): void {
  if (frame !== 0) return;
  frame = requestAnimationFrame(() => {
    frame = 0;
    received.value = { ...received.value, all: newestFirst(known.values()) };
  });
}
