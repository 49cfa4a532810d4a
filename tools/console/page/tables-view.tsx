import { useState } from 'preact/hooks';
import type { Item } from '../../stage/history/facts.ts';
import type { TableInfo } from '../api.ts';
import { api } from './api.ts';
import { attributesOf, cellText, columnNames, isBlock, tableTitle, valueText } from './cell-text.ts';
import { formatRoute, navigate, route } from './route.ts';
import { stack } from './store.ts';
import { TextBlock } from './text/viewer.tsx';
import { Visible } from './text/visible.tsx';
import { Empty, ErrorNote, Loading } from './ui/badge.tsx';
import { Button } from './ui/button.tsx';
import { Icon } from './ui/icon.tsx';
import { Split, usePane } from './ui/split.tsx';
import { Table } from './ui/table.tsx';
import { localRefresh, useLoad } from './ui/use-load.ts';

/** Columns besides the key, if the list is alone, and if an item is next to it. */
const COLUMNS = { alone: 4, beside: 1 };

/** Visible rows of a long value. */
const VALUE_ROWS = 24;

const addressOf = (name: string, key = '') => formatRoute({ view: 'tables', path: [name], query: { key } });

/** The tables that consumers write: `#/tables/<table>?key=<key of the open item>`. */
export function TablesView() {
  const [name] = route.value.path;
  const { key = '' } = route.value.query;
  const table = name === undefined ? stack.tables[0] : stack.tables.find((known) => known.name === name);
  if (table === undefined) {
    return (
      <div class="page">
        <Empty title="No such table">
          <p>The stack has no table {name}.</p>
        </Empty>
      </div>
    );
  }
  return (
    <Split
      detailLabel={`Item ${key}`}
      detail={key === '' ? undefined : <ItemPane key={`${table.name}/${key}`} table={table} id={key} />}
    >
      <div class="page">
        <div class="stack">
          <nav class="tab-list nav" aria-label="Tables">
            {stack.tables.map((known) => (
              <a
                key={known.name}
                href={addressOf(known.name)}
                aria-current={known.name === table.name ? 'page' : undefined}
              >
                {tableTitle(known.name)}
              </a>
            ))}
          </nav>
          <Items key={table.name} table={table} opened={key === '' ? undefined : key} />
        </div>
      </div>
    </Split>
  );
}

function Items({ table: { name, key }, opened }: { table: TableInfo; opened: string | undefined }) {
  /** Start keys of the pages visited, the current one last. */
  const [turned, turn] = useState<readonly string[]>([]);
  const [search, setSearch] = useState('');
  const after = turned.at(-1) ?? '';
  const { value, error, loading, reload } = useLoad(
    `${name} ${after}`,
    (signal) => api.table(name, { after }, signal),
    localRefresh(),
  );
  const items = value?.rows ?? [];
  const wanted = search.trim();
  return (
    <>
      <form
        class="row"
        onSubmit={(submit) => {
          submit.preventDefault();
          if (wanted !== '') navigate({ view: 'tables', path: [name], query: { key: wanted } });
        }}
      >
        <input
          class="field mono"
          aria-label={`Find by ${key}`}
          placeholder={key}
          value={search}
          autoComplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        <Button type="submit" disabled={wanted === ''}>
          Find
        </Button>
        {!stack.local && (
          <Button busy={loading} onClick={reload}>
            Refresh
          </Button>
        )}
      </form>
      <ErrorNote>{error}</ErrorNote>
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && items.length === 0 && (
        <Empty title={after === '' ? 'No items yet' : 'No more items'}>
          <p>
            Consumers write one item for each <code>{key}</code>.
          </p>
        </Empty>
      )}
      {items.length > 0 && (
        <Table
          label={`Items of ${tableTitle(name)}`}
          columns={columnNames(items, key, opened === undefined ? COLUMNS.alone : COLUMNS.beside).map(
            (column) => ({
              name: column,
              heading: column,
              width: 'minmax(0, 1fr)',
              cell: (item: Item) => {
                if (column !== key)
                  return (
                    <code>
                      <Visible text={cellText(item[column])} />
                    </code>
                  );
                const id = String(item[key]);
                return (
                  <a class="row-link" href={addressOf(name, id)}>
                    <code>
                      <Visible text={id} />
                    </code>
                  </a>
                );
              },
            }),
          )}
          rows={items}
          idOf={(item) => String(item[key])}
          current={opened}
        />
      )}
      {(value?.next !== undefined || turned.length > 0) && (
        <nav class="row" aria-label="Pages">
          <Button disabled={turned.length === 0} onClick={() => turn(turned.slice(0, -1))}>
            Previous
          </Button>
          <span class="soft">Page {turned.length + 1}</span>
          <Button
            disabled={value?.next === undefined}
            onClick={() => value?.next !== undefined && turn([...turned, value.next])}
          >
            Next
          </Button>
        </nav>
      )}
    </>
  );
}

/** One item as it is now. */
function ItemPane({ table: { name, key }, id }: { table: TableInfo; id: string }) {
  const { value, error, loading, reload } = useLoad(
    `${name}/${id}`,
    (signal) => api.table(name, { key: id }, signal),
    localRefresh(),
  );
  const [item] = value?.rows ?? [];
  const list = addressOf(name);
  const heading = usePane(list, addressOf(name, id));
  return (
    <div class="page">
      <div class="stack">
        <header class="row">
          <h2 ref={heading} tabIndex={-1} class="grow wrap">
            <Visible text={id} />
          </h2>
          {!stack.local && (
            <Button busy={loading} onClick={reload}>
              Refresh
            </Button>
          )}
          <a class="icon-button" href={list} aria-label="Close the item">
            <Icon name="close" />
          </a>
        </header>
        <ErrorNote>{error}</ErrorNote>
        {value === undefined && error === undefined && <Loading />}
        {value !== undefined && item === undefined && (
          <Empty title="No such item">
            <p>
              No item has this <code>{key}</code>. It appears here as soon as an event writes it.
            </p>
          </Empty>
        )}
        {item !== undefined && (
          <Table
            label={`Attributes of ${id}`}
            columns={[
              { name: 'attribute', heading: 'Attribute', cell: ([attribute]) => <code>{attribute}</code> },
              {
                name: 'value',
                heading: 'Value',
                width: 'minmax(0, 1fr)',
                cell: ([attribute, of]) => <Value name={attribute} text={valueText(of)} />,
              },
            ]}
            rows={attributesOf(item, key)}
            idOf={([attribute]) => attribute}
          />
        )}
      </div>
    </div>
  );
}

function Value({ name, text }: { name: string; text: string }) {
  if (isBlock(text)) return <TextBlock text={text} label={name} rows={VALUE_ROWS} />;
  return (
    <code>
      <Visible text={text} />
    </code>
  );
}
