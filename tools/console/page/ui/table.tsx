import { useSignal } from '@preact/signals';
import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { hasModifier, type ShortcutKey } from '../shortcuts.ts';
import { useNextFocus } from './use-next-focus.ts';

/**
 * The table of every view. It uses ARIA roles and not table elements, because its rows share the tracks of a
 * CSS grid, and the rows of a long list are positioned absolutely.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, idOf, current, onOpen, onCheck, rowHeight } = props;
  const own = useRef<HTMLDivElement>(null);
  const element = props.element ?? own;
  const index = current === undefined ? -1 : rows.findIndex((row) => idOf(row) === current);
  const { drawn, measure } = useDrawnRows(element, props, index);
  const tick = useTicks(props);
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
      aria-activedescendant={
        isGrid && current !== undefined && index !== -1 ? elementId(label, current) : undefined
      }
      tabIndex={isGrid ? 0 : undefined}
      onKeyDown={isGrid ? (event) => onKey(event, props, index) : undefined}
      onScroll={({ currentTarget }) => {
        measure(currentTarget);
        props.onScroll?.(currentTarget.scrollTop);
      }}
      onClick={({ target, shiftKey }) => {
        if (!(target instanceof Element) || target.closest('.below') !== null) return;
        const id = target.closest<HTMLElement>('.tr')?.dataset.id;
        if (target.closest('.col-check') !== null) tick(id, shiftKey);
        else if (id !== undefined && target.closest('a, button, input') === null) onOpen?.(id);
      }}
    >
      <TableHead {...props} />
      <div
        role="rowgroup"
        class="tbody"
        style={rowHeight === undefined ? undefined : { height: `${rows.length * rowHeight}px` }}
      >
        {drawn.map((at) => {
          const row = rows[at];
          return row !== undefined && <TableRow key={idOf(row)} table={props} row={row} at={at} />;
        })}
      </div>
    </div>
  );
}

/** Number of rows that Page Up and Page Down move by. */
const PAGE = 15;

export interface TableColumn<Row> {
  /** Name of the column, unique in its table. Its cells have the class `col-<name>`. */
  readonly name: string;
  /** Heading of the column. On a narrow page, where each row is stacked, it is the label of the cell. */
  readonly heading: string;
  /** Whether only screen readers get the heading. */
  readonly hidesHeading?: boolean;
  /** Width as a CSS grid track. @default auto */
  readonly width?: string;
  readonly end?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

export interface TableProps<Row> {
  label: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  idOf: (row: Row) => string;
  /** Id of the open row. Its detail is next to the table or below the row. */
  current?: string | undefined;
  /** Called when a click or a key opens a row. With this function, the table can get the focus and handles keys. */
  onOpen?: ((id: string) => void) | undefined;
  /** Called on Enter, to move the focus into the open row's detail. */
  onEnter?: (() => void) | undefined;
  /** Ids of checked rows. With `onCheck` each row has a check box. */
  checked?: ReadonlySet<string>;
  onCheck?: (ids: ReadonlySet<string>) => void;
  /** Name of a row's check box for screen readers. @default idOf */
  nameOf?: (row: Row) => string;
  /** Content below an expanded row. */
  below?: (row: Row) => ComponentChildren;
  /**
   * Height of each row in pixels. With it, only visible rows are drawn. Column widths must then not depend on
   * the rows.
   */
  rowHeight?: number;
  /** Gives the parent access to the scrolling element. */
  element?: RefObject<HTMLDivElement | null>;
  onScroll?: (scrollTop: number) => void;
  class?: string | undefined;
}

const elementId = (label: string, id: string) => `row-${label}-${id}`.replaceAll(/\s/g, '-');

function onKey<Row>(event: KeyboardEvent, table: TableProps<Row>, index: number): void {
  const { rows, idOf, onOpen, onEnter, checked, onCheck } = table;
  if (hasModifier(event) || event.target !== event.currentTarget) return;
  const row = rows[index];
  const to = rows[rowAfterKey(event.key, index, rows.length) ?? -1];
  if (event.key === 'Enter' && row !== undefined) onEnter?.();
  else if (event.key === ' ' && row !== undefined && onCheck !== undefined)
    onCheck(toggled(checked, idOf(row)));
  else if (to !== undefined) onOpen?.(idOf(to));
  else return;
  event.preventDefault();
}

/**
 * Selection of rows by check boxes.
 * @returns called on a click on a check box; without an id it is the one in the head. With Shift, it checks
 * all rows from the one that was clicked before
 */
function useTicks<Row>(table: TableProps<Row>) {
  const { rows, idOf, checked, onCheck } = table;
  const anchor = useRef<string>(undefined);
  return (rowId: string | undefined, extend: boolean) => {
    const from = extend ? rows.findIndex((row) => idOf(row) === anchor.current) : -1;
    anchor.current = rowId;
    if (rowId === undefined) {
      onCheck?.(new Set(areAllChecked(table) ? [] : rows.map(idOf)));
    } else if (from === -1) {
      onCheck?.(toggled(checked, rowId));
    } else {
      const to = rows.findIndex((row) => idOf(row) === rowId);
      const range = rows.slice(Math.min(from, to), Math.max(from, to) + 1).map(idOf);
      onCheck?.(new Set([...(checked ?? []), ...range]));
    }
  };
}

/** Whether all rows are checked. Compares ids and not numbers, because rows that a filter hides may be checked, too. */
const areAllChecked = <Row,>({ rows, idOf, checked }: TableProps<Row>) =>
  rows.length > 0 && rows.every((row) => checked?.has(idOf(row)));

function TableHead<Row>(table: TableProps<Row>) {
  const { columns, onCheck } = table;
  return (
    <div role="rowgroup" class="thead">
      <div role="row" class="tr" aria-rowindex={1}>
        {onCheck !== undefined && (
          <span role="columnheader" class="col-check">
            <input type="checkbox" aria-label="Select all" checked={areAllChecked(table)} />
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
  /** Index of the row. */
  at: number;
}

function TableRow<Row>({ table, row, at }: TableRowProps<Row>) {
  const { label, columns, idOf, nameOf = idOf, current, onOpen, checked, onCheck, below, rowHeight } = table;
  const rowId = idOf(row);
  const isCurrent = rowId === current;
  const isGrid = onOpen !== undefined;
  const cell = isGrid ? 'gridcell' : 'cell';
  const content = below?.(row);
  const own = useRef<HTMLDivElement>(null);
  useNextFocus(own, nextControl);
  return (
    <div
      ref={own}
      id={elementId(label, rowId)}
      role="row"
      class={`tr${isCurrent ? ' is-current' : ''}${isGrid ? ' opens' : ''}`}
      aria-rowindex={at + 2}
      aria-selected={isGrid ? isCurrent : undefined}
      data-id={rowId}
      style={
        rowHeight === undefined
          ? undefined
          : { transform: `translateY(${at * rowHeight}px)`, height: `${rowHeight}px` }
      }
    >
      {onCheck !== undefined && (
        <span role={cell} class="td col-check">
          <input
            type="checkbox"
            aria-label={`Select ${nameOf(row)}`}
            tabIndex={-1}
            checked={checked?.has(rowId) ?? false}
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

/**
 * Element to focus after a row was removed: the same control in the row that follows, or the heading if no
 * row is left.
 */
function nextControl(row: HTMLElement) {
  const view = row.closest<HTMLElement>('.page');
  const column = document.activeElement?.closest('.td')?.classList[1];
  const rows = [row.nextElementSibling, row.previousElementSibling];
  return () => {
    const left = rows.find((other) => other?.isConnected);
    const control = left?.querySelector<HTMLElement>(`.${column} :is(a, button)`);
    if (control) return control;
    const heading = view?.isConnected ? view.querySelector<HTMLElement>('h2') : undefined;
    if (heading?.tabIndex === -1) heading.tabIndex = -1;
    return heading;
  };
}

export function toggled(checked: ReadonlySet<string> | undefined, id: string): ReadonlySet<string> {
  const next = new Set(checked);
  if (!next.delete(id)) next.add(id);
  return next;
}

/**
 * Index of the row that a key moves to. Undefined if the key does not move.
 * @param current index of the open row, or -1
 */
export function rowAfterKey(key: string, current: number, count: number): number | undefined {
  if (count === 0) return undefined;
  const within = (index: number) => Math.min(count - 1, Math.max(0, index));
  switch (key as ShortcutKey) {
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

/** Number of rows drawn beyond the visible ones at each end, so that fast scrolling shows no gaps. */
const OVERSCAN = 10;

/** Index of the first row to draw, and of the one after the last. All sizes are in pixels. */
export function visibleRange(
  scrollTop: number,
  viewHeight: number,
  rowHeight: number,
  count: number,
): readonly [first: number, end: number] {
  const end = Math.ceil((scrollTop + viewHeight) / rowHeight) + OVERSCAN;
  const first = Math.floor(scrollTop / rowHeight) - OVERSCAN;
  return [Math.min(count, Math.max(0, first)), Math.min(count, end)];
}

/**
 * Indexes of the rows to draw: all of them, or the visible ones if rows have a fixed height. Scrolls to the
 * open row when it changes.
 */
function useDrawnRows<Row>(
  element: RefObject<HTMLDivElement | null>,
  { rows, current, rowHeight }: TableProps<Row>,
  open: number,
) {
  const scrollTop = useSignal(0);
  const viewHeight = useSignal(0);
  const measure = (list: HTMLElement) => {
    // Rounded to a row's height, so that the table is drawn again only if another row becomes visible.
    if (rowHeight !== undefined) scrollTop.value = list.scrollTop - (list.scrollTop % rowHeight);
    viewHeight.value = list.clientHeight;
  };
  useLayoutEffect(() => {
    const list = element.current;
    if (list === null || rowHeight === undefined) return;
    const observer = new ResizeObserver(() => measure(list));
    observer.observe(list);
    return () => observer.disconnect();
  }, [rowHeight]);
  useLayoutEffect(() => {
    if (element.current === null || rowHeight === undefined || open === -1) return;
    scrollToRow(element.current, open * rowHeight, rowHeight);
    // New rows are no reason to scroll: a user who has scrolled away from the open row stays there.
  }, [current, open === -1, rowHeight]);

  const [first, end] =
    rowHeight === undefined
      ? [0, rows.length]
      : visibleRange(scrollTop.value, viewHeight.value, rowHeight, rows.length);
  const drawn = Array.from({ length: end - first }, (_, at) => first + at);
  // The open row is always in the document, because a screen reader finds it by its id.
  if (open !== -1 && !drawn.includes(open)) drawn.push(open);
  return { drawn, measure };
}

function scrollToRow(list: HTMLElement, top: number, rowHeight: number): void {
  // The table's head stays visible and covers the rows below it, so its height counts.
  const head = list.querySelector<HTMLElement>('.thead')?.offsetHeight ?? 0;
  const lowest = top + rowHeight + head - list.clientHeight;
  if (list.scrollTop > top) list.scrollTop = top;
  else if (list.scrollTop < lowest) list.scrollTop = lowest;
}
