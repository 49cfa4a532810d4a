import type { Delivery } from '../../../stage/history/history.ts';
import { formatRoute, route } from '../route.ts';
import { copyAndSay } from '../ui/copy.tsx';
import { Menu } from '../ui/menu.tsx';
import { saveFile } from '../ui/save-file.ts';
import { withAbsoluteTimes } from './list-filter.ts';

/** @param rows all rows that match the filters */
export function ListMenu({ rows }: { rows: readonly Delivery[] }) {
  const save = (ending: string, text: string) => {
    const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
    saveFile(`deliveries-${time}Z.${ending}`, text);
  };
  const refusal = rows.length === 0 ? 'The list has no deliveries.' : undefined;
  return (
    <Menu
      label="Share or save this list"
      items={[
        { label: 'Copy link to this list', onChoose: () => copyAndSay(sharedLink([]), 'Link copied.') },
        { label: 'Save as JSON lines', refusal, onChoose: () => save('jsonl', jsonLines(rows)) },
        { label: 'Save as CSV', refusal, onChoose: () => save('csv', csv(rows)) },
      ]}
    />
  );
}

/** Link to this page for other people. Relative times, such as the last 15 minutes, become absolute. */
export function sharedLink(path = route.peek().path): string {
  const { view, query } = route.peek();
  return new URL(
    `/${formatRoute({ view, path, query: withAbsoluteTimes(query, Date.now()) })}`,
    location.href,
  ).href;
}

/** Columns of the CSV file. Their names are those of the API. */
const COLUMNS = [
  'receivedAt',
  'event',
  'state',
  'shopId',
  'status',
  'attempts',
  'latencyMs',
  'reason',
  'error',
  'bytes',
  'id',
  'eventId',
  'preview',
] as const satisfies readonly (keyof Delivery)[];

/** Deliveries as JSON lines, with the field names of the API. */
export const jsonLines = (rows: readonly Delivery[]): string =>
  rows.map(({ match: _match, ...row }) => `${JSON.stringify(row)}\n`).join('');

/** Deliveries as CSV (RFC 4180) with a header line. */
export function csv(rows: readonly Delivery[]): string {
  const lines = rows.map((row) => COLUMNS.map((name) => csvCell(String(row[name] ?? ''))));
  return [COLUMNS, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}

function csvCell(text: string): string {
  // A spreadsheet would evaluate a cell that begins so as a formula. Source: OWASP, "CSV Injection".
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
