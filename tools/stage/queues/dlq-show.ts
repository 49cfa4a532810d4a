import { fieldLines } from '../../terminal/layout.ts';
import { duration, messages, printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import {
  copyKey,
  countLine,
  eventCount,
  eventsAndCopies,
  groupCopies,
  type ListedMessage,
} from './copies.ts';
import { type AnyQueue, emptiness, queueState, sourceQueueUrl } from './queue.ts';
import {
  attributeText,
  failureAttribute,
  forEachMessage,
  payloadFields,
  type ReceivedMessage,
  reasonOf,
} from './received-message.ts';
import { MAX_SEARCHED } from './waiting-messages.ts';

/** Words before the next command, by kind of queue. */
const BEFORE_NEXT: Readonly<Record<AnyQueue['kind'], string>> = {
  'dead-letter': 'After you fix the cause',
  quarantine: 'After the partner or you fix the cause (docs/operations.md, "Quarantine")',
  unrouted: 'After you add the event (npx hookctl new-event) and deploy',
  removed: 'They have no consumer. Keep a copy',
};

/**
 * Prints why each message of a queue is there, and copies as one.
 * @param options `limit`: maximum number of messages printed; `payload`: also print the partner's data, which is
 * personal
 */
export async function dlqShow(
  operation: Operation,
  queue: AnyQueue,
  { limit, payload, json }: { limit: number; payload: boolean; json: boolean },
): Promise<void> {
  const { stack, signal, printLine } = operation;
  const state = await queueState(stack.sqs, queue.url);
  const listed: ListedMessage<ReturnType<typeof shownMessage>>[] = [];
  const payloads = new Map<string, Awaited<ReturnType<typeof payloadFields>>>();
  const options = { signal, limit: Math.max(limit, MAX_SEARCHED) };
  const { seen, limited } = await forEachMessage(stack, queue.url, options, async (message) => {
    const key = copyKey(queue, message);
    const shown = shownMessage(queue, state.retention, message);
    listed.push({ key, at: shown.sentAt, shown });
    if (payload && !payloads.has(key) && payloads.size < limit) {
      payloads.set(key, {});
      payloads.set(key, await payloadFields(stack, queue, message));
    }
    return 'stays';
  });
  const entries = groupCopies(listed);
  const shown: ShownMessage[] = entries.slice(0, limit).map(({ shown, key, copies, firstAt }) => ({
    ...shown,
    copies,
    firstSentAt: firstAt,
    ...payloads.get(key),
  }));
  const isCut = entries.length > limit;
  if (json) {
    const { inFlight } = state;
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
  if (seen === 0) {
    printLine(`Nothing to show: ${emptiness(queue, state)}`);
    return;
  }
  const total = limited ? ` (the queue has about ${messages(Math.max(seen, state.visible))})` : '';
  printLine(`${eventsAndCopies(entries.length, seen)} on ${queue.title} in ${stack.title}${total}`);
  printLine('');
  const groups = [...Map.groupBy(listed, ({ shown }) => shown.reason)];
  for (const [reason, own] of groups.sort(([, a], [, b]) => eventCount(b) - eventCount(a))) {
    printLine(countLine(own, reason));
  }
  for (const message of shown) for (const line of ['', ...describe(stack, queue, message)]) printLine(line);
  printLine('');
  if (isCut) printLine(`Only ${limit} are shown. To see more, raise --limit or export them.`);
  else if (limited) printLine(`There may be more: only ${messages(seen)} were read. An export has all.`);
  if (state.inFlight > 0) {
    printLine(`${messages(state.inFlight)} more in flight: another command reads or moves them.`);
  }
  const next =
    queue.kind === 'removed'
      ? stack.command(`export ${queue.name}`)
      : `${stack.command(`redrive ${queue.name}`)}   (only some: --id <message>)`;
  printLine(`${BEFORE_NEXT[queue.kind]}: ${next}`);
}

type ShownMessage = ReturnType<typeof shownMessage> &
  Awaited<ReturnType<typeof payloadFields>> & { readonly copies: number; readonly firstSentAt: string };

/** A message, for programs. Times are in ISO 8601. */
function shownMessage(queue: AnyQueue, retention: number, message: ReceivedMessage) {
  return {
    messageId: message.id,
    reason: reasonOf(message, queue),
    event: attributeText(message, 'event'),
    eventId: attributeText(message, 'eventId'),
    requestId: attributeText(message, 'requestId'),
    failedAt: failureAttribute(message, 'failedAt'),
    receivedAt: attributeText(message, 'receivedAt'),
    sentAt: message.sentAt.toISOString(),
    keptUntil: new Date(message.sentAt.getTime() + retention * 1000).toISOString(),
    receives: message.receives,
  };
}

function describe(stack: Stage, { kind }: AnyQueue, message: ShownMessage): string[] {
  const { event = '', body, bodyBase64, unreadable } = message;
  const isUnrouted = kind === 'unrouted';
  const isCopied = message.copies > 1;
  const all: [string, string | false | undefined][] = [
    ['why', message.reason],
    ['event', isUnrouted && event],
    ['', isUnrouted && sourceQueueUrl(stack, event) && 'has a consumer now'],
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
