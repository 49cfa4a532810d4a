import { fieldLines } from '../../terminal/layout.ts';
import { ago, duration, messages, printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { eventAndShop } from '../payload-filter.ts';
import type { Stage } from '../stage.ts';
import { MAX_SEARCHED } from './for-each-message.ts';
import { queueState, sourceQueueUrl, type WaitingQueue } from './queue.ts';
import { type PayloadFields, payloadFields, type ReceivedMessage, readPayload } from './received-message.ts';
import {
  countLines,
  eventsAndCopies,
  filterWords,
  gaps,
  groupCopies,
  type MessageFilter,
  nothingTo,
  type Selection,
  selectMessages,
} from './selected-messages.ts';

/** Words before the next command, by kind of queue. */
const BEFORE_NEXT: Readonly<Record<WaitingQueue['kind'], string>> = {
  'dead-letter': 'After you fix the cause',
  quarantine: 'After the partner or you fix the cause (docs/operations.md, "Quarantine")',
  unrouted: 'After you add the event (npx hookctl new-event) and deploy',
  removed: 'If the event may come back',
};

interface ShowOptions {
  readonly filter: MessageFilter;
  /** Maximum number of messages printed. */
  readonly limit: number;
  /** Also prints the partner's data, which is personal. */
  readonly payload: boolean;
  readonly json: boolean;
}

/** Prints why each message of a queue is there, and copies as one. */
export async function dlqShow(
  operation: Operation,
  queue: WaitingQueue,
  { filter, limit, payload, json }: ShowOptions,
): Promise<void> {
  const { stack, printLine } = operation;
  const { retention, visible, inFlight } = await queueState(stack.sqs, queue.url);
  /** The first messages, by the key of their copies. Only their payloads are read. */
  const payloads = new Map<string, ShownPayload>();
  const onMatch = async (message: ReceivedMessage, key: string) => {
    if (payloads.has(key) || payloads.size >= limit) return;
    payloads.set(key, {});
    const found = await readPayload(stack, message);
    const shopId = found.bytes && eventAndShop(found.bytes).shopId;
    payloads.set(key, { shopId, ...(payload && payloadFields(found)) });
  };
  const options = { limit: Math.max(limit, MAX_SEARCHED), onMatch };
  const selection = await selectMessages(operation, queue, filter, options);
  const { selected, seen, limited } = selection;
  const entries = groupCopies(selected);
  const shown = entries.slice(0, limit).map(({ key, ...message }): ShownMessage => {
    const keptUntil = new Date(Date.parse(message.sentAt) + retention * 1000).toISOString();
    return { ...message, keptUntil, ...payloads.get(key) };
  });
  const isCut = entries.length > limit;
  if (json) {
    const about = { stack: stack.title, queue: queue.name };
    printLine(JSON.stringify({ ...about, messages: shown, more: limited || isCut, inFlight }, undefined, 2));
    return;
  }
  if (selected.length === 0) {
    printLine((await nothingTo('show', stack, selection)).message);
    return;
  }
  const total = limited ? ` (the queue has about ${messages(Math.max(seen, visible))})` : '';
  const lines = [
    `${eventsAndCopies(selected)} on ${queue.title} in ${stack.title}${total}`,
    '',
    ...countLines(selected, ({ reason }) => reason),
    ...shown.flatMap((message) => ['', ...shownLines(stack, queue, message)]),
    '',
    ...gaps(selection),
  ];
  if (isCut) lines.push(`Only ${limit} are shown. To see more, raise --limit or export them.`);
  else if (limited) lines.push(`There may be more: only ${messages(seen)} were read. An export has all.`);
  if (inFlight > 0) lines.push(`${messages(inFlight)} more in flight: another command reads or moves them.`);
  const next = (task: string) => stack.command(`${task} ${queue.name}${filterWords(filter)}`);
  lines.push(`${BEFORE_NEXT[queue.kind]}: ${next('redrive')}`, `If nobody wants them: ${next('discard')}`);
  for (const line of lines) printLine(line);
}

type ShownPayload = PayloadFields & { readonly shopId?: string | undefined };

type ShownMessage = Omit<ReturnType<typeof groupCopies<Selection['selected'][number]>>[number], 'key'> &
  ShownPayload & { readonly keptUntil: string };

function shownLines(stack: Stage, { kind }: WaitingQueue, message: ShownMessage): string[] {
  const { event = '', body, bodyBase64, unreadable } = message;
  const isUnrouted = kind === 'unrouted';
  const isCopied = message.copies > 1;
  const all: [string, string | false | undefined][] = [
    ['why', message.reason],
    ['event', isUnrouted && event],
    ['', isUnrouted && sourceQueueUrl(stack, event) && 'has a consumer now'],
    ['shop', message.shopId],
    ['failed', moment(message.failedAt)],
    ['delivered', moment(message.receivedAt)],
    ['queued', moment(message.sentAt)],
    ['copies', isCopied && `${message.copies}, the first queued ${moment(message.firstSentAt)}`],
    ['kept until', `${message.keptUntil}, for ${duration(Date.parse(message.keptUntil) - Date.now())} more`],
    ['event id', message.eventId],
    ['request', message.requestId],
    ['payload', unreadable === undefined ? (body ?? bodyBase64) : `not readable: ${unreadable}`],
  ];
  // The fields are not wrapped, so that a payload can be copied.
  return [`message ${message.messageId}`, ...fieldLines(all, Number.POSITIVE_INFINITY).map(printable)];
}

function moment(text: string | undefined): string | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? text : `${text}, ${ago(time)}`;
}
