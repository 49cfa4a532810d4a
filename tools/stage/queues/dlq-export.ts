import { messages } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import type { WaitingQueue } from './queue.ts';
import { payloadFields, readPayload } from './received-message.ts';
import {
  eventsAndCopies,
  forEachSelected,
  gaps,
  type MessageFilter,
  nothingTo,
  type Selection,
  selectMessages,
} from './selected-messages.ts';

type WriteLine = (line: string) => Promise<void>;

/**
 * Writes messages of a queue as lines of JSON, each copy too, with the partner's data. Removes nothing.
 * @param write called with one line at a time
 * @returns whether every message was written with its payload
 */
export async function dlqExport(
  operation: Operation,
  queue: WaitingQueue,
  filter: MessageFilter,
  write: WriteLine,
): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const selection = await selectMessages(operation, queue, filter);
  if (selection.selected.length === 0 && !signal.aborted) {
    printLine((await nothingTo('export', stack, selection)).message);
    return true;
  }
  const { written, unseen } = await exportSelected(operation, selection, write);
  if (signal.aborted) {
    const count = messages(written.length);
    printLine(
      `Interrupted after ${count}: the export is incomplete. Nothing was removed from ${queue.title}.`,
    );
    return false;
  }
  printLine(`Exported ${eventsAndCopies(written)} from ${queue.title}. Nothing was removed.`);
  const unreadable = written.filter(({ isWhole }) => !isWhole).length;
  if (unreadable > 0) printLine(`${messages(unreadable)} without payload. The field "unreadable" says why.`);
  for (const line of gaps(selection, unseen)) printLine(line);
  if (selection.limited) printLine('There may be more.');
  return unreadable + unseen === 0 && !selection.limited;
}

/** Writes the messages of a selection. @returns `isWhole`: written with its payload */
export async function exportSelected(operation: Operation, selection: Selection, write: WriteLine) {
  const written: { readonly id: string; readonly key: string; readonly isWhole: boolean }[] = [];
  // One page at once, because each payload may have 6 MB.
  const options = { doing: 'Exporting', atOnce: 1 };
  const { unseen } = await forEachSelected(operation, selection, options, async (message, key) => {
    const payload = await readPayload(operation.stack, message);
    const { queue, id, sentAt, attributes } = message;
    const exported = { queue: queue.name, messageId: id, sentAt, attributes, ...payloadFields(payload) };
    await write(`${JSON.stringify(exported)}\n`);
    written.push({ id, key, isWhole: payload.bytes !== undefined });
    return 'stays';
  });
  return { written, unseen };
}
