import type { TableInfo, TableRows } from '../../api.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { Icon } from '../shared/icon.tsx';
import { Loading } from '../shared/loading.tsx';
import { useLoad } from '../shared/use-load.ts';
import { usePane } from '../shared/use-pane.ts';
import { REFRESH, useRefresh } from '../shared/use-refresh.ts';
import { useConsole } from '../shell/context.ts';
import { formatRoute } from '../shell/route.ts';
import { TextBlock } from '../text/text-block.tsx';
import { Visible } from '../text/visible.tsx';
import { attributesOf, isBlock, tableTitle, valueText } from './row-text.ts';

/** Rows of a long value that are seen at once. */
const VALUE_ROWS = 24;

/** One row as it is now: its attributes and values. */
export function RowPane({ table: { name, key }, rowKey }: { table: TableInfo; rowKey: string }) {
  const { api, stack } = useConsole();
  const rows = useLoad(`${name}/${rowKey}`, (signal) =>
    api.get<TableRows>(`/api/tables/${encodeURIComponent(name)}?key=${encodeURIComponent(rowKey)}`, signal),
  );
  useRefresh(rows, stack.local ? REFRESH : undefined);
  const [row] = rows.value?.rows ?? [];
  const back = formatRoute({ view: 'tables', path: [name] });
  const heading = usePane(back, formatRoute({ view: 'tables', path: [name], query: { key: rowKey } }));
  return (
    <section class="split-pane" aria-label={`Row ${rowKey}`}>
      <header class="pane-head">
        <a class="icon-button pane-back" href={back} aria-label={`Back to ${tableTitle(name)}`}>
          <Icon name="back" />
        </a>
        <h2 ref={heading} tabIndex={-1} class="mono">
          <Visible text={rowKey} />
        </h2>
        <div class="pane-acts">
          <a class="icon-button pane-close" href={back} aria-label="Close the row">
            <Icon name="close" />
          </a>
        </div>
      </header>
      <div class="pane-body">
        {rows.error !== undefined && <ErrorNote>{rows.error}</ErrorNote>}
        {rows.value === undefined && rows.error === undefined && <Loading />}
        {rows.value !== undefined && row === undefined && (
          <p class="pane-empty soft">
            No row has the {key}{' '}
            <code>
              <Visible text={rowKey} />
            </code>
            . It stands here as soon as an event writes it.
          </p>
        )}
        {row !== undefined && (
          <table class="table attributes">
            <caption class="visually-hidden">Attributes of {rowKey}</caption>
            <thead class="visually-hidden">
              <tr>
                <th scope="col">Attribute</th>
                <th scope="col">Value</th>
              </tr>
            </thead>
            <tbody>
              {attributesOf(row, key).map(([attribute, value]) => (
                <tr key={attribute}>
                  <th scope="row">
                    <code>{attribute}</code>
                  </th>
                  <td>
                    <Value name={attribute} text={valueText(value)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </section>
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
