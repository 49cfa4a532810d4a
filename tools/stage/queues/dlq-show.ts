import { fieldLines } from '../../terminal/layout.ts';
import { duration, messages, printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { eventAndShop } from '../payload-filter.ts';
import type { Stage } from '../stage.ts';
import { copyKey, countLine, eventCount, eventsAndCopies, groupCopies } from './copies.ts';
import { MAX_SEARCHED } from './for-each-message.ts';
import { type AnyQueue, queueState, sourceQueueUrl } from './queue.ts';
import {
  attributeText,
  bytesAsFields,
  payloadOrReason,
  type ReceivedMessage,
  reasonOf,
} from './received-message.ts';
import { filterWords, gaps, type MessageFilter, nothingTo, selectMessages } from './selected-messages.ts';

/** Words before the next command, by kind of queue. */
const BEFORE_NEXT: Readonly<Record<AnyQueue['kind'], string>> = {
  'dead-letter': 'After you fix the cause',
  quarantine: 'After the partner or you fix the cause (docs/operations.md, "Quarantine")',
  unrouted: 'After you add the event (npx hookctl new-event) and deploy',
  removed: 'If the event may come back',
};

/**
 * Prints why each message of a queue is there, and copies as one.
 * @param options `limit`: maximum number of messages printed; `payload`: also print the partner's data, which is
 * personal
 */
export async function dlqShow(
  operation: Operation,
  queue: AnyQueue,
  {
    limit,
    payload,
    json,
    filter = {},
  }: { limit: number; payload: boolean; json: boolean; filter?: MessageFilter },
): Promise<void> {
  const { stack, printLine } = operation;
  const state = await queueState(stack.sqs, queue.url);
  /** The first messages, by the key of their copies. Only their payloads are read. */
  const payloads = new Map<string, object>();
  const describe = async (message: ReceivedMessage) => {
    const key = copyKey(queue, message);
    if (!payloads.has(key) && payloads.size < limit) {
      payloads.set(key, {});
      const { bytes, unreadable } = await payloadOrReason(stack, queue, message);
      const { shopId } = bytes ? eventAndShop(bytes) : {};
      payloads.set(key, { shopId, ...(payload && (bytes ? bytesAsFields(bytes) : { unreadable })) });
    }
    return shownMessage(queue, state.retention, message);
  };
  const read = Math.max(limit, MAX_SEARCHED);
  const selection = await selectMessages(operation, queue, filter, describe, read);
  const { selected, seen, limited } = selection;
  const entries = groupCopies(selected);
  const shown = entries.slice(0, limit).map(({ shown, key, copies, firstAt }) => ({
    ...shown,
    copies,
    firstSentAt: firstAt,
    ...payloads.get(key),
  }));
  const isCut = entries.length > limit;
  if (json) {
    const more = limited || isCut;
    const found = { stack: stack.title, queue: queue.name, messages: shown, more, inFlight: state.inFlight };
    printLine(JSON.stringify(found, undefined, 2));
    return;
  }
  if (selected.length === 0) {
    printLine((await nothingTo('show', stack, queue, selection)).message);
    return;
  }
  const total = limited ? ` (the queue has about ${messages(Math.max(seen, state.visible))})` : '';
  printLine(
    `${eventsAndCopies(entries.length, selected.length)} on ${queue.title} in ${stack.title}${total}`,
  );
  printLine('');
  const groups = [...Map.groupBy(selected, ({ shown }) => shown.reason)];
  for (const [reason, own] of groups.sort(([, a], [, b]) => eventCount(b) - eventCount(a))) {
    printLine(countLine(own, reason));
  }
  for (const message of shown)
    for (const line of ['', ...describeMessage(stack, queue, message)]) printLine(line);
  printLine('');
  for (const line of gaps(queue, selection)) printLine(line);
  if (isCut) printLine(`Only ${limit} are shown. To see more, raise --limit or export them.`);
  else if (limited) printLine(`There may be more: only ${messages(seen)} were read. An export has all.`);
  if (state.inFlight > 0) {
    printLine(`${messages(state.inFlight)} more in flight: another command reads or moves them.`);
  }
  const words = `${queue.name}${filterWords(filter)}`;
  printLine(`${BEFORE_NEXT[queue.kind]}: ${stack.command(`redrive ${words}`)}`);
}

type ShownMessage = ReturnType<typeof shownMessage> &
  ReturnType<typeof bytesAsFields> & {
    readonly copies: number;
    readonly firstSentAt: string;
    readonly shopId?: string | undefined;
    readonly unreadable?: string | undefined;
  };

/** A message, for programs. Times are in ISO 8601. */
function shownMessage(queue: AnyQueue, retention: number, message: ReceivedMessage) {
  return {
    messageId: message.id,
    reason: reasonOf(message, queue),
    event: attributeText(message, 'event'),
    eventId: attributeText(message, 'eventId'),
    requestId: attributeText(message, 'requestId'),
    failedAt: attributeText(message, 'failedAt'),
    receivedAt: attributeText(message, 'receivedAt'),
    sentAt: message.sentAt.toISOString(),
    keptUntil: new Date(message.sentAt.getTime() + retention * 1000).toISOString(),
    receives: message.receives,
  };
}

function describeMessage(stack: Stage, { kind }: AnyQueue, message: ShownMessage): string[] {
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
    ['received', `${message.receives} × from this queue (each reading counts)`],
    ['payload', unreadable === undefined ? (body ?? bodyBase64) : `not readable: ${unreadable}`],
  ];
  // The fields are not wrapped, so that a payload can be copied.
  return [`message ${message.messageId}`, ...fieldLines(all, Number.POSITIVE_INFINITY).map(printable)];
}

function moment(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : `${text}, ${duration(Date.now() - time)} ago`;
}
