import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

/**
 * The table of every view. It uses ARIA roles instead of table elements, because rows share the tracks of a CSS grid
 * and the rows of a long list are positioned absolutely.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, idOf, current, onOpen, onCheck, rowHeight } = props;
  const own = useRef<HTMLDivElement>(null);
  const element = props.element ?? own;
  const items = useVirtualItems(element, rows.length, rowHeight);
  const onTick = useTicks(props);
  const index = current === undefined ? -1 : rows.findIndex((row) => idOf(row) === current);
  const active = rows[index];

  useLayoutEffect(() => {
    if (index !== -1 && rowHeight !== undefined) items.scrollTo(index);
    // Does not depend on the rows: a user who has scrolled away from the open row stays there.
  }, [current, index === -1]);

  const drawn: { readonly index: number; readonly start: number | undefined }[] =
    items.drawn ?? rows.map((_, at) => ({ index: at, start: undefined }));
  // A screen reader finds the open row by its id, so it must be in the document.
  if (active !== undefined && !drawn.some((item) => item.index === index)) {
    drawn.push({ index, start: index * (rowHeight ?? 0) });
  }
  const tracks = [...(onCheck === undefined ? [] : ['16px']), ...columns.map(({ width = 'auto' }) => width)];
  const isGrid = onOpen !== undefined;
  return (
    <div
      ref={element}
      role={isGrid ? 'grid' : 'table'}
      class={`table${rowHeight === undefined ? '' : ' is-virtual'} ${props.class ?? ''}`}
      style={{ '--tracks': tracks.join(' ') }}
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={isGrid && active !== undefined ? elementId(label, idOf(active)) : undefined}
      tabIndex={isGrid ? 0 : undefined}
      onKeyDown={isGrid ? (event) => onKey(event, props, index) : undefined}
      onScroll={({ currentTarget }) => props.onScroll?.(currentTarget.scrollTop)}
      onClick={({ target }) => {
        if (onOpen === undefined || !(target instanceof Element)) return;
        if (target.closest('a, button, input, .below') !== null) return;
        const row = target.closest<HTMLElement>('.tr[data-id]');
        if (row?.dataset.id !== undefined) onOpen(row.dataset.id);
      }}
    >
      <TableHead {...props} />
      <div
        role="rowgroup"
        class="tbody"
        style={items.height === undefined ? undefined : { height: `${items.height}px` }}
      >
        {drawn.map(({ index: at, start }) => {
          const row = rows[at];
          return (
            row !== undefined && <TableRow key={idOf(row)} table={props} {...{ row, at, start, onTick }} />
          );
        })}
      </div>
    </div>
  );
}

/** Extra rows drawn beyond the edges, so that fast scrolling shows no gaps. */
const OVERSCAN = 10;

/** Rows that Page Up and Page Down move by. */
const PAGE = 15;

export interface TableColumn<Row> {
  /** Unique in its table. The cell has the class `col-<name>`. */
  readonly name: string;
  /** Also the label of the cell on a narrow page, where each row is a card. */
  readonly heading: string;
  /** Only screen readers get the heading. */
  readonly hidesHeading?: boolean;
  /** A CSS grid track. @default auto */
  readonly width?: string;
  readonly end?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  label: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  idOf: (row: Row) => string;
  /** The open row, whose detail is next to the table or below the row. */
  current?: string | undefined;
  /** Opens a row, by a click or a key. With it, the table can get the focus and handles keys. */
  onOpen?: ((id: string) => void) | undefined;
  /** Enter: moves the focus into the open row's detail. */
  onEnter?: (() => void) | undefined;
  /** Ids of checked rows. With `onCheck` each row has a check box. */
  checked?: ReadonlySet<string>;
  onCheck?: (ids: ReadonlySet<string>) => void;
  /** Content below an expanded row. */
  below?: (row: Row) => ComponentChildren;
  /** Row height in pixels. With it, only visible rows are drawn, and column widths must not depend on rows. */
  rowHeight?: number;
  /** The scrolling element, if the parent needs it. */
  element?: RefObject<HTMLDivElement | null>;
  onScroll?: (scrollTop: number) => void;
  class?: string;
}

const elementId = (label: string, id: string) => `row-${label}-${id}`.replaceAll(/\s/g, '-');

function onKey<Row>(event: KeyboardEvent, table: TableProps<Row>, index: number): void {
  const { rows, idOf, onOpen, onEnter, checked, onCheck } = table;
  if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
  const row = rows[index];
  const to = rows[rowAfterKey(event.key, index, rows.length) ?? -1];
  if (event.key === 'Enter' && row !== undefined) onEnter?.();
  else if (event.key === ' ' && row !== undefined && onCheck !== undefined)
    onCheck(toggled(checked, idOf(row)));
  else if (to !== undefined) onOpen?.(idOf(to));
  else return;
  event.preventDefault();
}

/** @returns called when a check box is clicked. Shift extends the selection from the last one */
function useTicks<Row>({ rows, idOf, checked, onCheck }: TableProps<Row>) {
  const anchor = useRef<string | undefined>(undefined);
  return (rowId: string, extend: boolean) => {
    const from = extend ? rows.findIndex((row) => idOf(row) === anchor.current) : -1;
    anchor.current = rowId;
    if (from === -1) {
      onCheck?.(toggled(checked, rowId));
      return;
    }
    const to = rows.findIndex((row) => idOf(row) === rowId);
    const range = rows.slice(Math.min(from, to), Math.max(from, to) + 1).map(idOf);
    onCheck?.(new Set([...(checked ?? []), ...range]));
  };
}

function TableHead<Row>({ columns, rows, idOf, checked, onCheck }: TableProps<Row>) {
  return (
    <div role="rowgroup" class="thead">
      <div role="row" class="tr" aria-rowindex={1}>
        {onCheck !== undefined && (
          <span role="columnheader" class="col-check">
            <input
              type="checkbox"
              aria-label="Select all"
              checked={rows.length > 0 && checked?.size === rows.length}
              onChange={({ currentTarget }) => onCheck(new Set(currentTarget.checked ? rows.map(idOf) : []))}
            />
          </span>
        )}
        {columns.map(({ name, heading, end, hidesHeading }) => (
          <span key={name} role="columnheader" class={`col-${name}${end ? ' end' : ''}`}>
            {hidesHeading ? <span class="visually-hidden">{heading}</span> : heading}
          </span>
        ))}
      </div>
    </div>
  );
}

interface TableRowProps<Row> {
  table: TableProps<Row>;
  row: Row;
  at: number;
  /** Distance from the top in pixels, if rows are positioned. */
  start: number | undefined;
  onTick: (id: string, extend: boolean) => void;
}

function TableRow<Row>({ table, row, at, start, onTick }: TableRowProps<Row>) {
  const { label, columns, current, onOpen, checked, onCheck, below, rowHeight } = table;
  const rowId = table.idOf(row);
  const isCurrent = rowId === current;
  const isGrid = onOpen !== undefined;
  const cell = isGrid ? 'gridcell' : 'cell';
  const content = below?.(row);
  return (
    <div
      id={elementId(label, rowId)}
      role="row"
      class={`tr${isCurrent ? ' is-current' : ''}${isGrid ? ' opens' : ''}`}
      aria-rowindex={at + 2}
      aria-selected={isGrid ? isCurrent : undefined}
      data-id={rowId}
      style={
        start === undefined ? undefined : { transform: `translateY(${start}px)`, height: `${rowHeight}px` }
      }
    >
      {onCheck !== undefined && (
        <span role={cell} class="td col-check">
          <input
            type="checkbox"
            aria-label="Select"
            tabIndex={-1}
            checked={checked?.has(rowId) ?? false}
            onClick={({ shiftKey }) => onTick(rowId, shiftKey)}
          />
        </span>
      )}
      {columns.map(({ name, heading, hidesHeading, end, cell: draw }) => (
        <span
          key={name}
          role={cell}
          class={`td col-${name}${end ? ' end' : ''}`}
          data-label={hidesHeading ? undefined : heading}
        >
          {draw(row)}
        </span>
      ))}
      {content && (
        <div role={cell} class="below">
          {content}
        </div>
      )}
    </div>
  );
}

export function toggled(checked: ReadonlySet<string> | undefined, id: string): ReadonlySet<string> {
  const next = new Set(checked);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** Index of the row that a key leads to. `current` is -1 if no row is open. Undefined for other keys. */
export function rowAfterKey(key: string, current: number, count: number): number | undefined {
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
      return within(current + PAGE);
    case 'PageUp':
      return within(current - PAGE);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}

/** The visible rows if rows have a height. */
function useVirtualItems(
  element: RefObject<HTMLDivElement | null>,
  count: number,
  rowHeight: number | undefined,
) {
  const [, redraw] = useReducer((number: number) => number + 1, 0);
  /** Height in pixels of the head, which stays visible above the rows. */
  const head = useRef(0);
  const options = () => ({
    count: rowHeight === undefined ? 0 : count,
    getScrollElement: () => element.current,
    estimateSize: () => rowHeight ?? 0,
    overscan: OVERSCAN,
    scrollMargin: head.current,
    scrollPaddingStart: head.current,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(0),
  });
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, HTMLDivElement>(options()));
  virtualizer.setOptions(options());
  useLayoutEffect(() => (rowHeight === undefined ? undefined : virtualizer._didMount()), []);
  useLayoutEffect(() => {
    if (rowHeight !== undefined) virtualizer._willUpdate();
  });
  useLayoutEffect(() => {
    head.current = element.current?.querySelector<HTMLElement>('.thead')?.offsetHeight ?? 0;
    virtualizer.setOptions(options());
    virtualizer.measure();
  }, [rowHeight]);
  if (rowHeight === undefined) return { drawn: undefined, height: undefined, scrollTo: () => {} };
  return {
    drawn: virtualizer.getVirtualItems().map(({ index, start }) => ({ index, start: start - head.current })),
    height: virtualizer.getTotalSize(),
    scrollTo: (index: number) => virtualizer.scrollToIndex(index, { align: 'auto' }),
  };
}
