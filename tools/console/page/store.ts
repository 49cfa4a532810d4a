import { signal } from '@preact/signals';
import type { Delivery } from '../../stage/history/history.ts';
import type { FaultsInfo, Notice, PayloadSearch, QueuesInfo, StackInfo, StreamEvents, Task } from '../api.ts';
import { DeliveryIndex } from './delivery-index.ts';

/** Whether the page is up to date. `refused`: the server does not accept another request. */
export type StreamConnection =
  | { readonly state: 'connecting' | 'live' | 'reconnecting' }
  | { readonly state: 'refused'; readonly reason: string };

/** The stream's data as displayed. */
export interface Rows {
  /** Newest first. */
  readonly all: readonly Delivery[];
  /** The search of these rows. While the next search loads, it is the previous one. */
  readonly search: string;
  /** Everything that existed when the stream was opened has arrived. */
  readonly ready: boolean;
  /** How far the payloads of a stage were searched. */
  readonly searched?: PayloadSearch | undefined;
}

/** Result of `useLoad`. */
export interface LoadState<T> {
  /** The last answer. It stays while a newer one is loading. */
  readonly value: T | undefined;
  readonly error: string | undefined;
  readonly loading: boolean;
  readonly reload: () => void;
}

const nothing = { value: undefined, error: undefined, loading: true, reload: () => {} };

/** The stack that the page shows. Set before the first render. */
export let stack: StackInfo;

export function setStack(info: StackInfo): void {
  stack = info;
}

export const connection = signal<StreamConnection>({ state: 'connecting' });
export const rows = signal<Rows>({ all: [], search: '', ready: false });
/** How often the server was replaced by another process. */
export const resets = signal(0);
/** Newest first. */
export const tasks = signal<readonly Task[]>([]);
export const notices = signal<readonly Notice[]>([]);
/** All queues, and faults of the local stack. Every view shows their counts. */
export const queues = signal<LoadState<QueuesInfo>>(nothing);
export const faults = signal<LoadState<FaultsInfo | undefined>>(nothing);

export const refusal = () =>
  stack.readOnly ? 'The console was started with --read-only. Nothing can be changed.' : undefined;

export const deadLetterCount = ({ events }: QueuesInfo) =>
  events.reduce((total, { dead }) => total + dead.visible + dead.inFlight, 0);

/** Maximum number of finished tasks kept. One action on selected rows may start 100. */
const TASKS_KEPT = 150;

let index = new DeliveryIndex();
/** Collects the deliveries of the next search until all have arrived, so that the list does not go blank. */
let next: DeliveryIndex | undefined = index;
let frame = 0;

export const deliveryOf = (id: string): Delivery | undefined => index.get(id);

/** The following rows are complete. The old ones stay visible until all have arrived. */
export function takeReset(): void {
  next = new DeliveryIndex();
  resets.value += 1;
}

/** Call when the stream of another search begins. */
export function expectRows(): void {
  next = new DeliveryIndex();
  rows.value = { ...rows.value, ready: false };
}

export function takeRows({ put, removed }: StreamEvents['deliveries']): void {
  const target = next ?? index;
  target.put(put);
  target.remove(removed);
  if (target === index) drawSoon();
}

export function takeReady({ searched }: StreamEvents['ready'], search: string): void {
  index = next ?? index;
  next = undefined;
  rows.value = { all: index.all(), search, ready: true, searched };
}

/** Also called with the answer to a request, which may arrive before or after the stream reports the task. */
export function putTask(task: Task): void {
  const known = tasks.value.find(({ id }) => id === task.id);
  if (known === undefined)
    tasks.value = [task, ...tasks.value.filter((one, at) => at < TASKS_KEPT || one.state === 'running')];
  else if (known.state === 'running') tasks.value = tasks.value.map((one) => (one === known ? task : one));
}

export function takeNotice(notice: Notice): void {
  notices.value = [...notices.value.filter(({ about }) => about !== notice.about), notice];
}

/** Renders once per frame, however much arrives. */
function drawSoon(): void {
  if (frame !== 0) return;
  frame = requestAnimationFrame(() => {
    frame = 0;
    rows.value = { ...rows.value, all: index.all() };
  });
}
