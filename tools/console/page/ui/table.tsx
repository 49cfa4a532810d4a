import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { useNextFocus } from './use-next-focus.ts';

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

interface TableProps<Row> {
  label: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  idOf: (row: Row) => string;
  /** Content below an expanded row. */
  below?: (row: Row) => ComponentChildren;
  class?: string;
}

/** A table of few rows. It uses ARIA roles and not table elements, because its rows share the tracks of a CSS grid. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, idOf } = props;
  return (
    <div
      role="table"
      class={`table ${props.class ?? ''}`}
      style={{ '--tracks': columns.map(({ width = 'auto' }) => width).join(' ') }}
      aria-label={label}
    >
      <div role="rowgroup" class="thead">
        <div role="row" class="tr">
          {columns.map(({ name, heading, end, hidesHeading }) => (
            <span key={name} role="columnheader" class={`col-${name}${end ? ' end' : ''}`}>
              {hidesHeading ? <span class="visually-hidden">{heading}</span> : heading}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="tbody">
        {rows.map((row) => (
          <TableRow key={idOf(row)} table={props} row={row} />
        ))}
      </div>
    </div>
  );
}

function TableRow<Row>({ table: { columns, below }, row }: { table: TableProps<Row>; row: Row }) {
  const content = below?.(row);
  const own = useRef<HTMLDivElement>(null);
  useNextFocus(own, nextControl);
  return (
    <div ref={own} role="row" class="tr">
      {columns.map(({ name, heading, hidesHeading, end, cell }) => (
        <span
          key={name}
          role="cell"
          class={`td col-${name}${end ? ' end' : ''}`}
          data-label={hidesHeading ? undefined : heading}
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

/** A set with an id added, or without it if it was there. */
export function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}
