import { useId, useState } from 'preact/hooks';
import type { TableInfo, TableRows } from '../../api.ts';
import { Button } from '../shared/button.tsx';
import { Empty } from '../shared/empty.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { Loading } from '../shared/loading.tsx';
import { useLoad } from '../shared/use-load.ts';
import { REFRESH, useRefresh } from '../shared/use-refresh.ts';
import { useConsole } from '../shell/context.ts';
import { formatRoute } from '../shell/route.ts';
import { navigate } from '../shell/use-route.ts';
import { Visible } from '../text/visible.tsx';
import { cellText, columnsOf, tableTitle } from './row-text.ts';

/** The rows of a table, page by page. */
export function RowTable({
  table: { name, key },
  selected,
}: {
  table: TableInfo;
  selected: string | undefined;
}) {
  const { api, stack } = useConsole();
  /** Where each page begins that was turned to, this one last. */
  const [turned, setTurned] = useState<readonly string[]>([]);
  const [search, setSearch] = useState('');
  const id = useId();
  const after = turned.at(-1);
  const rows = useLoad(`${name} ${after ?? ''}`, (signal) =>
    api.get<TableRows>(
      `/api/tables/${encodeURIComponent(name)}${after === undefined ? '' : `?after=${encodeURIComponent(after)}`}`,
      signal,
    ),
  );
  useRefresh(rows, stack.local ? REFRESH : undefined);
  const found = rows.value?.rows ?? [];
  const next = rows.value?.next;
  const columns = columnsOf(found, key);
  const wanted = search.trim();
  return (
    <section class="split-list" aria-label={tableTitle(name)}>
      <div class="rows-head">
        <form
          class="find"
          onSubmit={(submit) => {
            submit.preventDefault();
            if (wanted !== '') navigate({ view: 'tables', path: [name], query: { key: wanted } });
          }}
        >
          <label for={id}>
            <code>{key}</code>
          </label>
          <input
            id={id}
            class="field mono"
            value={search}
            autoComplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
          <Button type="submit" disabled={wanted === ''}>
            Find
          </Button>
        </form>
        {!stack.local && (
          <Button kind="quiet" onClick={rows.reload}>
            Look again
          </Button>
        )}
      </div>
      {rows.error !== undefined && <ErrorNote>{rows.error}</ErrorNote>}
      {rows.value === undefined && rows.error === undefined && <Loading />}
      {rows.value !== undefined && found.length === 0 && turned.length === 0 ? (
        <Empty title="No rows yet">
          <p>
            A consumer writes here what its events say, one row for each <code>{key}</code>.
          </p>
        </Empty>
      ) : (
        found.length > 0 && (
          <div class="table-scroll">
            <table class="table row-table">
              <caption class="visually-hidden">Rows of {tableTitle(name)}</caption>
              <thead>
                <tr>
                  {columns.map((column) => (
                    <th key={column} scope="col">
                      <code>{column}</code>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {found.map((row) => {
                  const own = String(row[key] ?? '');
                  return (
                    <tr key={own} class={own === selected ? 'is-selected' : undefined}>
                      {columns.map((column) =>
                        column === key ? (
                          <th key={column} scope="row">
                            <a
                              class="row-link mono"
                              href={formatRoute({ view: 'tables', path: [name], query: { key: own } })}
                              aria-current={own === selected ? 'true' : undefined}
                            >
                              <Visible text={cellText(row[column])} />
                            </a>
                          </th>
                        ) : (
                          <td key={column} class="mono">
                            <Visible text={cellText(row[column])} />
                          </td>
                        ),
                      )}
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
        )
      )}
      {(next !== undefined || turned.length > 0) && (
        <nav class="pages" aria-label="Pages">
          <Button disabled={turned.length === 0} onClick={() => setTurned(turned.slice(0, -1))}>
            Back
          </Button>
          <span class="soft">Page {turned.length + 1}</span>
          <Button
            disabled={next === undefined}
            onClick={() => next !== undefined && setTurned([...turned, next])}
          >
            Next
          </Button>
        </nav>
      )}
    </section>
  );
}
