import type { RefObject } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import { deliveryOf, resets, rows as stored } from '../store.ts';
import { matches, movesWithTime, readFilter } from './list-filter.ts';

/** Milliseconds between updates of counts, bars and relative time ranges such as “Last 15 minutes”. */
const TICK = 1_000;

/**
 * The rows that match the filters of the address. The list stands still while a delivery is open or the user has
 * scrolled down, until `follow` or `release` ends that.
 * @param selected id of the open delivery
 * @param list scrolls to its beginning when it follows
 */
export function useDeliveryRows(
  query: Readonly<Record<string, string>>,
  selected: string | undefined,
  list: RefObject<HTMLElement | null>,
) {
  const { all, ready, search } = stored.value;
  const [held, setHeld] = useState<HeldList>();
  const now = useNow();
  const { tab: _tab, ...filters } = query;
  const key = new URLSearchParams(filters).toString();
  const filter = useMemo(() => readFilter(query), [key]);
  const live = useMemo(
    () => (typeof filter === 'string' ? [] : all.filter((row) => matches(row, filter, now))),
    [all, filter, movesWithTime(filter) ? now : 0],
  );
  const rows = useMemo(
    () =>
      held === undefined
        ? live
        : [...held.rows.map((row) => deliveryOf(row.id) ?? row), ...olderThan(held, live)],
    [live, held],
  );
  const isThere = ready && search === (query.search?.trim() ?? '');

  const hold = () => setHeld((before) => before ?? holdList(rows));
  const release = () => setHeld(undefined);
  const follow = () => {
    release();
    if (list.current !== null) list.current.scrollTop = 0;
  };
  // With another filter, or another process of the server, the list is a new one.
  useEffect(follow, [key, resets.value]);
  const isSelectedThere = isThere && rows.some(({ id }) => id === selected);
  useEffect(() => {
    if (isSelectedThere) hold();
  }, [selected, isSelectedThere, key]);

  return {
    all,
    rows,
    /** A sentence if the address has an invalid filter. */
    filter,
    now,
    isThere,
    isPaused: held !== undefined,
    /** Number of deliveries that came since the list stands still. */
    newer: held === undefined ? 0 : countNew(held, live),
    hold,
    release,
    follow,
  };
}

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** The list at the moment it was paused. Its rows still change, but no rows are added between them or removed. */
interface HeldList {
  readonly rows: readonly Delivery[];
  readonly ids: ReadonlySet<string>;
}

export function holdList(rows: readonly Delivery[]): HeldList {
  return { rows, ids: new Set(rows.map(({ id }) => id)) };
}

/** Number of deliveries newer than all of a held list. @param live newest first */
export function countNew(held: HeldList, live: readonly Delivery[]): number {
  const known = live.findIndex(({ id }) => held.ids.has(id));
  return known === -1 ? live.length : known;
}

/**
 * Deliveries added below a held list since it was paused, such as older logs of a stage. They move nothing. @param live
 * newest first
 */
export function olderThan(held: HeldList, live: readonly Delivery[]): readonly Delivery[] {
  const last = live.findLastIndex(({ id }) => held.ids.has(id));
  return last === -1 ? [] : live.slice(last + 1);
}
