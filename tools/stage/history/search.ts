import { CommandError } from '../../terminal/command-error.ts';
import { table } from '../../terminal/layout.ts';
import { lateProgress } from '../../terminal/progress.ts';
import { shownId } from '../../terminal/terminal.ts';
import { printable } from '../../terminal/text.ts';
import { type Operation, orRefusal } from '../operation.ts';
import { matchesRecord, type PayloadFilter } from '../payload-filter.ts';
import type { Delivery } from './history.ts';
import { LogSearch, MAX_LINES, windowOf } from './log-search.ts';
import { readNewestRecords } from './records.ts';
import { skipText, stateTitle } from './state-text.ts';
import { HistoryStore } from './store.ts';

/** Maximum number of deliveries listed, newest first. A longer list would not help. */
const MAX_LISTED = 100;

/** Printed by `npx hookctl trace --search <text> --json`. */
interface SearchResult {
  readonly deliveries: readonly Omit<Delivery, 'preview'>[];
  /** Number of matching deliveries, listed or not. */
  readonly total: number;
  /** Sentences that say what was not searched. */
  readonly notSearched: readonly string[];
}

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
  const archive = await orRefusal(stack, () =>
    readNewestRecords(stack, { ...window, signal, progress: lateProgress() }, (record, object) => {
      if (matchesRecord(filter, record)) store.addRecord(record, object);
    }),
  );
  const logs = new LogSearch(stack, window, signal);
  const events = new Set(store.list({}, MAX_LISTED).deliveries.flatMap(({ eventId }) => eventId ?? []));
  if (events.size > 0) store.add(...(await logs.find(`"eventId":"(${[...events].join('|')})`)));
  if (signal.aborted) {
    if (!json) printLine('Interrupted. Nothing was changed.');
    return false;
  }
  const { refused, truncated } = logs.searched;
  const notSearched = [
    refused !== undefined && `The logs could not be read, so failed attempts are missing: ${refused}.`,
    truncated && `Only the newest ${MAX_LINES} log lines of the deliveries below were read.`,
    ...archiveGaps(archive),
    'Payloads that wait on a queue or are too large for the archive’s records were not searched.',
  ].filter((line) => typeof line === 'string');
  const { deliveries, total } = store.list({}, MAX_LISTED);
  // `hookctl trace` prints no payload.
  const found = deliveries.map(({ preview: _preview, ...delivery }) => delivery);
  const result: SearchResult = { deliveries: found, total, notSearched };
  const lines = json ? [JSON.stringify(result, undefined, 2)] : describeFound(filter, result, width);
  for (const line of lines) printLine(line);
  return refused === undefined && !('refused' in archive) && archive.damaged.length === 0;
}

function archiveGaps(
  read: { readonly refused: string } | Awaited<ReturnType<typeof readNewestRecords>>,
): string[] {
  if ('refused' in read) return [`The archive, which has the payloads, could not be read: ${read.refused}.`];
  const hour = read.unread?.split('/').slice(1, 3).join('/');
  const damaged = read.damaged.map((fault) => `Damaged: ${printable(fault)}.`);
  return [...(hour === undefined ? [] : [`The archive was read back to ${hour} only.`]), ...damaged];
}

function describeFound(
  { shop, search }: PayloadFilter,
  { deliveries, total, notSearched }: SearchResult,
  width: number,
): string[] {
  const columns = ['received (UTC)', 'event', 'shop', 'state', 'reason or error', 'request'];
  const rows = deliveries.map(({ id, receivedAt, event = '', shopId = '', state, reason, error = '' }) => [
    `${receivedAt.slice(0, 10)} ${receivedAt.slice(11, 19)}`,
    event,
    shopId,
    stateTitle(state).title,
    reason === undefined ? error : skipText(reason),
    shownId(id, width),
  ]);
  const headings = columns.map((heading) => ({ heading }));
  const listed = table(
    headings,
    rows.map((cells) => cells.map(printable)),
    width,
  );
  const wanted = [
    ...(shop === undefined ? [] : [`of shop '${printable(shop)}'`]),
    ...(search === undefined ? [] : [`with '${printable(search)}'`]),
  ].join(' ');
  return [
    `${total === 0 ? 'No delivery' : total === 1 ? '1 delivery' : `${total} deliveries`} ${wanted} in the archive.`,
    ...(rows.length === 0 ? [] : ['', ...listed]),
    ...(total > rows.length ? ['', `Only the newest ${rows.length} are listed.`] : []),
    '',
    ...notSearched,
  ];
}
