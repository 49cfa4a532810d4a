import { CommandError } from '../../terminal/command-error.ts';
import { counted, messages, printable, shellWord } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { eventAndShop, matchesPayload, type PayloadFilter } from '../payload-filter.ts';
import type { Stage } from '../stage.ts';
import { forEachMessage, MAX_PAGES_AT_ONCE } from './for-each-message.ts';
import { queueState, type WaitingQueue } from './queue.ts';
import {
  copyKey,
  describeMessage,
  knownEvent,
  type ReceivedMessage,
  readPayload,
} from './received-message.ts';

/** Selects messages of a queue. An absent property matches all. */
export interface MessageFilter extends PayloadFilter {
  /** Ids of messages, events or requests, or the beginnings of such ids. Copies of a named message match, too. */
  readonly ids?: readonly string[] | undefined;
  readonly event?: string | undefined;
}

/** A message, without its payload. Copies have the same key. */
type SelectedMessage = ReturnType<typeof describeMessage> & { readonly key: string };

export type Selection = Awaited<ReturnType<typeof selectMessages>>;

interface SelectOptions {
  /** Maximum number of messages read. @default all */
  readonly limit?: number | undefined;
  /** Called with each message that matches. With ids, only with those that an id names, without their copies. */
  readonly onMatch?: (message: ReceivedMessage, key: string) => unknown;
}

/**
 * Lists messages of a queue, and removes none. A command that sends or deletes messages first makes this list, and then
 * touches only its messages. Whatever is sent later, by this command or another one, is not in it. So no command takes
 * for a copy what another one has sent instead of it, and none processes again what has just failed again.
 * @returns `missing`: given ids that no message has; `unreadable`: messages that were left out, because their payload
 * is gone; `limited`: there may be more
 * @throws CommandError if a given id is the beginning of several
 */
export async function selectMessages(
  { stack, signal }: Operation,
  queue: WaitingQueue,
  filter: MessageFilter,
  { limit, onMatch = () => {} }: SelectOptions = {},
) {
  const { ids } = filter;
  const matching: SelectedMessage[] = [];
  let unreadable = 0;
  // With a limit, one page at once, to keep to it; with payloads, too, because each may have 6 MB.
  const isSlow = limit !== undefined || (filter.shop ?? filter.search ?? filter.event) !== undefined;
  const options = { signal, limit, atOnce: isSlow ? 1 : MAX_PAGES_AT_ONCE };
  const { seen, limited } = await forEachMessage(stack, queue, options, async (message) => {
    const matches = await isMatch(stack, filter, message);
    if (matches === undefined) unreadable += 1;
    if (!matches) return 'stays';
    const one = { ...describeMessage(message), key: copyKey(message) };
    matching.push(one);
    if (ids === undefined || ids.some((given) => idOf(one, given))) await onMatch(message, one.key);
    return 'stays';
  });
  const read = { queue, seen, limited, unreadable };
  if (ids === undefined) return { ...read, selected: matching, missing: [] };
  const missing: string[] = [];
  const keys = new Set<string>();
  for (const given of ids) {
    const named = matching.filter((one) => idOf(one, given));
    if (named.length === 0) missing.push(given);
    if (new Set(named.map((one) => idOf(one, given))).size > 1)
      throw new CommandError(`Several ids begin with '${printable(given)}'. Give more characters of one`);
    for (const { key } of named) keys.add(key);
  }
  return { ...read, selected: matching.filter(({ key }) => keys.has(key)), missing };
}

/** The id of a message that begins with the given text. */
const idOf = ({ eventId, requestId, messageId }: SelectedMessage, given: string) =>
  [eventId, requestId, messageId].find((id) => id?.startsWith(given));

/** @returns undefined if the payload would decide, and is gone */
async function isMatch(
  stack: Stage,
  { event, shop, search }: MessageFilter,
  message: ReceivedMessage,
): Promise<boolean | undefined> {
  const known = knownEvent(message);
  if (event !== undefined && known !== undefined && known !== event) return false;
  if (shop === undefined && search === undefined && (event === undefined || known !== undefined)) return true;
  const { bytes } = await readPayload(stack, message);
  if (bytes === undefined) return undefined;
  const isOfEvent = event === undefined || event === (known ?? eventAndShop(bytes).event);
  return isOfEvent && matchesPayload({ shop, search }, bytes);
}

/** Options that select the same messages, as words of a command: ` --shop shop-1`. */
export function filterWords({ ids = [], event, shop, search }: MessageFilter): string {
  const options = [...ids.map((id) => ['id', id]), ['event', event], ['shop', shop], ['search', search]];
  return options
    .map(([name, value]) => (value === undefined ? '' : ` --${name} ${shellWord(value)}`))
    .join('');
}

/**
 * Lines about what a selection lacks.
 * @param unseen number of selected messages that were not found again
 */
export function gaps({ queue, missing, unreadable }: Selection, unseen = 0): string[] {
  const lines = [
    missing.length > 0 &&
      `Not on ${queue.title}: ${missing.join(', ')}. A redriven message gets a new id. If it is in flight, try again in a minute`,
    unreadable > 0 && `Left out: ${messages(unreadable)} without a payload, which --shop and --search need`,
    unseen > 0 && `Left out: ${messages(unseen)} that another command reads or moves. Try again in a minute.`,
  ];
  return lines.filter((line) => line !== false);
}

/**
 * Why a selection has no messages.
 * @param task such as `redrive`
 */
export async function nothingTo(task: string, { sqs }: Stage, selection: Selection): Promise<CommandError> {
  const { title, url } = selection.queue;
  const nothing = (why: string) => new CommandError(`Nothing to ${task}: ${why}`);
  if (selection.seen > 0) {
    const [gap] = gaps(selection);
    return gap === undefined ? nothing(`no message on ${title} matches`) : new CommandError(gap);
  }
  const { visible, inFlight } = await queueState(sqs, url);
  if (inFlight > 0) {
    return nothing(
      `${title} has ${messages(inFlight)} in flight: another command reads or moves them. Try again in a minute`,
    );
  }
  if (visible === 0) return nothing(`${title} is empty`);
  return nothing(`SQS counts ${messages(visible)} on ${title} but returns none. Try again in a minute`);
}

/**
 * Visits the messages of a selection that are still on their queue, and shows the progress.
 * @param options `doing`: verb shown with the progress. `atOnce`: pages that are visited at the same time
 * @param visit as in `forEachMessage`
 * @returns `unseen`: number of messages that were not found, because another command has them
 */
export async function forEachSelected(
  { stack, signal, progress }: Operation,
  { queue, selected }: Pick<Selection, 'queue' | 'selected'>,
  { doing, atOnce }: { readonly doing: string; readonly atOnce: number },
  visit: (message: ReceivedMessage, key: string) => Promise<'settled' | 'stays'>,
) {
  const left = new Map(selected.map(({ messageId, key }) => [messageId, key]));
  const total = left.size;
  const complete = new AbortController();
  const ended = AbortSignal.any([signal, complete.signal]);
  const { undeleted } = await forEachMessage(stack, queue, { signal: ended, atOnce }, async (message) => {
    const key = left.get(message.id);
    if (key === undefined || signal.aborted) return 'stays';
    left.delete(message.id);
    if (left.size === 0) complete.abort();
    const fate = await visit(message, key);
    progress.show({ doing, done: total - left.size, total, unit: 'messages' });
    return fate;
  }).finally(() => progress.end());
  return { undeleted, unseen: left.size };
}

type Copy = Pick<SelectedMessage, 'key' | 'sentAt'>;

/** Groups copies into one entry: the newest, with their number and the time of the oldest. */
export function groupCopies<Listed extends Copy>(listed: readonly Listed[]) {
  return Map.groupBy(listed, ({ key }) => key)
    .values()
    .toArray()
    .flatMap((group) => {
      const sorted = group.toSorted((a, b) => a.sentAt.localeCompare(b.sentAt));
      const [oldest, newest] = [sorted[0], sorted.at(-1)];
      return oldest && newest ? { ...newest, copies: group.length, firstSentAt: oldest.sentAt } : [];
    });
}

type Copies = readonly Pick<SelectedMessage, 'key'>[];

/** Number of events: copies count once. */
export const eventCount = (of: Copies): number => new Set(of.map(({ key }) => key)).size;

/** `2 messages`; with copies `1 event, 14 copies`. */
export function eventsAndCopies(of: Copies): string {
  const events = eventCount(of);
  return events === of.length ? messages(events) : `${counted(events, 'event')}, ${of.length} copies`;
}

/** For each text a line `    2 × what`, or with copies `    1 × what (14 copies)`. The most frequent is first. */
export function countLines<Listed extends Copies[number]>(
  of: readonly Listed[],
  whatOf: (one: Listed) => string,
): string[] {
  return [...Map.groupBy(of, whatOf)]
    .map(([what, own]) => ({ what, own, events: eventCount(own) }))
    .sort((a, b) => b.events - a.events)
    .map(({ what, own, events }) => {
      const copies = events === own.length ? '' : ` (${own.length} copies)`;
      return `${String(events).padStart(5)} × ${printable(what)}${copies}`;
    });
}
