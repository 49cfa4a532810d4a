import { fieldLines } from '../../terminal/layout.ts';
import { ago, duration, messages, printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { eventAndShop } from '../payload-filter.ts';
import type { Stage } from '../stage.ts';
import { copyKey, countLines, eventsAndCopies, groupCopies } from './copies.ts';
import { MAX_SEARCHED } from './for-each-message.ts';
import { type AnyQueue, queueState, sourceQueueUrl } from './queue.ts';
import {
  describeMessage,
  type PayloadFields,
  payloadFields,
  type ReceivedMessage,
  readPayload,
} from './received-message.ts';
import { filterWords, gaps, type MessageFilter, nothingTo, selectMessages } from './selected-messages.ts';

/** Words before the next command, by kind of queue. */
const BEFORE_NEXT: Readonly<Record<AnyQueue['kind'], string>> = {
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
  queue: AnyQueue,
  { filter, limit, payload, json }: ShowOptions,
): Promise<void> {
  const { stack, printLine } = operation;
  const { retention, visible, inFlight } = await queueState(stack.sqs, queue.url);
  /** The first messages, by the key of their copies. Only their payloads are read. */
  const payloads = new Map<string, ShownPayload>();
  const describe = async (message: ReceivedMessage) => {
    const key = copyKey(queue, message);
    if (!payloads.has(key) && payloads.size < limit) {
      payloads.set(key, {});
      const found = await readPayload(stack, queue, message);
      const shopId = found.bytes && eventAndShop(found.bytes).shopId;
      payloads.set(key, { shopId, ...(payload && payloadFields(found)) });
    }
    const keptUntil = new Date(message.sentAt.getTime() + retention * 1000).toISOString();
    return { ...describeMessage(queue, message), keptUntil };
  };
  const read = Math.max(limit, MAX_SEARCHED);
  const selection = await selectMessages(operation, queue, filter, describe, read);
  const { selected, seen, limited } = selection;
  const entries = groupCopies(selected);
  const shown = entries.slice(0, limit).map(({ shown, key, copies, firstAt }) => {
    return { ...shown, copies, firstSentAt: firstAt, ...payloads.get(key) };
  });
  const isCut = entries.length > limit;
  if (json) {
    const found = {
      stack: stack.title,
      queue: queue.name,
      messages: shown,
      more: limited || isCut,
      inFlight,
    };
    printLine(JSON.stringify(found, undefined, 2));
    return;
  }
  if (selected.length === 0) {
    printLine((await nothingTo('show', stack, queue, selection)).message);
    return;
  }
  const total = limited ? ` (the queue has about ${messages(Math.max(seen, visible))})` : '';
  const lines = [
    `${eventsAndCopies(selected)} on ${queue.title} in ${stack.title}${total}`,
    '',
    ...countLines(selected, (one) => one.shown.reason),
    ...shown.flatMap((message) => ['', ...shownLines(stack, queue, message)]),
    '',
    ...gaps(queue, selection),
  ];
  if (isCut) lines.push(`Only ${limit} are shown. To see more, raise --limit or export them.`);
  else if (limited) lines.push(`There may be more: only ${messages(seen)} were read. An export has all.`);
  if (inFlight > 0) lines.push(`${messages(inFlight)} more in flight: another command reads or moves them.`);
  const next = (task: string) => stack.command(`${task} ${queue.name}${filterWords(filter)}`);
  lines.push(`${BEFORE_NEXT[queue.kind]}: ${next('redrive')}`, `If nobody wants them: ${next('discard')}`);
  for (const line of lines) printLine(line);
}

type ShownPayload = PayloadFields & { readonly shopId?: string | undefined };

type ShownMessage = ReturnType<typeof describeMessage> &
  ShownPayload & {
    readonly copies: number;
    readonly firstSentAt: string;
    readonly keptUntil: string;
  };

function shownLines(stack: Stage, { kind }: AnyQueue, message: ShownMessage): string[] {
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
