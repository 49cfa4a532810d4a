import type { ComponentChildren } from 'preact';

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
  return (
    <div
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
          const content = below?.(row);
          return (
            <div key={idOf(row)} role="row" class="tr">
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
