import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import { useViewport } from '../shared/use-viewport.ts';
import { scrollToRow, windowOf } from '../shared/window.ts';
import { DeliveryRow, rowId } from './delivery-row.tsx';
import { rowAfterKey } from './held-list.ts';

interface DeliveryListProps {
  element: RefObject<HTMLDivElement | null>;
  rows: readonly Delivery[];
  selected: string | undefined;
  /** In pixels, as the stylesheet has it. */
  rowHeight: number;
  onSelect: (id: string) => void;
  /** Enter: into what is selected. */
  onOpen: () => void;
  /** Somebody scrolled; how far, in pixels. */
  onScrolled: (scrollTop: number) => void;
}

/** Rows that are drawn at most, on a screen of 4,000 pixels. A power of two above it. */
const SLOTS = 256;

/**
 * Scrolling fills the elements of rows that leave with those that come. Counted from the oldest, as a new delivery
 * would change all that stand below it otherwise.
 */
const slotOf = (fromOldest: number) => fromOldest % SLOTS;

/** The list, of which only the rows in view are drawn. */
export function DeliveryList({
  element,
  rows,
  selected,
  rowHeight,
  onSelect,
  onOpen,
  onScrolled,
}: DeliveryListProps) {
  const { scrollTop, height } = useViewport(element);
  const count = rows.length;
  const { first, end, top, height: area } = windowOf({ scrollTop, height, rowHeight, count });
  const index = selected === undefined ? -1 : rows.findIndex(({ id }) => id === selected);

  useEffect(() => onScrolled(scrollTop), [scrollTop]);
  useLayoutEffect(() => {
    const list = element.current;
    if (index === -1 || list === null) return;
    list.scrollTop = scrollToRow(index, {
      scrollTop: list.scrollTop,
      height: list.clientHeight,
      rowHeight,
      count,
    });
    // Not with every change of the list: whoever scrolls away from the selected row stays where they are.
  }, [selected, rowHeight, index === -1]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' && index !== -1) {
      event.preventDefault();
      onOpen();
      return;
    }
    const to = rowAfterKey(event.key, index, count, Math.max(1, Math.floor(height / rowHeight) - 1));
    const row = to === undefined ? undefined : rows[to];
    if (row === undefined) return;
    event.preventDefault();
    onSelect(row.id);
  };

  const drawn = rows.slice(first, end).map((delivery, offset) => ({ delivery, index: first + offset }));
  const active = rows[index];
  // A screen reader is told of the selected row by its id: it has to be there.
  if (active !== undefined && (index < first || index >= end)) drawn.push({ delivery: active, index });

  return (
    <div
      ref={element}
      class="list"
      role="listbox"
      tabIndex={0}
      aria-label="Deliveries, newest first"
      aria-activedescendant={active === undefined ? undefined : rowId(active.id)}
      onKeyDown={onKeyDown}
      onMouseDown={(event) => {
        // A row takes no focus: it stays on the list, which hears the keys.
        if (event.button !== 0 || event.target === element.current) return;
        event.preventDefault();
        element.current?.focus({ preventScroll: true });
      }}
      onClick={(event) => {
        const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-id]') : null;
        if (row?.dataset.id !== undefined) onSelect(row.dataset.id);
      }}
    >
      <div class="list-area" style={{ height: `${area}px` }}>
        {drawn.map(({ delivery, index: at }) => (
          <DeliveryRow
            key={at < first || at >= end ? 'selected' : slotOf(count - at)}
            delivery={delivery}
            index={at}
            count={count}
            top={top + (at - first) * rowHeight}
            selected={delivery.id === selected}
          />
        ))}
      </div>
    </div>
  );
}
