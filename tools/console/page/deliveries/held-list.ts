import type { Delivery } from '../../../stage/history/history.ts';

/** The list as it was when it was paused. Its rows go on to change, but none comes between them or leaves. */
export interface HeldList {
  readonly rows: readonly Delivery[];
  readonly ids: ReadonlySet<string>;
}

export function holdList(rows: readonly Delivery[]): HeldList {
  return { rows, ids: new Set(rows.map(({ id }) => id)) };
}

/** How many are newer than all of a held list. @param live newest first */
export function countNew(held: HeldList, live: readonly Delivery[]): number {
  const known = live.findIndex(({ id }) => held.ids.has(id));
  return known === -1 ? live.length : known;
}

/** What came below a held list since, such as rows of a stage's older logs: it moves nothing. @param live newest first */
export function olderThan(held: HeldList, live: readonly Delivery[]): readonly Delivery[] {
  const last = live.findLastIndex(({ id }) => held.ids.has(id));
  return last === -1 ? [] : live.slice(last + 1);
}
