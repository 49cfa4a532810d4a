import { CommandError } from '../../terminal/command-error.ts';
import { messages, printable, shellWord } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { eventAndShop, matchesPayload, type PayloadFilter } from '../payload-filter.ts';
import type { Stage } from '../stage.ts';
import { copyKey, type ListedMessage } from './copies.ts';
import { forEachMessage, MAX_PAGES_AT_ONCE } from './for-each-message.ts';
import { type AnyQueue, queueState } from './queue.ts';
import { attributesOf, knownEvent, type ReceivedMessage, readPayload } from './received-message.ts';

/** Selects messages of a queue. An absent property matches all. */
export interface MessageFilter extends PayloadFilter {
  /** Ids of messages, events or requests, or the beginnings of such ids. Copies of a named message match, too. */
  readonly ids?: readonly string[] | undefined;
  readonly event?: string | undefined;
}

interface SelectedMessage<Shown> extends ListedMessage<Shown> {
  readonly id: string;
}

export type Selection<Shown = unknown> = Awaited<ReturnType<typeof selectMessages<Shown>>>;

/**
 * Lists messages of a queue, and removes none. A command that sends or deletes messages first makes this list, and then
 * touches only its messages. Whatever is sent later, by this command or another one, is not in it. So no command takes
 * for a copy what another one has sent instead of it, and none processes again what has just failed again.
 * @param describe called with each message that the filter matches, apart from its ids
 * @param limit maximum number of messages read. @default all
 * @returns `missing`: given ids that no message has; `unreadable`: messages that were left out, because their payload
 * is gone; `limited`: there may be more
 * @throws CommandError if a given id is the beginning of several
 */
export async function selectMessages<Shown>(
  { stack, signal }: Pick<Operation, 'stack' | 'signal'>,
  queue: AnyQueue,
  filter: MessageFilter,
  describe: (message: ReceivedMessage) => Shown | Promise<Shown>,
  limit?: number,
) {
  const matching: SelectedMessage<Shown>[] = [];
  /** The ids that begin with each given one, and the keys of their messages. */
  const named = new Map(filter.ids?.map((id) => [id, { ids: new Set<string>(), keys: new Set<string>() }]));
  let unreadable = 0;
  // With a limit, one page at once, to keep to it; with payloads, too, because each may have 6 MB.
  const isSlow = limit !== undefined || (filter.shop ?? filter.search ?? filter.event) !== undefined;
  const options = { signal, limit, atOnce: isSlow ? 1 : MAX_PAGES_AT_ONCE };
  const { seen, limited } = await forEachMessage(stack, queue.url, options, async (message) => {
    const matches = await isMatch(stack, queue, filter, message);
    if (matches === undefined) unreadable += 1;
    if (!matches) return 'stays';
    const key = copyKey(queue, message);
    const { id, sentAt } = message;
    const { eventId, requestId } = attributesOf(message);
    for (const [given, { ids, keys }] of named) {
      const found = [eventId, requestId, id].find((one) => one?.startsWith(given));
      if (found === undefined) continue;
      ids.add(found);
      keys.add(key);
    }
    matching.push({ id, key, at: sentAt.toISOString(), shown: await describe(message) });
    return 'stays';
  });
  for (const [given, { ids }] of named) {
    if (ids.size > 1)
      throw new CommandError(`Several ids begin with '${printable(given)}'. Give more characters of one`);
  }
  const keys = new Set([...named.values()].flatMap((one) => [...one.keys]));
  const selected = filter.ids === undefined ? matching : matching.filter(({ key }) => keys.has(key));
  const missing = [...named].flatMap(([given, { ids }]) => (ids.size === 0 ? given : []));
  return { selected, seen, limited, unreadable, missing };
}

/** @returns undefined if the payload would decide, and is gone */
async function isMatch(
  stack: Stage,
  queue: AnyQueue,
  { event, shop, search }: MessageFilter,
  message: ReceivedMessage,
): Promise<boolean | undefined> {
  const known = knownEvent(queue, attributesOf(message));
  if (event !== undefined && known !== undefined && known !== event) return false;
  if (shop === undefined && search === undefined && (event === undefined || known !== undefined)) return true;
  const { bytes } = await readPayload(stack, queue, message);
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
export function gaps({ title }: AnyQueue, { missing, unreadable }: Selection, unseen = 0): string[] {
  const lines = [
    missing.length > 0 &&
      `Not on ${title}: ${missing.join(', ')}. A redriven message gets a new id. If it is in flight, try again in a minute`,
    unreadable > 0 && `Left out: ${messages(unreadable)} without a payload, which --shop and --search need`,
    unseen > 0 && `Left out: ${messages(unseen)} that another command reads or moves. Try again in a minute.`,
  ];
  return lines.filter((line) => line !== false);
}

/**
 * Why a selection has no messages.
 * @param task such as `redrive`
 */
export async function nothingTo(
  task: string,
  { sqs }: Pick<Stage, 'sqs'>,
  queue: AnyQueue,
  selection: Selection,
): Promise<CommandError> {
  const { title, url } = queue;
  const why = async () => {
    if (selection.seen > 0) return `no message on ${title} matches`;
    const { visible, inFlight } = await queueState(sqs, url);
    if (inFlight > 0) {
      return `${title} has ${messages(inFlight)} in flight: another command reads or moves them. Try again in a minute`;
    }
    if (visible === 0) return `${title} is empty`;
    return `SQS counts ${messages(visible)} on ${title} but returns none. Try again in a minute`;
  };
  const [gap] = selection.seen === 0 ? [] : gaps(queue, selection);
  return new CommandError(gap ?? `Nothing to ${task}: ${await why()}`);
}

/**
 * Visits the messages of a selection that are still on their queue, and shows the progress.
 * @param visit as in `forEachMessage`
 * @returns `unseen`: number of messages that were not found, because another command has them
 */
export async function forEachSelected(
  { stack, signal, progress }: Pick<Operation, 'stack' | 'signal' | 'progress'>,
  queue: AnyQueue,
  { selected }: Pick<Selection, 'selected'>,
  { doing, atOnce, signal: end = signal }: { doing: string; atOnce: number; signal?: AbortSignal },
  visit: (message: ReceivedMessage, key: string) => Promise<'settled' | 'stays'>,
) {
  const left = new Map(selected.map(({ id, key }) => [id, key]));
  const total = left.size;
  const complete = new AbortController();
  const ended = AbortSignal.any([end, complete.signal]);
  const { undeleted } = await forEachMessage(stack, queue.url, { signal: ended, atOnce }, async (message) => {
    const key = left.get(message.id);
    if (key === undefined || end.aborted) return 'stays';
    left.delete(message.id);
    if (left.size === 0) complete.abort();
    const fate = await visit(message, key);
    progress.show({ doing, done: total - left.size, total, unit: 'messages' });
    return fate;
  }).finally(() => progress.end());
  return { undeleted, unseen: left.size };
}
