import { Empty } from '../shared/empty.tsx';
import { SubNav } from '../shared/sub-nav.tsx';
import { useConsole } from '../shell/context.ts';
import { formatRoute, type Route } from '../shell/route.ts';
import { RowPane } from './row-pane.tsx';
import { RowTable } from './row-table.tsx';
import { tableTitle } from './row-text.ts';

/** The tables that consumers write: `#/tables/<table>?key=<of the row that is opened>`. */
export function TablesView({ route }: { route: Route }) {
  const { stack } = useConsole();
  const [name] = route.path;
  const key = route.query.key || undefined;
  const table = name === undefined ? stack.tables[0] : stack.tables.find((known) => known.name === name);
  return (
    <div class="view">
      <SubNav
        label="Tables"
        active={table?.name ?? ''}
        views={stack.tables.map((known) => ({
          name: known.name,
          label: tableTitle(known.name),
          href: formatRoute({ view: 'tables', path: [known.name] }),
        }))}
      />
      {table === undefined ? (
        <Empty title="No such table">
          <p>The stack has no table {name}.</p>
        </Empty>
      ) : (
        <div class={`split${key === undefined ? '' : ' is-open'}`}>
          <RowTable key={table.name} table={table} selected={key} />
          {key !== undefined && <RowPane key={`${table.name}/${key}`} table={table} rowKey={key} />}
        </div>
      )}
    </div>
  );
}
