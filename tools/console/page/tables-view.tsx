import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { PlainItem } from '../../stage/history/facts.ts';
import type { TableInfo } from '../api.ts';
import { api } from './api.ts';
import { attributesOf, cellText, columnNames, isBlock, tableTitle, valueText } from './cell-text.ts';
import { formatRoute, navigate, route } from './route.ts';
import { changes, stack } from './store.ts';
import { TextView } from './text/text-view.tsx';
import { Visible } from './text/visible.tsx';
import { Empty } from './ui/badge.tsx';
import { Button } from './ui/button.tsx';
import { Pane, Split } from './ui/split.tsx';
import { Table } from './ui/table.tsx';
import { LoadNote, Refresh, useLoad } from './ui/use-load.tsx';

/** Number of columns besides the key and `data`: without and with an open item next to the table. */
const COLUMNS = { alone: 4, nextToItem: 1 };

/** Width of all columns except the last one, which takes the rest. */
const COLUMN_WIDTH = 'fit-content(220px)';

const VALUE_ROWS = 24;

/** Maximum characters of a tooltip. */
const TITLE_LENGTH = 1_000;

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
  /** Start keys of the pages up to the current one, for the button that goes back. */
  const turned = useSignal<readonly string[]>([]);
  const after = turned.value.at(-1) ?? '';
  const loaded = useLoad(`${name} ${after}`, (signal) => api.table(name, { after }, signal), changes);
  const { rows: items = [], next } = loaded.value ?? {};
  return (
    <>
      <FindForm name={name} idName={key}>
        <Refresh of={loaded} />
      </FindForm>
      <LoadNote of={loaded} />
      {loaded.value !== undefined && items.length === 0 && (
        <Empty title={after === '' ? 'No items yet' : 'No more items'}>
          <p>
            Consumers write one item for each <code>{key}</code>.
          </p>
        </Empty>
      )}
      {items.length > 0 && (
        <Table
          label={`Items of ${tableTitle(name)}`}
          columns={columnNames(items, key, opened === undefined ? COLUMNS.alone : COLUMNS.nextToItem).map(
            (column, index, { length }) => ({
              name: column,
              heading: column,
              width: index === length - 1 ? 'minmax(0, 1fr)' : COLUMN_WIDTH,
              cell: (item: PlainItem) => (
                <CellLink
                  address={addressOf(name, String(item[key]))}
                  value={item[column]}
                  isKey={column === key}
                />
              ),
            }),
          )}
          rows={items}
          idOf={(item) => String(item[key])}
          current={opened}
        />
      )}
      {(next !== undefined || turned.value.length > 0) && (
        <nav class="row" aria-label="Pages">
          <Button
            refusal={turned.value.length === 0 ? 'This is the first page.' : undefined}
            onClick={() => {
              turned.value = turned.value.slice(0, -1);
            }}
          >
            Previous
          </Button>
          <span class="soft">Page {turned.value.length + 1}</span>
          <Button
            refusal={next === undefined ? 'This is the last page.' : undefined}
            onClick={() => {
              if (next !== undefined) turned.value = [...turned.value, next];
            }}
          >
            Next
          </Button>
        </nav>
      )}
    </>
  );
}

interface FindFormProps {
  name: string;
  idName: string;
  children: ComponentChildren;
}

function FindForm({ name, idName, children }: FindFormProps) {
  const search = useSignal('');
  const wanted = search.value.trim();
  return (
    <form
      class="row"
      onSubmit={(submit) => {
        submit.preventDefault();
        if (wanted !== '') navigate({ view: 'tables', path: [name], query: { key: wanted } });
      }}
    >
      <input
        class="field mono"
        aria-label={`Find by ${idName}`}
        placeholder={idName}
        value={search}
        autoComplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          search.value = currentTarget.value;
        }}
      />
      <Button type="submit" refusal={wanted === '' ? `Type a ${idName}.` : undefined}>
        Find
      </Button>
      {children}
    </form>
  );
}

function ItemPane({ table: { name, key }, id }: { table: TableInfo; id: string }) {
  const loaded = useLoad(`${name}/${id}`, (signal) => api.table(name, { key: id }, signal), changes);
  const { value } = loaded;
  const [item] = value?.rows ?? [];
  return (
    <Pane
      title={<Visible text={id} />}
      closeLabel="Close the item"
      list={addressOf(name)}
      link={addressOf(name, id)}
      actions={<Refresh of={loaded} />}
    >
      <LoadNote of={loaded} />
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
    </Pane>
  );
}

function Value({ name, text }: { name: string; text: string }) {
  if (isBlock(text)) return <TextView text={text} label={name} rows={VALUE_ROWS} />;
  return <CodeText text={text} />;
}

interface CellLinkProps {
  address: string;
  value: unknown;
  isKey: boolean;
}

/** A value in one line. Each cell of a row links to its item, but only the key's link can get the focus. */
function CellLink({ address, value, isKey }: CellLinkProps) {
  const text = cellText(value);
  if (text === '') return null;
  return (
    <a
      class={`cut ${isKey ? 'row-link' : 'cell-link'}`}
      href={address}
      tabIndex={isKey ? undefined : -1}
      title={valueText(value).slice(0, TITLE_LENGTH)}
    >
      <CodeText text={text} />
    </a>
  );
}

const CodeText = ({ text }: { text: string }) => (
  <code>
    <Visible text={text} />
  </code>
);
