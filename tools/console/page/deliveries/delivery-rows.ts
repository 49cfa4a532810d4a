import { computed, signal } from '@preact/signals';
import type { Delivery } from '../../../stage/history/history.ts';
import { route } from '../route.ts';
import { deliveryOf, resets, rows as stored } from '../store.ts';
import { now } from '../ui/time.tsx';
import { matches, movesWithTime, readFilter, readSearch } from './list-filter.ts';
import { outcomeOf } from './outcomes.ts';

/** The filters of the address as one text, so that a change is easy to detect. */
const filters = computed(() => new URLSearchParams(route.value.query).toString());

/** The filter of the address, or a sentence that says what is invalid in it. */
export const filter = computed(() => readFilter(Object.fromEntries(new URLSearchParams(filters.value))));

/** Key of the list. The key changes with the filters, and when the server is replaced by another process. */
export const listKey = computed(() => `${resets.value} ${filters.value}`);

/** Whether all rows of the search in the address have arrived. */
export const isThere = computed(
  () => stored.value.search === readSearch(route.value.query.search ?? '').text,
);

/** The deliveries that match the filters, of any outcome, newest first. */
const admitted = computed(() => {
  const known = filter.value;
  if (typeof known === 'string') return [];
  const at = movesWithTime(known) ? now.value : 0;
  return stored.value.all.filter((row) => matches(row, { ...known, outcome: undefined }, at));
});

/** Number of admitted deliveries by outcome. Undefined until all have arrived. */
export const counts = computed(() => {
  if (!isThere.value) return undefined;
  const all = { 'needs-you': 0, rejected: 0, 'in-progress': 0, done: 0 };
  for (const { state } of admitted.value) all[outcomeOf(state)] += 1;
  return all;
});

/** The deliveries that match the filters, newest first. */
const live = computed(() => {
  const known = filter.value;
  if (typeof known === 'string' || known.outcome === undefined) return admitted.value;
  return admitted.value.filter(({ state }) => outcomeOf(state) === known.outcome);
});

/**
 * The list at the moment when it was frozen. Its rows are updated, but no rows are added between them or
 * removed.
 */
interface FrozenList {
  readonly rows: readonly Delivery[];
  readonly ids: ReadonlySet<string>;
}

const lastFrozen = signal<(FrozenList & { readonly key: string }) | undefined>(undefined);

/** The frozen list. The list is frozen while a delivery is open or the user has scrolled down. */
export const frozen = computed(() =>
  lastFrozen.value?.key === listKey.value ? lastFrozen.value : undefined,
);

export const shownRows = computed(() =>
  frozen.value === undefined
    ? live.value
    : [...frozen.value.rows.map((row) => deliveryOf(row.id) ?? row), ...olderThan(frozen.value, live.value)],
);

/** `1 delivery`, `1,200 deliveries`. */
export const deliveriesText = (count: number) =>
  `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`;

/** Number of deliveries that arrived since the list was frozen. */
export const newer = computed(() => (frozen.value === undefined ? 0 : countNew(frozen.value, live.value)));

export function freeze(): void {
  // While a new search loads, the rows are those of the previous one and must not be frozen.
  if (frozen.peek() === undefined && isThere.peek())
    lastFrozen.value = { ...freezeList(shownRows.peek()), key: listKey.peek() };
}

export function unfreeze(): void {
  lastFrozen.value = undefined;
}

export function freezeList(rows: readonly Delivery[]): FrozenList {
  return { rows, ids: new Set(rows.map(({ id }) => id)) };
}

/**
 * Number of deliveries newer than all of a frozen list.
 * @param live newest first
 */
export function countNew(list: FrozenList, live: readonly Delivery[]): number {
  const known = live.findIndex(({ id }) => list.ids.has(id));
  return known === -1 ? live.length : known;
}

/**
 * Deliveries that were added below a frozen list, such as older logs of a stage. Such deliveries move no row.
 * @param live newest first
 */
export function olderThan(list: FrozenList, live: readonly Delivery[]): readonly Delivery[] {
  const last = live.findLastIndex(({ id }) => list.ids.has(id));
  return last === -1 ? [] : live.slice(last + 1);
}
