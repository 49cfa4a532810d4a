import { CommandError } from '../../cli/terminal/command-error.ts';
import { table } from '../../cli/terminal/layout.ts';
import { lateProgress } from '../../cli/terminal/progress.ts';
import { shownId } from '../../cli/terminal/terminal.ts';
import { printable } from '../../cli/terminal/text.ts';
import type { Operation } from '../operation.ts';
import { orRefusal } from '../operation.ts';
import type { Delivery } from './history.ts';
import { inPattern, LogSearch, MAX_LINES, windowOf } from './log-query.ts';
import { readNewestRecords } from './records.ts';
import { skipText, stateTitle } from './state-text.ts';
import { HistoryStore, hasText } from './store.ts';

/** Maximum number of deliveries listed, newest first. A longer list does not help. */
const MAX_LISTED = 100;

/** Printed by `npm run trace -- --search <text> --json`. */
interface SearchResult {
  readonly deliveries: readonly Delivery[];
  /** Number of matching deliveries, listed or not. */
  readonly total: number;
  /** Sentences that say what was not searched. */
  readonly notSearched: readonly string[];
}

/**
 * Lists the deliveries of a window that contain a text in their payload, an id, the shop or an error. Ignores case.
 * Reads logs and archive into a store of facts and searches the store.
 * @returns false if something could not be read; the output says what
 */
export async function printSearch(
  { stack, signal, printLine, width }: Operation,
  text: string,
  { json, ...times }: Parameters<typeof windowOf>[0] & { readonly json: boolean },
): Promise<boolean> {
  if (text.trim() === '') throw new CommandError('The text to search for is empty');
  const window = windowOf(times);
  using store = new HistoryStore();
  const logs = new LogSearch(stack, window, signal);
  store.add(...(await logs.find(linesWith(text))));
  const isTruncated = logs.searched.truncated;
  const archive = stack.hasArchive ? await readArchive() : undefined;
  const events = store.list({ search: text }, MAX_LISTED).deliveries.flatMap(({ eventId }) => eventId ?? []);
  // Most log lines of a matching delivery do not contain the text.
  if (events.length > 0) store.add(...(await logs.find(`"eventId":"(${[...new Set(events)].join('|')})`)));
  if (signal.aborted) {
    if (!json) printLine('Interrupted. Nothing was changed.');
    return false;
  }
  const { refused, since, truncated } = logs.searched;
  const notSearched = [
    refused && `The logs could not be read: ${refused}.`,
    isTruncated && `More than ${MAX_LINES} log lines have the text: only the newest were read.`,
    truncated && !isTruncated && `Of the deliveries below, only the newest ${MAX_LINES} log lines were read.`,
    refused === undefined && window.since < new Date(since) && `The logs reach back to ${since} only.`,
    ...(archive === undefined
      ? ['The stage keeps no archive, so payloads and shops were not searched.']
      : archiveGaps(archive)),
    'Payloads that wait on a queue or are too large for the archive’s records were not searched.',
  ].filter((line) => typeof line === 'string');
  const found: SearchResult = { ...store.list({ search: text }, MAX_LISTED), notSearched };
  if (json) printLine(JSON.stringify(found, undefined, 2));
  else for (const line of describeFound(text, found, width)) printLine(line);
  return refused === undefined && !(archive && ('refused' in archive || archive.damaged.length > 0));

  function readArchive() {
    const reading = { ...window, signal, progress: lateProgress() };
    return orRefusal(stack, () =>
      readNewestRecords(stack, reading, (records, object) => {
        for (const record of records) {
          const at = Date.parse(record.settledAt);
          const isMeant = at >= window.since.getTime() && at < window.until.getTime();
          const isFound = hasText(record, text) || store.get(record.requestId ?? '') !== undefined;
          if (isMeant && isFound) store.addRecord(record, object);
        }
      }),
    );
  }
}

function archiveGaps(
  read: { readonly refused: string } | Awaited<ReturnType<typeof readNewestRecords>>,
): string[] {
  if ('refused' in read) {
    return [`The archive, which knows payloads and shops, could not be read: ${read.refused}.`];
  }
  const { unread, damaged } = read;
  const hour = unread?.split('/').slice(1, 3).join('/');
  return [
    ...(hour === undefined ? [] : [`The archive was read back to ${hour} only.`]),
    ...damaged.map((fault) => `Damaged: ${printable(fault)}.`),
  ];
}

/**
 * Log query pattern for lines that may contain a text. It is broader than the text: a line stores the parts of an error
 * separately, a reason with hyphens, and quotation marks escaped. The store makes the final decision.
 */
function linesWith(text: string): string {
  const [longest = ''] = text.split(': ').sort((one, other) => other.length - one.length);
  return `(?i:${inPattern(JSON.stringify(longest).slice(1, -1)).replaceAll(' ', '[ -]')})`;
}

function describeFound(
  text: string,
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
  const counted = total === 1 ? '1 delivery has' : `${total} deliveries have`;
  const listed = table(
    columns.map((heading) => ({ heading })),
    rows.map((cells) => cells.map(printable)),
    width,
  );
  return [
    total === 0
      ? `Nothing was found for '${printable(text)}' in the searched sources.`
      : `${counted} '${printable(text)}'.`,
    ...(rows.length === 0 ? [] : ['', ...listed]),
    ...(total > rows.length ? ['', `Only the newest ${rows.length} are listed.`] : []),
    '',
    ...notSearched,
  ];
}
