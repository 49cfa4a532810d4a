import { computed, signal } from '@preact/signals';
import {
  type Delivery,
  type DeliveryState,
  isRefused,
  isSettled,
  queueOf,
} from '../../../stage/history/history.ts';
import { navigate, route } from '../route.ts';
import { startedAt, rows as stored } from '../store.ts';

/** Groups of deliveries that need nobody, for filters. Those that do have a view of their own. */
export const OUTCOMES = ['Rejected', 'In progress', 'Done'] as const;
export type OutcomeGroup = (typeof OUTCOMES)[number];

/** @returns undefined if the delivery waits for a person */
export function outcomeOf(state: DeliveryState): OutcomeGroup | undefined {
  if (queueOf({ state }) !== undefined) return undefined;
  if (isRefused(state)) return 'Rejected';
  return isSettled(state) ? 'Done' : 'In progress';
}

/** Words of the search that do not search the payload: `shop:shop-7`, `event:girl`. */
const WORD = /(?:^|\s)(shop|event):(\S*)/g;

interface SearchWords {
  /** Part of a payload, an id or an error. The server applies it; the page applies the rest. */
  readonly text: string;
  /** Part of the event's name and of the shop's id, in lower case. */
  readonly event: string;
  readonly shop: string;
}

export function readSearch(search = ''): SearchWords {
  const words = [...search.matchAll(WORD)].map(([, name, value = '']) => [name, value.toLowerCase()]);
  return { text: search.replaceAll(WORD, '').trim(), event: '', shop: '', ...Object.fromEntries(words) };
}

/** Whether a delivery is of this event and shop. Those of a request without a valid signature are only claimed. */
const matches = ({ event = '', shopId = '' }: Delivery, wanted: SearchWords): boolean =>
  event.toLowerCase().includes(wanted.event) && shopId.toLowerCase().includes(wanted.shop);

/** The filters of the address as text, so that a change is easy to detect. */
export const search = computed(() => route.value.query.search?.trim() ?? '');
export const outcome = computed(() => OUTCOMES.find((known) => known === route.value.query.outcome));

/** Key of the list. The key changes with the filters, and when the server is replaced by another process. */
export const listKey = computed(() => `${startedAt.value} ${outcome.value} ${search.value}`);

/** Whether all rows of the search in the address have arrived. */
export const isThere = computed(() => stored.value.search === readSearch(search.value).text);

/** The deliveries that match the search, of any outcome, newest first. */
const found = computed(() => {
  const words = readSearch(search.value);
  return stored.value.all.filter((row) => matches(row, words));
});

const byOutcome = computed(() => Map.groupBy(found.value, ({ state }) => outcomeOf(state)));

const ofOutcome = (name: OutcomeGroup) => byOutcome.value.get(name) ?? [];

/** Number of deliveries with an outcome. Undefined until all have arrived. */
export const outcomeCount = (name: OutcomeGroup) => (isThere.value ? ofOutcome(name).length : undefined);

const live = computed(() => (outcome.value === undefined ? found.value : ofOutcome(outcome.value)));

/** The newest delivery when the list was stopped, and the list's key. */
const stopped = signal<{ readonly newest: Delivery | undefined; readonly key: string } | undefined>(
  undefined,
);

/** Whether the list is stopped: while a delivery is open or the user has scrolled down, new rows must not move it. */
export const isStopped = computed(() => stopped.value?.key === listKey.value);

/** Number of deliveries that arrived since the list was stopped. */
export const newer = computed(() => (isStopped.value ? countNewer(live.value, stopped.value?.newest) : 0));

export const shownRows = computed(() => (newer.value === 0 ? live.value : live.value.slice(newer.value)));

export function stop(): void {
  // While a new search loads, the rows are those of the previous one.
  if (isStopped.peek() || !isThere.peek()) return;
  stopped.value = { newest: live.peek()[0], key: listKey.peek() };
}

export function follow(): void {
  stopped.value = undefined;
}

/**
 * @param rows newest first
 * @param last a delivery that may have left the list meanwhile. Undefined: the list was empty
 */
export function countNewer(rows: readonly Delivery[], last: Delivery | undefined): number {
  if (last === undefined) return rows.length;
  const first = rows.findIndex(({ receivedAt, id }) => id === last.id || receivedAt < last.receivedAt);
  return first === -1 ? rows.length : first;
}

export function openDelivery(id: string): void {
  const current = route.peek();
  navigate({ ...current, id }, { replace: current.id !== undefined });
}

/** Opens a delivery that this page has sent. Another view stays open. */
export function openSent(id: string): void {
  if (route.peek().view !== 'deliveries') return;
  follow();
  navigate({ ...route.peek(), id });
}

export const closeDelivery = () => navigate({ ...route.peek(), id: undefined });
