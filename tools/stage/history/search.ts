import { UsageError } from '../../terminal/command-error.ts';
import { table } from '../../terminal/layout.ts';
import { lateProgress } from '../../terminal/progress.ts';
import { shownId } from '../../terminal/terminal.ts';
import { printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { orRefusal } from '../operation.ts';
import type { Delivery } from './history.ts';
import { inPattern, LogSearch, MAX_LINES, windowOf } from './log-search.ts';
import { isIn, readNewestRecords } from './records.ts';
import { hasText } from './searchable-text.ts';
import { skipText, stateTitle } from './state-text.ts';
import { HistoryStore } from './store.ts';

/** Maximum number of deliveries listed, newest first. A longer list would not help. */
const MAX_LISTED = 100;

type WithoutPayload = Omit<Delivery, 'preview' | 'match'>;

/** Removes the preview: `hookctl trace` prints no payload. */
const withoutPayload = ({ preview: _preview, match: _match, ...delivery }: Delivery): WithoutPayload =>
  delivery;

/** Printed by `npx hookctl trace --search <text> --json`. */
interface SearchResult {
  readonly deliveries: readonly WithoutPayload[];
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
  if (text.trim() === '') throw new UsageError('The text to search for is empty');
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
  const notSearched = [
    ...logGaps(logs.searched, window.since, isTruncated),
    ...archiveGaps(archive),
    WAITING,
  ];
  const { deliveries, total } = store.list({ search: text }, MAX_LISTED);
  const found: SearchResult = { deliveries: deliveries.map(withoutPayload), total, notSearched };
  const lines = json ? [JSON.stringify(found, undefined, 2)] : describeFound(text, found, width);
  for (const line of lines) printLine(line);
  const isDamaged = archive !== undefined && ('refused' in archive || archive.damaged.length > 0);
  return logs.searched.refused === undefined && !isDamaged;

  function readArchive() {
    const reading = { ...window, signal, progress: lateProgress() };
    return orRefusal(stack, () =>
      readNewestRecords(stack, reading, (records, object) => {
        for (const record of records.filter((one) => isIn(window, one))) {
          const isFound = hasText(record, text) || store.get(record.requestId ?? '') !== undefined;
          if (isFound) store.addRecord(record, object);
        }
      }),
    );
  }
}

/** @param isTruncated whether the text is in more log lines than a query returns */
function logGaps(searched: LogSearch['searched'], asked: Date, isTruncated: boolean): string[] {
  const { refused, since, truncated } = searched;
  if (refused !== undefined) return [`The logs could not be read: ${refused}.`];
  return [
    isTruncated && `More than ${MAX_LINES} log lines have the text: only the newest were read.`,
    truncated && !isTruncated && `Only the newest ${MAX_LINES} log lines of the deliveries below were read.`,
    asked < new Date(since) && `The logs reach back to ${since} only.`,
  ].filter((line) => typeof line === 'string');
}

function archiveGaps(
  read: { readonly refused: string } | Awaited<ReturnType<typeof readNewestRecords>> | undefined,
): string[] {
  if (read === undefined) return ['The stage has no archive, so payloads and shops were not searched.'];
  if ('refused' in read) {
    return [`The archive, which has payloads and shops, could not be read: ${read.refused}.`];
  }
  const { unread, damaged } = read;
  const hour = unread?.split('/').slice(1, 3).join('/');
  return [
    ...(hour === undefined ? [] : [`The archive was read back to ${hour} only.`]),
    ...damaged.map((fault) => `Damaged: ${printable(fault)}.`),
  ];
}

const WAITING = 'Payloads that wait on a queue or are too large for the archive’s records were not searched.';

/**
 * Log query pattern for lines that may contain a text. The pattern matches more lines than the text: a line stores the
 * parts of an error separately, a reason with hyphens, and quotation marks escaped. The store then searches exactly.
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
