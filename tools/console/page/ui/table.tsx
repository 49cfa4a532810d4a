import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface TableColumn<Row> {
  /** Name of the column, unique in its table. Its cells have the class `col-<name>`. The heading of `act` is hidden. */
  readonly name: string;
  /** Heading of the column. On a narrow page, where each row is stacked, it is the label of the cell. */
  readonly heading: string;
  /** Width as a CSS grid track. @default auto */
  readonly width?: string;
  readonly end?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  label: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  idOf: (row: Row) => string;
  /** Content below an expanded row. */
  below?: (row: Row) => ComponentChildren;
}

/** A table of few rows. It uses ARIA roles and not table elements, because its rows share the tracks of a CSS grid. */
export function Table<Row>({ label, columns, rows, idOf, below }: TableProps<Row>) {
  const own = useNextFocus(rows.map(idOf));
  return (
    <div
      {...own}
      role="table"
      class="table"
      style={{ '--tracks': columns.map(({ width = 'auto' }) => width).join(' ') }}
      aria-label={label}
    >
      <div role="rowgroup" class="thead">
        <div role="row" class="tr">
          {columns.map(({ name, heading, end }) => (
            <span key={name} role="columnheader" class={`col-${name}${end ? ' end' : ''}`}>
              {heading}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="tbody">
        {rows.map((row) => {
          const id = idOf(row);
          const content = below?.(row);
          return (
            <div key={id} role="row" class="tr" data-id={id}>
              {columns.map(({ name, heading, end, cell }) => (
                <span
                  key={name}
                  role="cell"
                  class={`td col-${name}${end ? ' end' : ''}`}
                  data-label={heading}
                >
                  {cell(row)}
                </span>
              ))}
              {content && (
                <div role="cell" class="below">
                  {content}
                </div>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/**
 * Moves the focus to the same control of another row when the row with the focus is removed. A browser would leave it
 * on the body.
 */
function useNextFocus(ids: readonly string[]) {
  const ref = useRef<HTMLDivElement>(null);
  const focused = useRef<{ id: string; column: string; index: number }>(undefined);
  useLayoutEffect(() => {
    const { id, column, index = 0 } = focused.current ?? {};
    if (id === undefined || ids.includes(id)) return;
    focused.current = undefined;
    if (document.activeElement !== document.body) return;
    const rows = ref.current?.querySelectorAll(':scope > .tbody > .tr');
    rows?.[Math.min(index, rows.length - 1)]
      ?.querySelector<HTMLElement>(`.${column} :is(a, button)`)
      ?.focus();
  }, [ids.join()]);
  const onFocusIn = ({ target }: FocusEvent) => {
    const cell = target instanceof Element ? target.closest('.td') : undefined;
    const id = cell?.parentElement?.dataset.id;
    const column = cell?.classList[1];
    if (id !== undefined && column !== undefined) focused.current = { id, column, index: ids.indexOf(id) };
  };
  return { ref, onFocusIn };
}
