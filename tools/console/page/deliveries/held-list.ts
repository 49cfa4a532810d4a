import type { Delivery } from '../../../stage/history/history.ts';

/** The list as it was when it was told to hold still. Its rows go on to change, but none comes between them or goes. */
export interface HeldList {
  readonly rows: readonly Delivery[];
  readonly ids: ReadonlySet<string>;
}

export function holdList(rows: readonly Delivery[]): HeldList {
  return { rows, ids: new Set(rows.map(({ id }) => id)) };
}

/** How many are newer than all that a held list has. @param live ids, newest first */
export function countNew(held: HeldList, live: readonly string[]): number {
  const known = live.findIndex((id) => held.ids.has(id));
  return known === -1 ? live.length : known;
}

/** What came below a held list since, such as rows of a stage's older logs: it moves nothing. @param live ids, newest first */
export function olderThan(held: HeldList, live: readonly string[]): readonly string[] {
  const last = live.findLastIndex((id) => held.ids.has(id));
  return last === -1 ? [] : live.slice(last + 1);
}

/** Where a key leads from a row, `current` being -1 where none is selected; undefined for other keys. */
export function rowAfterKey(key: string, current: number, count: number, page: number): number | undefined {
  if (count === 0) return undefined;
  const within = (index: number) => Math.min(count - 1, Math.max(0, index));
  switch (key) {
    case 'j':
    case 'ArrowDown':
      return within(current + 1);
    case 'k':
    case 'ArrowUp':
      return within(current === -1 ? 0 : current - 1);
    case 'PageDown':
      return within(current + page);
    case 'PageUp':
      return within(current - page);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}
