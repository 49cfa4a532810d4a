import type { Delivery } from '../../../stage/history/history.ts';

/** The list at the moment it was paused. Its rows still change, but no rows are added between them or removed. */
export interface HeldList {
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
