import { messages } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { copyKey, eventsAndCopies } from './copies.ts';
import { type AnyQueue, emptiness, queueState } from './queue.ts';
import { attributesOf, forEachMessage, payloadFields } from './received-message.ts';

/**
 * Writes every message of a queue as a line of JSON, each copy too, with the partner's data. Removes nothing.
 * @param write called with one line at a time
 * @returns whether every message was written with its payload
 */
export async function dlqExport(
  operation: Operation,
  queue: AnyQueue,
  write: (line: string) => Promise<void>,
): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const state = await queueState(stack.sqs, queue.url);
  let unreadable = 0;
  const events = new Set<string>();
  const { seen, limited } = await forEachMessage(stack, queue.url, { signal }, async (message) => {
    events.add(copyKey(queue, message));
    const payload = await payloadFields(stack, queue, message);
    if (payload.unreadable !== undefined) unreadable += 1;
    const { id: messageId, sentAt } = message;
    const exported = { queue: queue.name, messageId, sentAt, attributes: attributesOf(message), ...payload };
    await write(`${JSON.stringify(exported)}\n`);
    return 'stays';
  });
  if (signal.aborted) {
    printLine(
      `Interrupted after ${messages(seen)}: the export is incomplete. Nothing was removed from ${queue.title}.`,
    );
    return false;
  }
  if (seen === 0) {
    printLine(`Nothing to export: ${emptiness(queue, state)}`);
    return true;
  }
  printLine(`Exported ${eventsAndCopies(events.size, seen)} from ${queue.title}. Nothing was removed.`);
  if (unreadable > 0) printLine(`${messages(unreadable)} without payload. The field "unreadable" says why.`);
  if (limited || seen < state.visible)
    printLine(`There may be more: SQS counted ${state.visible} at the start.`);
  return unreadable === 0;
}
