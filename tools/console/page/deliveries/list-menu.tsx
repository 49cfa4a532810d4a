import type { Delivery } from '../../../stage/history/history.ts';
import { formatRoute, route } from '../route.ts';
import { copyAndSay } from '../ui/copy.tsx';
import { Menu } from '../ui/menu.tsx';
import { saveFile } from '../ui/save-file.ts';
import { withAbsoluteTimes } from './list-filter.ts';

/** @param rows all that match the filters */
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

/** The address of this page for other people. Times such as the last 15 minutes are absolute. */
export function sharedLink(path = route.peek().path): string {
  const { view, query } = route.peek();
  return new URL(
    `/${formatRoute({ view, path, query: withAbsoluteTimes(query, Date.now()) })}`,
    location.href,
  ).href;
}

/** Columns of the CSV file, as in the API. */
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

/** One JSON object in each line, as in the API. */
export const jsonLines = (rows: readonly Delivery[]): string =>
  rows.map(({ match: _match, ...row }) => `${JSON.stringify(row)}\n`).join('');

/** CSV as in RFC 4180, with a line of names. */
export function csv(rows: readonly Delivery[]): string {
  const lines = rows.map((row) => COLUMNS.map((name) => csvCell(String(row[name] ?? ''))));
  return [COLUMNS, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}

function csvCell(text: string): string {
  // A spreadsheet would evaluate such a cell as a formula. Source: OWASP, "CSV Injection".
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
