import { CommandError } from '../../terminal/command-error.ts';
import { table } from '../../terminal/layout.ts';
import { Progress } from '../../terminal/progress.ts';
import { shownId } from '../../terminal/terminal.ts';
import { printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { matchesRecord, type PayloadFilter } from '../payload-filter.ts';
import type { Delivery } from './history.ts';
import { searchLogs, windowOf } from './log-search.ts';
import { findRecords, inReadingTime } from './records.ts';
import { skipText, stateTitle } from './state-text.ts';
import { HistoryStore } from './store.ts';

/** Maximum number of deliveries listed, newest first. A longer list would not help. */
const MAX_LISTED = 100;

/**
 * Lists the deliveries in the archive of one shop, or with a text in their payload, without their payloads.
 * @returns false if something could not be read; the output says what
 * @throws CommandError if the stage has no archive
 */
export async function printSearch(
  { stack, signal, printLine, width }: Operation,
  filter: PayloadFilter,
  { json, ...times }: Parameters<typeof windowOf>[0] & { readonly json: boolean },
): Promise<boolean> {
  const window = windowOf(times);
  if (!stack.hasArchive)
    throw new CommandError('The stage has no archive, so there are no payloads to search');
  const store = new HistoryStore();
  const reading = { ...window, signal: inReadingTime(signal), progress: new Progress() };
  const archive = await findRecords(stack, reading, (record) => matchesRecord(filter, record));
  for (const fact of archive.found) store.add(fact);
  const newest = () => store.list().slice(0, MAX_LISTED);
  const events = new Set(newest().flatMap(({ eventId }) => eventId ?? []));
  const pattern = `"eventId":"(${[...events].join('|')})`;
  const logs = events.size > 0 ? await searchLogs(stack, pattern, window, signal) : undefined;
  store.add(...(logs?.lines ?? []));
  if (signal.aborted) {
    if (!json) printLine('Interrupted. Nothing was changed.');
    return false;
  }
  const sources = [
    archive.source.text,
    ...(logs === undefined ? [] : [logs.source.text]),
    'Payloads that wait on a queue or are too large for the archive’s records were not searched.',
  ];
  const deliveries = newest();
  const total = store.list().length;
  const lines = json
    ? [JSON.stringify({ deliveries, total, sources }, undefined, 2)]
    : [...describeFound(deliveries, total, width), '', ...sources];
  for (const line of lines) printLine(line);
  return archive.source.problem === undefined && logs?.source.problem === undefined;
}

function describeFound(deliveries: readonly Delivery[], total: number, width: number): string[] {
  const rows = deliveries.map(({ id, receivedAt, event = '', shopId = '', state, reason, error = '' }) => [
    `${receivedAt.slice(0, 10)} ${receivedAt.slice(11, 19)}`,
    event,
    shopId,
    stateTitle(state).title,
    reason === undefined ? error : skipText(reason),
    shownId(id, width),
  ]);
  const columns = ['received (UTC)', 'event', 'shop', 'state', 'reason or error', 'request'];
  const headings = columns.map((heading) => ({ heading }));
  const printed = rows.map((cells) => cells.map(printable));
  return [
    `${total === 1 ? '1 delivery' : `${total} deliveries`} in the archive.`,
    ...(total === 0 ? [] : ['', ...table(headings, printed, width)]),
    ...(total > rows.length ? ['', `Only the newest ${rows.length} are listed.`] : []),
  ];
}
