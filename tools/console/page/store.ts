import { signal } from '@preact/signals';
import type { Delivery } from '../../stage/history/history.ts';
import type { Faults, Notice, PayloadSearch, Queues, StackInfo, StreamEvents, Task } from '../api.ts';
import { DeliveryIndex } from './delivery-index.ts';

/** Whether the page shows the present. `refused`: the server does not want to be asked again. */
export type Connection =
  | { readonly state: 'connecting' | 'live' | 'reconnecting' }
  | { readonly state: 'refused'; readonly reason: string };

/** What the stream has brought, as it is drawn. */
export interface Rows {
  /** Newest first. */
  readonly all: readonly Delivery[];
  /** The search that they are of, until those of the next one have come. */
  readonly search: string;
  /** All that was there when the stream was opened has come. */
  readonly ready: boolean;
  /** How far payloads of a stage were searched. */
  readonly searched?: PayloadSearch | undefined;
}

/** What `useLoad` has read. */
export interface Loaded<T> {
  /** The last answer. It stays while a newer one is asked for. */
  readonly value: T | undefined;
  readonly error: string | undefined;
  /** It is being read. */
  readonly loading: boolean;
  /** Reads it now. */
  readonly reload: () => void;
}

const nothing = { value: undefined, error: undefined, loading: true, reload: () => {} };

/** The stack that the page shows. It is set before anything is drawn. */
export let stack: StackInfo;

export function setStack(info: StackInfo): void {
  stack = info;
}

export const connection = signal<Connection>({ state: 'connecting' });
export const rows = signal<Rows>({ all: [], search: '', ready: false });
/** How often the server was found to be another process. */
export const resets = signal(0);
/** Newest first. */
export const tasks = signal<readonly Task[]>([]);
export const notices = signal<readonly Notice[]>([]);
/** All queues, and faults of the local stack. Every view shows their counts. */
export const queues = signal<Loaded<Queues>>(nothing);
export const faults = signal<Loaded<Faults | undefined>>(nothing);

/** Why nothing can be changed here. */
export const refusal = () =>
  stack.readOnly ? 'The console was started with --read-only. Nothing can be changed.' : undefined;

/** Dead letters of all events. */
export const deadLetterCount = ({ events }: Queues) =>
  events.reduce((total, { dead }) => total + dead.visible + dead.inFlight, 0);

/** Tasks that are kept to be shown, besides those that run: a selection of rows may start 100. */
const TASKS_KEPT = 150;

let index = new DeliveryIndex();
/** Collects another search's deliveries until all have come: the list does not go blank meanwhile. */
let next: DeliveryIndex | undefined = index;
let frame = 0;

/** A delivery as the stream has it. */
export const deliveryOf = (id: string): Delivery | undefined => index.get(id);

/** What follows is all that there is. What is shown stays until it has come. */
export function takeReset(): void {
  next = new DeliveryIndex();
  resets.value += 1;
}

/** The stream of another search begins. */
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

/** Also from the answer to a request, which may come before or after the stream tells of the task. */
export function putTask(task: Task): void {
  const known = tasks.value.find(({ id }) => id === task.id);
  if (known === undefined)
    tasks.value = [task, ...tasks.value.filter((one, at) => at < TASKS_KEPT || one.state === 'running')];
  else if (known.state === 'running') tasks.value = tasks.value.map((one) => (one === known ? task : one));
}

export function takeNotice(notice: Notice): void {
  notices.value = [...notices.value.filter(({ about }) => about !== notice.about), notice];
}

/** However much comes, it is drawn once a frame. */
function drawSoon(): void {
  if (frame !== 0) return;
  frame = requestAnimationFrame(() => {
    frame = 0;
    rows.value = { ...rows.value, all: index.all() };
  });
}
